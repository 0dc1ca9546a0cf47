"""The experiments of the papers: each scenario is flown and its results are compared with the published ones."""
