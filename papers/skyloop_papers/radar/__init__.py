"""FMCW radar: Table 3, antennas, two walks, sections IV-D and V-D of the airloop paper"""
