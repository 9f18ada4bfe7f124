"""The kernel that mends MuJoCo-Warp's contacts; see `contact_depths`."""

import mujoco_warp as mjw
import warp as wp

ALIGNED = 0.999
"""Least cosine between a contact's normal, of which rounding leaves some percent, and that of the face it lies on."""
_BOX, _MESH = int(mjw.GeomType.BOX), int(mjw.GeomType.MESH)

wp.set_module_options({"enable_backward": False})


@wp.struct
class _Face:
    """The face of a geom that looks most in some direction."""

    normal: wp.vec3
    """Outward normal, world axes."""
    point: wp.vec3
    """A point of it relative to the geom's origin [m], world axes."""
    cosine: float
    """Of the angle between normal and direction; below -1 where the geom has no faces."""


@wp.func
def _box_face(size: wp.vec3, local: wp.vec3) -> _Face:
    face = _Face()
    face.cosine = float(-2.0)
    for axis in range(3):
        if wp.abs(local[axis]) > face.cosine:
            face.cosine = wp.abs(local[axis])
            face.normal = wp.vec3(0.0, 0.0, 0.0)
            face.normal[axis] = wp.sign(local[axis])
            face.point = wp.cw_mul(face.normal, size)
    return face


@wp.func
def _mesh_face(
    first: int,
    count: int,
    first_vertex: int,
    normals: wp.array[wp.vec3],
    corner: wp.array[int],
    corners: wp.array[int],
    vertices: wp.array[wp.vec3],
    local: wp.vec3,
) -> _Face:
    face = _Face()
    face.cosine = float(-2.0)
    for polygon in range(first, first + count):
        cosine = wp.dot(normals[polygon], local)
        if cosine > face.cosine:
            face.cosine = cosine
            face.normal = normals[polygon]
            face.point = vertices[first_vertex + corners[corner[polygon]]]
    return face


@wp.kernel
def mend_contact(
    count: wp.array[int],
    room: int,
    kinds: wp.array[int],
    sizes: wp.array2d[wp.vec3],
    meshes: wp.array2d[int],
    places: wp.array2d[wp.vec3],
    turns: wp.array2d[wp.mat33],
    first_polygon: wp.array[int],
    polygons: wp.array[int],
    normals: wp.array[wp.vec3],
    corner: wp.array[int],
    corners: wp.array[int],
    first_vertex: wp.array[int],
    vertices: wp.array[wp.vec3],
    worlds: wp.array[int],
    geoms: wp.array[wp.vec2i],
    positions: wp.array[wp.vec3],
    distance: wp.array[float],
    frames: wp.array[wp.mat33],
):
    """Measure a contact below the faces that it lies on; threads: places for contacts."""
    contact = wp.tid()
    if contact >= wp.min(count[0], room):
        return
    world, pair, frame, depth = worlds[contact], geoms[contact], frames[contact], distance[contact]
    old = wp.vec3(frame[0, 0], frame[0, 1], frame[0, 2])
    normal, best, shallow = old, float(ALIGNED), float(-1.0e9)
    for side in range(2):
        geom = pair[side]
        # The normal points from the first geom to the second one.
        out = wp.where(side == 0, old, -old)
        turn = turns[world, geom]
        local = wp.transpose(turn) @ out
        face = _Face()
        face.cosine = float(-2.0)
        if kinds[geom] == _BOX:
            face = _box_face(sizes[0, geom], local)
        elif kinds[geom] == _MESH:
            mesh = meshes[0, geom]
            face = _mesh_face(
                first_polygon[mesh], polygons[mesh], first_vertex[mesh], normals, corner, corners, vertices, local
            )
        if face.cosine > ALIGNED:
            # The position is halfway between the point on the other geom and its image on this one.
            other = positions[contact] + out * (0.5 * depth) - places[world, geom]
            facing = turn @ face.normal
            shallow = wp.max(shallow, wp.dot(other - turn @ face.point, facing))
            if face.cosine > best:
                best = face.cosine
                normal = wp.where(side == 0, facing, -facing)
    if best <= ALIGNED:
        return
    # The deepest is right already; the others are above it.
    distance[contact] = wp.max(shallow, depth)
    tangent = wp.vec3(frame[1, 0], frame[1, 1], frame[1, 2])
    tangent = wp.normalize(tangent - normal * wp.dot(tangent, normal))
    third = wp.cross(normal, tangent)
    frames[contact] = wp.mat33(
        normal[0], normal[1], normal[2], tangent[0], tangent[1], tangent[2], third[0], third[1], third[2]
    )
