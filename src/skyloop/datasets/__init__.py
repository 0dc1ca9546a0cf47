"""Makes datasets: record, export, check, report, replay."""
