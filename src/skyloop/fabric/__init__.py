"""The logic of the landing detector in Amaranth, its simulation and its synthesis; see docs/explanations/landing-fabric.md.

`config` and `simulated` can be imported without Amaranth; the files with logic need the extra `fabric`.
"""
