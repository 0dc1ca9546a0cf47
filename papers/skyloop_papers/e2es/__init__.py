"""localisation with two cameras and an IMU in a room and a corridor, sections 5.1 and 5.3 of e2es"""
