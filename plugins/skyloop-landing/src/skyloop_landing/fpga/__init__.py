"""The landing detector's logic in Amaranth, its simulation, its synthesis; see docs/explanations/landing-fabric.md."""
