import numpy as np

from scenegen.imaging.props import TABLE, Props
from scenegen.scenario import FixturePose, Layout


def test_everything_in_the_scene_has_its_place(cell, catalogue, base_scenario):
    placed = dict(Props(cell, catalogue).placed(base_scenario))
    layout = base_scenario.layout
    assert list(placed) == [TABLE, *(f.name for f in layout.fixtures), *(i.name for i in layout.items)]
    for item in layout.items:
        mesh = catalogue[item.part].mesh
        corners = placed[item.name].triangles.reshape(-1, 3)
        assert np.allclose(corners, item.pose_to_world.apply(mesh.vertices)[mesh.faces].reshape(-1, 3))
    assert placed[TABLE].triangles[..., 2].max() == 0


def test_a_moved_fixture_moves(cell, catalogue, base_scenario):
    layout = base_scenario.layout
    first = layout.fixtures[0]
    pose = first.pose_to_world.model_copy(update={"position_m": (0.1, 0.2, 0.3)})
    moved = Layout(
        fixtures=(FixturePose(name=first.name, pose_to_world=pose), *layout.fixtures[1:]), items=layout.items
    )
    props = Props(cell, catalogue)
    before, after = (
        dict(props.placed(s))[first.name].triangles for s in (base_scenario, base_scenario.varied(layout=moved))
    )
    assert np.allclose(after - before, pose.position - first.pose_to_world.position)
