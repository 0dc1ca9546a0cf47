from handmade import made

__all__ = ["made"]
