"""one hundred landings on a marker by camera, on four boards, Fig. 4 and Tables I to III of fpga-landing-hil"""
