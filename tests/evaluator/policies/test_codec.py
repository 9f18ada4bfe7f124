"""Messages byte for byte as the protocols have them; whatever else arrives is refused and costs nothing."""

import contextlib
import io
import pickle
import tracemalloc

import msgpack
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluator.policies.codec import CONTAINERS, ArrayForm, WireError, pack, unpack

FLOATS = np.arange(3, dtype=np.float32)
GOLDEN = [
    ({"endpoint": "ping"}, ArrayForm.NPY, "81a8656e64706f696e74a470696e67"),
    (
        {"endpoint": "reset", "data": {"options": None}},
        ArrayForm.NPY,
        "82a8656e64706f696e74a57265736574a46461746181a76f7074696f6e73c0",
    ),
    (
        {"a": FLOATS, "s": np.float32(1.5)},
        ArrayForm.OPENPI,
        "82a16184c40b5f5f6e6461727261795f5fc3c40464617461c40c000000000000803f00000040c4056474797065a33c6634c405736861"
        "70659103a17383c40d5f5f6e7067656e657269635f5fc3c40464617461cb3ff8000000000000c4056474797065a33c6634",
    ),
    (
        {"a": FLOATS},
        ArrayForm.ND,
        "81a16185c4026e64c3c40474797065a33c6634c4046b696e64c400c40573686170659103c40464617461c40c000000000000803f00000040",
    ),
    (
        {"a": FLOATS},
        ArrayForm.NPY,
        "81a16182b15f5f6e6461727261795f636c6173735f5fc3a661735f6e7079c48c934e554d5059010076007b276465736372273a20273c6634"
        "272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028332c292c207d"
        + "20" * 60
        + "0a000000000000803f00000040",
    ),
]
"""Frames as openpi's client 0.1.2, msgpack-numpy 0.4.8 and GR00T's serializer write them."""


@pytest.mark.parametrize(("data", "form", "frame"), GOLDEN)
def test_frames_are_those_of_the_protocols_byte_for_byte(data, form, frame):
    assert pack(data, form).hex() == frame
    read = unpack(bytes.fromhex(frame))
    assert read.keys() == data.keys()
    for key, value in data.items():
        np.testing.assert_array_equal(read[key], value)


numbers = hnp.arrays(
    st.one_of(hnp.integer_dtypes(), hnp.unsigned_integer_dtypes(), hnp.floating_dtypes(), hnp.boolean_dtypes()),
    hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4),
)


@given(numbers, st.sampled_from(ArrayForm), st.booleans())
def test_arrays_come_back_bit_for_bit(array, form, transposed):
    array = array.T if transposed else array
    back = unpack(pack({"x": [array]}, form))["x"][0]
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()


texts = st.text(max_size=5)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)


@given(plain, st.sampled_from(ArrayForm))
def test_plain_data_come_back(data, form):
    assert unpack(pack(data, form)) == data


def read_or_refuse(message):
    """Nothing but a `WireError` may come out."""
    with contextlib.suppress(WireError):
        unpack(message)


@given(st.binary(max_size=200))
@example(b"")
@example(b"\xc1")
@example(b"\xd6\xff\x00\x00\x00\x00")
@example(b"\x91" * 5000)
def test_any_bytes_are_read_or_refused(message):
    read_or_refuse(message)


@given(st.sampled_from(GOLDEN), st.data())
def test_any_damage_to_a_frame_is_read_or_refused(golden, data):
    frame = bytearray.fromhex(golden[2])
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    read_or_refuse(bytes(frame))
    read_or_refuse(bytes(frame[: data.draw(st.integers(0, len(frame)))]))


markers = st.sampled_from(
    ["__ndarray__", "__npgeneric__", "__ndarray_class__", "nd", "data", "dtype", "shape", "type", "kind", "as_npy"]
)
words = st.sampled_from(
    ["f4", "<f4", "O", "V8", "f8,f8", "(9,)f8", "<U9", b"<f4", b"", b"\x93NUMPY\x01\x00", -1, 2**40]
)
envelopes = st.dictionaries(
    markers | markers.map(str.encode), words | plain | st.binary(max_size=9) | st.lists(words, max_size=4)
)


@given(envelopes)
def test_any_mapping_with_the_markers_of_arrays_is_read_or_refused(envelope):
    read_or_refuse(msgpack.packb(envelope))


