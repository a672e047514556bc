"""What to do about a finding: every kind has a sentence for every format and engine, and for a pair of files."""

from __future__ import annotations

import string
from itertools import product

import pytest

from tautology.harness.errors import Source
from tautology.harness.findings import KINDS
from tautology.harness.fixes import fix, table

ENGINES = ("mujoco", "pinocchio", "drake", "idyntree", "dart", "pybullet", "adam")
FORMATS = ("urdf", "mjcf")
KEYS = {"element", "any", "diff", *ENGINES, *FORMATS, *(f"{e}.{f}" for e in ENGINES for f in FORMATS)}
WORDS = {"where", "line", "engine", "expected", "found", "attribute", "list", "element"}


def sentence(kind: str, engine: str | None = "mujoco", form: str = "urdf", **fields: object) -> str:
    """Return the sentence for one finding on a hand."""
    usual = {"where": "hand", "expected": 0.7, "found": 0.8, "unit": "kg", "source": Source("robots/arm.urdf", 7)}
    return fix(kind, format=form, engine=engine, **(usual | fields))


def test_the_table_has_every_kind_and_no_other():
    """A new kind without a sentence fails here, and so does a sentence for a kind that is gone."""
    assert set(table()) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_keys_and_words_of_a_kind_are_known(kind):
    """Each kind has a sentence for any engine and, unless it is a lint, one for two files; every word is filled."""
    rules = table()[kind]
    assert set(rules) <= KEYS
    assert "any" in rules
    assert ("diff" in rules) is not kind.startswith("lint.")
    assert set(rules.get("element", {})) <= set(FORMATS)
    for key, text in rules.items():
        if key != "element":
            used = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
            assert used <= WORDS, key
            assert "element" not in used or "element" in rules
            assert "\n" not in text
            assert not text.endswith(".")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_sentence_for_every_format_and_engine(kind):
    """Whoever departs from whatever file, something can be said; also without place, line and values."""
    for engine, form in product([*ENGINES, "my_function", None], [*FORMATS, "tree", "mujoco"]):
        assert sentence(kind, engine, form)
        bare = sentence(kind, engine, form, where=None, expected=None, found=None, unit="", source=Source())
        assert "None" not in bare
        assert "{" not in sentence(kind, engine, form, expected=[0.1] * 6, found=[0.2] * 6)


def test_the_most_special_sentence_wins():
    """Engine and format together, then the engine, then the format, then any."""
    rules = table()["mass"]
    assert sentence("mass", "pinocchio", "mjcf") == rules["pinocchio.mjcf"].format(attribute="0.7", where="'hand'")
    assert sentence("mass", "mujoco", "mjcf").startswith("take settotalmass")
    assert "balanceinertia" in sentence("refused.nonphysical", "mujoco", "urdf")
    assert sentence("units.angle", "dart", "mjcf").startswith("write <compiler angle")
    assert sentence("mass", "dart").endswith("DART holds 0.8 kg")
    assert sentence("mass", "my_function").endswith("my_function holds 0.8 kg")
    # A live MuJoCo model is read by another engine: that one is meant.
    assert sentence("mass", "dart", "mujoco").endswith("DART holds 0.8 kg")


def test_two_files_are_told_apart_by_what_they_say():
    """Between files nobody is at fault: the sentence says which file says what, at which line, then what to do."""
    one, other = Source("a.urdf", 7), Source("b.xml", 12)
    text = sentence("mass", None, source=one, other=other)
    assert text.startswith("a.urdf:7 says 0.7 kg, b.xml:12 0.8 kg: weigh 'hand'")
    assert sentence("mass", None, source=one).startswith("a.urdf:7 says 0.7 kg, the other file 0.8 kg: ")
    long = sentence("inertia.value", None, expected=[1.0] * 6, found=[2.0] * 6, source=one, other=other)
    assert long.startswith("a.urdf:7 and b.xml:12 differ: ")
    half = sentence("inertia.value", None, found=[2.0] * 6, source=one, other=other)
    assert half.startswith("a.urdf:7 and b.xml:12 differ: ")
    turned = {"expected": [0.0, 0.0, 1.0], "found": [0.0, 0.0, -1.0], "unit": "1"}
    assert sentence("joint.axis_sign", None, source=one, **turned).startswith(
        "a.urdf:7 says 0 0 1, the other file 0 0 -1: write 0 0 1 for the axis of joint 'hand' in both"
    )


def test_a_value_is_written_as_it_goes_into_the_file():
    """Vectors stand in an attribute as XML writes them, and in a call as Python does."""
    gravity = {"expected": [0.0, 0.0, -1.62], "found": [0.0, 0.0, -9.81], "unit": "m/s^2"}
    assert "np.array([0, 0, -1.62])" in sentence("gravity.value", "pinocchio", "mjcf", **gravity)
    assert '<option gravity="0 0 -1.62"/>' in sentence("gravity.value", None, "mjcf", **gravity)
    assert "line 7 of arm.urdf" in sentence("joint.axis", "adam")


def test_an_unknown_kind_is_an_error():
    """No sentence is invented for a kind that does not exist."""
    with pytest.raises(KeyError, match=r"inertia\.colour"):
        sentence("inertia.colour")
