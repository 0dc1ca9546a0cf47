"""flights to six goals between unknown obstacles on odometry, and their maps, sections 5.1 and 5.2 of e2es"""
