# OpenUSD's own stubs give most functions the result None; this one says nothing rather than something wrong.
from typing import Any

def __getattr__(name: str) -> Any: ...
