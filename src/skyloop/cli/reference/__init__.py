"""What every option means: one source for `skyloop show sensor imu` and for the reference pages of the site."""
