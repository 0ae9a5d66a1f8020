"""The readers of OpenVINO: execution graphs (XML) and counters (CSV and JSON)."""
