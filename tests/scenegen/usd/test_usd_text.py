"""Text against Sdf: parsing what `text` writes gives the layer that `sdf` authors."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pxr import Sdf

from scenegen.record import quantise
from scenegen.usd.prim import Attribute, LayerTree, Prim, Relationship, differing, over
from scenegen.usd.sdf import author, says_the_same
from scenegen.usd.text import layer_text, quoted

names = st.from_regex(r"\A[A-Za-z][A-Za-z0-9_]{0,8}\Z")
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
floats = st.floats(width=32, allow_nan=False, allow_infinity=False).map(quantise)
doubles = st.floats(allow_nan=False, allow_infinity=False)
ints = st.integers(-(2**31), 2**31 - 1)
paths = st.lists(names, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))


links = st.builds(
    Relationship,
    names.map(lambda name: f"rel:{name}"),
    st.lists(paths, min_size=1, max_size=2, unique=True).map(tuple),
)


def tuples(element: st.SearchStrategy, size: int) -> st.SearchStrategy:
    return st.tuples(*[element] * size)


VALUES = {
    "bool": st.booleans(),
    "int": ints,
    "float": floats,
    "double": doubles,
    "string": texts,
    "token": texts,
    "int2": tuples(ints, 2),
    "float2": tuples(floats, 2),
    "float3": tuples(floats, 3),
    "color3f": tuples(floats, 3),
    "vector3f": tuples(floats, 3),
    "double3": tuples(doubles, 3),
    "double4": tuples(doubles, 4),
    "quatf": tuples(floats, 4),
    "int[]": st.lists(ints, max_size=4).map(tuple),
    "float[]": st.lists(floats, max_size=4).map(tuple),
    "double[]": st.lists(doubles, max_size=4).map(tuple),
    "string[]": st.lists(texts, max_size=4).map(tuple),
    "token[]": st.lists(texts, max_size=4).map(tuple),
    "point3f[]": st.lists(tuples(floats, 3), max_size=3).map(tuple),
    "double3[]": st.lists(tuples(doubles, 3), max_size=3).map(tuple),
}


@st.composite
def attributes(draw):
    kind = draw(st.sampled_from(sorted(VALUES)))
    name = draw(st.sampled_from(["", "scenegen:", "inputs:"])) + draw(names)
    value = draw(st.none() | VALUES[kind])
    interpolation = draw(st.sampled_from(["", "", "faceVarying"]))
    return Attribute(name, kind, value, draw(st.booleans()), interpolation, draw(st.just("") | paths))


def prims(children: st.SearchStrategy) -> st.SearchStrategy:
    return st.builds(
        Prim,
        name=names,
        type=st.sampled_from(["", "Xform", "Scope"]),
        specifier=st.sampled_from(["def", "over"]),
        kind=st.sampled_from(["", "group"]),
        schemas=st.sampled_from([(), ("PhysicsRigidBodyAPI", "SemanticsLabelsAPI:class")]),
        references=st.lists(names.map(lambda name: f"../{name}.usda"), max_size=2, unique=True).map(tuple),
        active=st.booleans(),
        attributes=st.lists(attributes(), max_size=4, unique_by=lambda one: one.name).map(tuple),
        relationships=st.lists(
            st.builds(
                Relationship,
                names.map(lambda name: f"rel:{name}"),
                st.lists(paths, min_size=1, max_size=2, unique=True).map(tuple),
            ),
            max_size=2,
            unique_by=lambda one: one.name,
        ).map(tuple),
        children=children,
        child_order=st.lists(names, max_size=3, unique=True).map(tuple),
    )


def several(element: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(element, max_size=3, unique_by=lambda one: one.name).map(tuple)


trees = st.builds(
    LayerTree,
    default_prim=names,
    prims=several(prims(several(prims(several(prims(st.just(()))))))),
    sub_layers=st.lists(names.map(lambda name: f"../{name}.usda"), max_size=2, unique=True).map(tuple),
    facts=st.sampled_from([(), (("cellId", 'a"b\\c\n'), ("specVersion", 1))]),
)


@settings(max_examples=40, deadline=None)
@given(trees)
def test_parsed_text_is_what_sdf_authors(tree):
    parsed = Sdf.Layer.CreateAnonymous(".usda")
    assert parsed.ImportFromString(layer_text(tree))
    assert parsed.ExportToString() == author(tree).ExportToString()


@settings(max_examples=150, deadline=None)
@given(texts)
def test_any_string_comes_back(text):
    tree = LayerTree("A", (Prim("A", attributes=(Attribute("scenegen:text", "string", text),)),))
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(layer_text(tree))
    assert layer.GetAttributeAtPath("/A.scenegen:text").default == text


@settings(max_examples=150, deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_quantised_number_survives_usd(value):
    number = quantise(value)
    tree = LayerTree("A", (Prim("A", attributes=(Attribute("scenegen:x", "float", number),)),))
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(layer_text(tree))
    assert quantise(layer.GetAttributeAtPath("/A.scenegen:x").default) == number


def test_a_difference_is_seen():
    tree = LayerTree("A", (Prim("A", attributes=(Attribute("scenegen:x", "float", 0.1),)),))
    assert says_the_same(layer_text(tree), tree)
    assert not says_the_same(layer_text(tree).replace("0.1", "0.11"), tree)
    assert not says_the_same("#usda 1.0\n{", tree)


def test_arrays_of_numpy_are_written_like_tuples():
    rows = ((0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
    plain, array = (
        LayerTree("A", (Prim("A", attributes=(Attribute("points", "double3[]", value),)),))
        for value in (rows, np.array(rows))
    )
    assert layer_text(plain) == layer_text(array)


EVERYTHING = """#usda 1.0
(
    customLayerData = {
        dictionary scenegen = {
            string cellId = "abc"
        }
    }
    defaultPrim = "World"
    kilogramsPerUnit = 1
    metersPerUnit = 1
    subLayers = [
        @../cell.usda@
    ]
    upAxis = "Z"
)

def Xform "World" (
    kind = "assembly"
)
{
    reorder nameChildren = ["key", "nut"]
    def Xform "nut" (
        prepend references = @./nut.usdc@
    )
    {
        custom token scenegen:zone = "feed"
    }
    over "key"
    {
        float inputs:intensity = 0.1
    }
    over "gone" (
        active = false
    )
    {
    }
}
"""


def test_layer_of_everything():
    zone = Attribute("scenegen:zone", "token", "feed")
    children = (
        Prim("nut", "Xform", references=("./nut.usdc",), attributes=(zone,)),
        over("key", attributes=(Attribute("inputs:intensity", "float", 0.1),)),
        Prim("gone", specifier="over", active=False),
    )
    world = Prim("World", "Xform", kind="assembly", children=children, child_order=("key", "nut"))
    assert layer_text(LayerTree("World", (world,), ("../cell.usda",), (("cellId", "abc"),))) == EVERYTHING


@pytest.mark.parametrize("text", ["plain", 'a "quote"', "back\\slash", "line\nbreak", "tab\t", "bell\x07", "ünï"])
def test_quoted_is_like_json_but_for_control_characters(text):
    shown = quoted(text)
    assert "\n" not in shown
    if "\x07" not in text:
        assert json.loads(shown) == text


def test_differing_names_only_what_changed():
    a, b = Attribute("a", "float", 1.0), Attribute("b", "float", 2.0)
    assert differing((a, b), (a, b)) == ()
    assert differing((a, b._replace(value=3.0)), (a, b)) == (b._replace(value=3.0),)
    assert differing((a, b), (a,)) == (b,)
