"""What was asked before costs nothing."""

from __future__ import annotations

from scenegen.vlm.calls import CallLog
from scenegen.vlm.chat import BackEnd, Call, Chat, Reply
from scenegen.vlm.wrapped import Wrapped


class Cached(Wrapped):
    """Answers from a log what the same model was asked before, and logs what is new.

    Put it around budgets and breakers: what it knows needs neither.

    Args:
        back_end: What answers anything new.
        log: The calls so far.
    """

    def __init__(self, back_end: BackEnd, log: CallLog) -> None:
        super().__init__(back_end)
        self._log = log

    def reply(self, chat: Chat) -> Reply:
        """Answer.

        Raises:
            VlmError: As the back end says.
            BudgetSpent: As the back end says; what was replied is in the log.
            LibraryError: The log cannot be written.
        """
        known = self._log.find(self.model, chat.request)
        if known is None:
            reply = self._back_end.reply(chat)
            known = self._log.add(Call(model=self.model, request=chat.request, reply=reply))
        return known.reply
