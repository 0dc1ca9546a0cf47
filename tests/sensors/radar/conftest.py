from radar_stages import stages

__all__ = ["stages"]
