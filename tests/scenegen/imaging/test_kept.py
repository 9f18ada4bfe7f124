"""What was made is made once while it is among the latest used."""

from scenegen.imaging.kept import Kept


def test_the_latest_used_results_are_kept():
    made, kept = [], Kept(2)
    for key in ("a", "b", "a", "c", "a", "b"):
        assert kept.get(key, lambda key=key: made.append(key) or key.upper()) == key.upper()
    assert made == ["a", "b", "c", "b"]


def test_only_what_is_missing_is_made_and_all_of_it_at_once():
    asked, kept, keys = [], Kept(2), ["a", "b", "c"]

    def make(missing):
        asked.append(missing)
        return [keys[index].upper() for index in missing]

    kept.get("b", lambda: "B")
    assert kept.each(keys, make) == ["A", "B", "C"]
    assert kept.each(keys[1:], make) == ["B", "C"]
    assert kept.each([], make) == []
    assert asked == [[0, 2]]
