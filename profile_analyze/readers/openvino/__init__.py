"""The readers of OpenVINO: execution graphs (XML) and performance counters (CSV and JSON)."""
