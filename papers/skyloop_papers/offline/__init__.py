"""frames per second of a recording by radar, storage and quality, Table 5 of the airloop paper"""
