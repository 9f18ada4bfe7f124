"""Several chats at once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from scenegen.errors import BudgetSpent, VlmError
from scenegen.vlm.chat import BackEnd, Chat, Reply

Answer = Reply | VlmError | BudgetSpent
"""What became of a chat."""


def many(back_end: BackEnd, chats: Sequence[Chat], at_once: int) -> list[Answer]:
    """Ask several chats, a few at the same time.

    One that fails stops no other, and loses no reply. Once a budget is spent, those that have not begun find it spent
    too.

    Args:
        back_end: What answers; many threads use it.
        chats: What is asked.
        at_once: How many calls may be under way together.

    Returns:
        The reply to each chat, or why there is none, in the order of the chats.
    """
    with ThreadPoolExecutor(max_workers=max(at_once, 1), thread_name_prefix="vlm") as threads:
        asked = [threads.submit(back_end.reply, chat) for chat in chats]
        try:
            return [_answer(future) for future in asked]
        finally:
            for future in asked:
                future.cancel()


def _answer(future: Future[Reply]) -> Answer:
    try:
        return future.result()
    except (VlmError, BudgetSpent) as error:
        return error
