"""A small RTPS participant that answers ROS 2 services.

Cyclone's package cannot say to which question a reply belongs in the way of Fast DDS, ROS 2's default: in the inline
quality of service. So the topics of services have endpoints of our own; all other topics are Cyclone's."""
