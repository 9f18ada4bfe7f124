"""Prims in a scene that scenegen knows nothing of: harmless ones are overlooked, things in the cell are refused."""

from __future__ import annotations

from collections.abc import Iterable

from pxr import Usd, UsdGeom, UsdLux, UsdPhysics

from scenegen.usd.stage import PrimView

_KNOWN = ("PhysicsScene", "Cell", "Fixtures", "Items", "Lights", "Cameras", "Looks", "Motion", "Task", "ShadowCasters")
_CELL = ("table", "robot")


def refuse_strangers(world: PrimView, fixtures: Iterable[str]) -> None:
    """Refuse shapes, lights and bodies that stand where no scenario can describe them.

    Prims without any effect on the scene (scopes, render settings, a viewer's cameras beside `/World`) are overlooked.

    Raises:
        UnreadableStage: Names the first such prim.
    """
    refuse_added(PrimView(world.file, world.prim.GetStage().GetPseudoRoot()), [world.name])
    refuse_added(world, _KNOWN)
    refuse_added(world.child("Cell"), _CELL)
    refuse_added(world.child("Fixtures"), fixtures)
    refuse_added(world.child("Looks"), ())
    for group in ("Lights", "Cameras"):
        for view in world.child(group).children():
            refuse_added(view, ())


def refuse_added(view: PrimView, known: Iterable[str]) -> None:
    """Refuse shapes, lights and bodies among the children of a prim, but for the known ones.

    Raises:
        UnreadableStage: Names the first such prim.
    """
    accepted = frozenset(known)
    for prim in view.prim.GetChildren():
        if prim.GetName() in accepted:
            continue
        for inner in Usd.PrimRange(prim):
            if _counts(inner):
                raise PrimView(view.file, inner).fail(
                    f"a {inner.GetTypeName()} that belongs to no scenario - accepted: items in /World/Items, lights in"
                    " /World/Lights, cards in /World/ShadowCasters; deactivate or delete it"
                )


def _counts(prim: Usd.Prim) -> bool:
    """True if a prim would be seen, would shine or would be touched."""
    return bool(
        prim.IsA(UsdGeom.Gprim)
        or prim.IsA(UsdGeom.PointInstancer)
        or prim.HasAPI(UsdLux.LightAPI)
        or prim.HasAPI(UsdPhysics.RigidBodyAPI)
        or prim.HasAPI(UsdPhysics.CollisionAPI)
    )
