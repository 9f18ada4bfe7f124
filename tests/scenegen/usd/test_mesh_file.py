"""Meshes of other tools' USD files: transforms, units, polygons and handedness are applied."""

import numpy as np
import pytest

from scenegen.errors import UnreadableStage, UnsafeStage
from scenegen.parts.mass import volume_and_center
from scenegen.usd.mesh_file import read_mesh

CUBE = """
    def Mesh "cube"
    {{
        {extra}
        point3f[] points = [(-1,-1,-1), (1,-1,-1), (1,1,-1), (-1,1,-1), (-1,-1,1), (1,-1,1), (1,1,1), (-1,1,1)]
        int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]
        int[] faceVertexIndices = [0,3,2,1, 4,5,6,7, 0,1,5,4, 1,2,6,5, 2,3,7,6, 3,0,4,7]
    }}
"""


def stage(tmp_path, body, *, unit="0.01"):
    path = tmp_path / "asset.usda"
    path.write_text(f'#usda 1.0\n(\n    defaultPrim = "root"\n    metersPerUnit = {unit}\n    upAxis = "Z"\n)\n'
                    f'def Xform "root"\n{{\n{body}\n}}\n')  # fmt: skip
    return path


def test_units_and_transforms_are_applied(tmp_path):
    moved = """
        double3 xformOp:translate = (10, 0, 0)
        double3 xformOp:scale = (1, 2, 3)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]"""
    vertices, faces = read_mesh(stage(tmp_path, CUBE.format(extra=moved)))
    assert faces.shape == (12, 3)
    np.testing.assert_allclose(np.ptp(vertices, axis=0), [0.02, 0.04, 0.06])
    volume, center = volume_and_center(vertices, faces)
    assert volume == pytest.approx(0.02 * 0.04 * 0.06)
    np.testing.assert_allclose(center, [0.1, 0, 0], atol=1e-12)


@pytest.mark.parametrize(
    "extra",
    [
        'uniform token orientation = "leftHanded"',
        'double3 xformOp:scale = (-1, 1, 1)\nuniform token[] xformOpOrder = ["xformOp:scale"]',
    ],
)
def test_left_handed_faces_are_turned_over(tmp_path, extra):
    vertices, faces = read_mesh(stage(tmp_path, CUBE.format(extra=extra)))
    signed, _ = volume_and_center(vertices, faces)
    plain = volume_and_center(*read_mesh(stage(tmp_path, CUBE.format(extra=""))))[0]
    assert abs(signed) == pytest.approx(plain)
    assert (signed < 0) == ("leftHanded" in extra)


def test_guides_and_invisible_meshes_are_left_out(tmp_path):
    body = CUBE.format(extra='uniform token purpose = "guide"').replace("cube", "guide")
    body += CUBE.format(extra='token visibility = "invisible"').replace("cube", "hidden")
    vertices, faces = read_mesh(stage(tmp_path, body))
    assert (len(vertices), len(faces)) == (0, 0)


def test_a_reference_out_of_the_folder_is_refused(tmp_path):
    body = '    def "other" (references = @../outside.usda@)\n    {\n    }'
    with pytest.raises(UnsafeStage):
        read_mesh(stage(tmp_path, body))


def test_a_file_that_is_no_usd_is_refused(tmp_path):
    path = tmp_path / "asset.usda"
    path.write_text("hello")
    with pytest.raises((UnreadableStage, UnsafeStage)):
        read_mesh(path)