def openpi(dtype, shape, data):
    return msgpack.packb({b"__ndarray__": True, b"data": data, b"dtype": dtype, b"shape": shape})


def npy(array=None, header=None):
    file = io.BytesIO()
    if header is None:
        np.save(file, array, allow_pickle=True)
    else:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    return msgpack.packb({"__ndarray_class__": True, "as_npy": file.getvalue()})


HEADER = b"{'descr': %s, 'fortran_order': False, 'shape': %s}"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (openpi("|O", [1], pickle.dumps(print)), "an array of dtype '|O'"),
        (openpi("<c8", [1], bytes(8)), "an array of dtype '<c8'"),
        (openpi("|V8", [1], bytes(8)), "an array of dtype '|V8'"),
        (openpi("<U4", [1], bytes(16)), "an array of dtype '<U4'"),
        (openpi("f8,f8", [1], bytes(16)), "an array of dtype 'f8,f8'"),
        (openpi("(9,)f8", [1], bytes(72)), "an array of dtype '(9,)f8'"),
        (openpi("<f1", [1], bytes(1)), "an array of dtype '<f1'"),
        (openpi("<f4", [10**12], b""), "an array of float32 and shape [1000000000000] in 0 bytes"),
        (openpi("<f4", [-1], bytes(4)), "an array of shape [-1]"),
        (openpi("<f4", [True], bytes(4)), "an array of shape [True]"),
        (openpi("<f4", [1] * 9, bytes(4)), "an array of shape [1, 1, 1, 1, 1, 1, 1, 1, 1]"),
        (openpi("<f4", None, bytes(4)), "an array of shape None"),
        (openpi("<f4", [1], "text"), "an array of float32 and shape [1] in str"),
        (msgpack.packb({b"__npgeneric__": True, b"data": "x", b"dtype": "<f4"}), "a number of type str"),
        (msgpack.packb({b"__npgeneric__": True, b"data": 300, b"dtype": "|u1"}), "a number that is no uint8"),
        (
            msgpack.packb({b"nd": True, b"type": "O", b"kind": b"O", b"shape": [1], b"data": b""}),
            "an array of kind b'O'",
        ),
        (npy(np.array([print], object)), "an array of dtype '|O'"),
        (
            npy(header=HEADER % (b"'<f4'", b"(1000000000000,)")),
            "an array of float32 and shape [1000000000000] in 0 bytes",
        ),
        (npy(header=HEADER % (b"[('a', '<f4')]", b"(1,)")), """an array of dtype "[('a', '<f4')]\""""),
        (npy(header=b"print('x')"), "an .npy file with a malformed header"),
        (npy(header=b"(" * 4000), "an .npy file with a malformed header"),
        (npy(header=b"{'descr': '<f4'}"), "an .npy file with a malformed header"),
        (npy(header=b" " * 5000), "an .npy file whose header is cut off or too long"),
        (msgpack.packb({"__ndarray_class__": True, "as_npy": b"PK\x03\x04"}), "an array that is no .npy file"),
        (msgpack.packb(msgpack.ExtType(5, b"x")), "extension type 5"),
        (msgpack.packb({1: 2}), "not msgpack (int is not allowed for map key when strict_map_key=True)"),
        (msgpack.packb([[]] * (CONTAINERS + 1)), f"more than {CONTAINERS} lists and mappings"),
        (b"\xde\xff\xff", "not msgpack (65535 exceeds max_map_len(4096))"),
        (b"\x82\xa1a", "not msgpack (Unpack failed: incomplete input)"),
        (b"\x01\x02", "not msgpack (unpack(b) received extra data.)"),
    ],
)
def test_what_is_refused_and_why(message, reason):
    with pytest.raises(WireError) as error:
        unpack(message)
    assert str(error.value) == reason


@pytest.mark.parametrize("value", [np.array(["x"]), np.array([None]), np.array([1j]), object(), {1, 2}])
@pytest.mark.parametrize("form", ArrayForm)
def test_only_numbers_are_written(value, form):
    with pytest.raises(WireError):
        pack({"x": value}, form)


def test_a_claim_takes_no_memory():
    claims = [
        openpi("<f8", [10**11], b""),
        npy(header=HEADER % (b"'<f8'", b"(10**11,)")),
        b"\xdd\xff\xff\xff\xff",
        b"\xc6\x7f\xff\xff\xff",
    ]
    tracemalloc.start()
    for claim in claims:
        read_or_refuse(claim)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
