"""A running simulation as a ROS 2 node, over DDS, without an installation of ROS."""
