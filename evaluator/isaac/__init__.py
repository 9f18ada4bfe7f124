"""Scenarios in Isaac Lab 3.0, kit-less, on Newton physics: the only place that imports isaaclab, newton, warp or torch."""
