"""autonomous flights through an unknown city on LiDAR, with and without GNSS, section V-E2 of the airloop paper"""
