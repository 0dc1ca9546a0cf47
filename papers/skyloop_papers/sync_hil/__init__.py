"""software on the host, on a slow target, and there without synchronised time, synchronised-hil"""
