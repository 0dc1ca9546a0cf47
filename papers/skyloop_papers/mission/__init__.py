"""a rectangle of four GPS waypoints as a MAVLink mission on the EKF, section V-E1 of the airloop paper"""
