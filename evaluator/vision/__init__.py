"""A camera policy's eyes: a small net that sees which parts lie where and how to take them, and its training."""
