"""Industrial part-sorting scenes with their long tail, made, checked and written as OpenUSD."""

__version__ = "0.1.0"

__all__ = ["__version__"]
