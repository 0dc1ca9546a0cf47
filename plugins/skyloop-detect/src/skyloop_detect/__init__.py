"""People and objects found in colour images: the network, its training, and the runtimes that it is deployed on."""
