"""Records as ROS 2 messages: what a bag, a ROS 2 node and Foxglove are given."""
