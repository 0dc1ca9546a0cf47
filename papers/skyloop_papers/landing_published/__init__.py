"""the published landing algorithm whole, beside ours on the same starts, Tables I to III of fpga-landing-hil"""
