"""The meaning of every option: the source of both `skyloop show sensor imu` and the reference pages of the site."""
