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
    stage = world.prim.GetStage()
    beside = [prim for prim in stage.GetPseudoRoot().GetChildren() if prim != world.prim]
    inside = [view.prim for view in world.children() if view.name not in _KNOWN]
    for group, known in (("Cell", _CELL), ("Fixtures", tuple(fixtures))):
        inside += [view.prim for view in world.child(group).children() if view.name not in known]
    for prim in (*beside, *inside):
        for inner in Usd.PrimRange(prim):
            if _counts(inner):
                view = PrimView(world.file, inner)
                raise view.fail(
                    f"a {inner.GetTypeName()} that belongs to no scenario - accepted: items in {world.path}/Items,"
                    f" lights in {world.path}/Lights, cards in {world.path}/ShadowCasters; deactivate or delete it"
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
