"""The dataset factory: record, export, check, report, replay."""
