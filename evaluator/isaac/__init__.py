"""Scenarios in Isaac Lab 3.0, kit-less, on Newton physics; nothing else imports isaaclab, newton, warp or torch."""
