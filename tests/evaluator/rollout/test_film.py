"""Videos of episodes: drawn from what was recorded, H.264, whole or not there."""

import dataclasses
import importlib.util

import numpy as np
import pytest
from PIL import ImageFont

from evaluator.rollout import film
from evaluator.rollout.film import CAPTION_PX, RATE_HZ, FilmMaker
from evaluator.rollout.films import Films
from scenegen.imaging.presentation import SIZE_PX

WIDTH, HEIGHT = SIZE_PX
SECONDS = 0.2


@pytest.fixture(scope="module")
def video():
    """The module that writes videos."""
    pytest.importorskip("av", reason="needs the extra isaac")
    return importlib.import_module("evaluator.rollout.video")


@pytest.fixture
def finished(play, scenes):
    """The beginning of an episode."""
    (one,) = play("random", scenes[:1]).values()
    return cut(one, SECONDS)


def cut(finished, seconds):
    recorded = finished.recorded
    kept = recorded.time_s <= seconds + 1e-9
    arrays = {name: values[kept] for name, values in recorded.arrays.items()}
    return dataclasses.replace(
        finished, recorded=dataclasses.replace(recorded, time_s=recorded.time_s[kept], arrays=arrays)
    )


def spoiled(finished, sample):
    arrays = dict(finished.recorded.arrays)
    arrays["item_pose"] = arrays["item_pose"].copy()
    arrays["item_pose"][sample:] = np.nan
    return dataclasses.replace(finished.recorded, arrays=arrays)


def decoded(path):
    av = pytest.importorskip("av", reason="needs the extra isaac")
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        facts = (stream.codec_context.name, stream.codec_context.pix_fmt, float(stream.average_rate))
        return facts, [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def test_pictures_come_back_from_h264(video, tmp_path):
    y, x = np.mgrid[:48, :64]
    frames = [np.stack([4 * x, 5 * y, 0 * x + 20 * k], axis=-1).astype(np.uint8) for k in range(5)]
    path = video.write_video(iter(frames), tmp_path / "a.mp4", rate_hz=12.5)
    facts, found = decoded(path)
    assert facts == ("h264", "yuv420p", 12.5)
    assert len(found) == len(frames)
    for ours, theirs in zip(found, frames, strict=True):
        assert np.abs(ours.astype(int) - theirs).mean() < 6


def test_a_video_appears_whole_or_not_at_all(video, tmp_path):
    def broken():
        yield np.zeros((16, 16, 3), np.uint8)
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        video.write_video(broken(), tmp_path / "a.mp4", rate_hz=10)
    with pytest.raises(ValueError, match="a video without pictures"):
        video.write_video(iter(()), tmp_path / "a.mp4", rate_hz=10)
    assert list(tmp_path.iterdir()) == []


def test_pictures_follow_the_episode_up_to_where_numbers_end(small, catalogue, finished):
    maker = FilmMaker(small, catalogue)
    frames = list(maker.frames(finished.scenario, finished.recorded))
    assert len(frames) == round(SECONDS * RATE_HZ) + 1
    assert all(frame.shape == (HEIGHT + CAPTION_PX, WIDTH, 3) for frame in frames)
    assert (frames[0][:HEIGHT] != frames[-1][:HEIGHT]).any()
    assert len(list(maker.frames(finished.scenario, spoiled(finished, 5)))) == 2


@pytest.mark.parametrize(("words", "lines"), [(3, 1), (20, 2), (300, 2)])
def test_a_caption_is_as_long_as_it_may_be(words, lines):
    font, width = ImageFont.load_default(14), 400
    text = " ".join(f"w{index}" for index in range(words))
    found = film._wrapped(text, font, width)
    assert len(found) == lines
    assert max(font.getlength(line) for line in found) <= width
    said = " ".join(found)
    assert text == said or (words == 300 and said.endswith(" …") and text.startswith(said.removesuffix(" …")))


def test_a_film_of_an_episode_shows_it(video, small, catalogue, finished, judged, tmp_path):
    """Nothing stands in: another process draws the episode and encodes it, and what it wrote is opened again."""
    maker = FilmMaker(small, catalogue)
    with Films(maker, tmp_path, 1) as films:
        films.add(finished, judged(finished))
    assert films.left_out == {}
    facts, found = decoded(films.written[0])
    assert facts == ("h264", "yuv420p", RATE_HZ)
    drawn = list(maker.frames(finished.scenario, finished.recorded))
    assert len(found) == len(drawn) == round(SECONDS * RATE_HZ) + 1
    for ours, theirs in zip(found, drawn, strict=True):
        assert ours.shape == theirs.shape
        assert np.abs(ours.astype(int) - theirs).mean() < 6
        assert ours[:HEIGHT].std() > 20, "table, bins and robot differ"
        assert ours[HEIGHT:].max() > 150, "the caption can be read"
