"""Policies behind one protocol: scripted, your own Python, recorded, remote; their chunks, deadlines and latencies."""
