"""frames per second over the link, same and different machines, one and five ports, Table 6 of airloop"""
