"""Run OpenUSD's own validators over a stage."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import newton_usd_schemas  # noqa: F401  (registers its schemas; must come before any use of pxr)
from pxr import Tf, Usd, UsdValidation

from scenegen.usd.stage import quietly


class StageFinding(NamedTuple):
    """One thing that a validator says is wrong."""

    identifier: str
    """Plug-in, validator and error, for example `usdGeomValidators:StageMetadataChecker.MissingUpAxis`."""
    message: str
    prim: str
    """Path of the first prim or property concerned; `/` for the stage as a whole."""


def validate_stage(stage: Path | Usd.Stage) -> tuple[StageFinding, ...]:
    """Return what OpenUSD's validators find wrong with a stage: errors and warnings, in their order.

    Args:
        stage: A file, or a stage that is open already.
    """
    with quietly():
        if isinstance(stage, Path):
            try:
                stage = Usd.Stage.Open(str(stage))
            except Tf.ErrorException as error:
                return (StageFinding("pxr:Usd.Open", " ".join(str(error).split()), "/"),)
        errors = _context().Validate(stage)
    kinds = UsdValidation.ValidationErrorType
    return tuple(
        StageFinding(error.GetIdentifier(), " ".join(error.GetMessage().split()), _site(error))
        for error in errors
        if error.GetType() in (kinds.Error, kinds.Warn)
    )


@cache
def _context() -> UsdValidation.ValidationContext:
    """Load all validators, once a process."""
    return UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators())


def _site(error: UsdValidation.ValidationError) -> str:
    for site in error.GetSites():
        if site.IsProperty():
            return str(site.GetProperty().GetPath())
        if site.IsPrim():
            return str(site.GetPrim().GetPath())
    return "/"
