"""The report as a person reads it: at 80 columns, with and without colours, whatever the names in the file."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
import sample_results as samples
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tautology.adapters import CARDS
from tautology.harness.checks.tolerances import TABLE
from tautology.harness.errors import Source
from tautology.harness.findings import finding
from tautology.harness.tree import Loss
from tautology.reports.console import report, verdicts
from tautology.reports.engines import engine_list, tolerance_table
from tautology.reports.text import pair, sentence, shortened, shown, value

SAMPLES = ("agreeing", "faulty", "differing", "refused", "crashed", "silent", "motionless")
HOSTILE = ("[red]x", "[/]", "[bold", ":smile:", "\x1b[2J", "a\nb", "\u202egnp", "\udcff", "", "嘉", "e\u0301")


def console(*, colour: bool = False) -> Console:
    """Return a console of 80 columns that keeps what is printed."""
    system = "truecolor" if colour else None
    return Console(
        file=io.StringIO(),
        width=80,
        force_terminal=colour,
        color_system=system,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
    )


def printed(result, *, colour: bool = False, verbose: bool = False) -> str:
    """Return the report on a result, without the blanks at the ends of lines."""
    where = console(colour=colour)
    report(result, where, verbose=verbose)
    return "\n".join(line.rstrip() for line in where.file.getvalue().split("\n"))


def flowed(text: str) -> str:
    """Return a text without its line breaks, so that a sentence can be looked for."""
    return " ".join(text.split())


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("name", SAMPLES)
def test_no_line_is_wider_than_80_columns(name, verbose):
    """Every ending of a check is readable on the narrowest usual terminal."""
    text = printed(samples.result(getattr(samples, name)()), verbose=verbose)
    assert max(map(len, text.split("\n"))) <= 80


@pytest.mark.parametrize("name", SAMPLES)
def test_colours_add_nothing_that_is_read(name):
    """Without its colours the report is the same text: no verdict hangs on a colour."""
    result = samples.result(getattr(samples, name)())
    coloured = printed(result, colour=True)
    assert "\x1b[" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in plain.split("\n")] == printed(result).split("\n")


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("agreeing", "AGREE robots/arm.urdf: pinocchio and mujoco compute this robot as the reference does, on both"),
        ("differing", "DIFFERS robots/arm.urdf: mujoco (native path) reads another robot: mass.default at tool_0 ("),
        ("refused", "REFUSED robots/arm.urdf: mujoco (native path) refused the model: refused.nonphysical at hand"),
        ("crashed", "CRASHED robots/arm.urdf: pinocchio (native path) crashed: while loading: RuntimeError: bad_a"),
        ("silent", "NOT COMPARED robots/arm.urdf: pinocchio (both paths) and mujoco (both paths) cannot answer: t"),
        ("motionless", "AGREE robots/arm.urdf: pinocchio and mujoco compute this robot as the reference does, on t"),
    ],
)
def test_the_first_words_are_the_verdict(name, beginning):
    """The verdict names the worst first, with its reason and its place."""
    assert flowed(printed(samples.result(getattr(samples, name)()))).startswith(beginning)


def test_the_legend_says_what_a_table_leaves_open():
    """Paths, seventeen digits, the second number of identities, and which command explains the names."""
    text = flowed(printed(samples.result(samples.differing())))
    for words in ("native: the engine reads the file", "17: no error", "hold, of those that apply."):
        assert words in text
    assert text.endswith("What a name means, and what to do: tautology explain mass.default")
    convention = finding("wrench.frame", where="hand", expected="a", found="b", fix="")
    model = replace(samples.agreeing(), lint=(), engines=(samples.engine("mujoco", "native", findings=(convention,)),))
    assert flowed(printed(samples.result(model))).endswith("tautology explain wrench.frame")
    silent = replace(samples.silent(), lint=())
    assert "tautology explain" not in printed(samples.result(silent))


def test_every_engine_has_its_own_reason_in_a_verdict():
    """Where they differ, each is told with whose it is, and cut; the same words are told once."""
    silent = samples.silent()
    deep = "too deep for it" + " and deep" * 20
    engines = tuple(replace(r, message=deep) if r.engine == "mujoco" else r for r in silent.engines)
    text = flowed(printed(samples.result(replace(silent, engines=engines))))
    verdict = text[: text.index(" arm: URDF")]
    assert "pinocchio (both paths) cannot answer: too deep; mujoco (both paths) cannot answer: too deep for" in verdict
    assert deep not in verdict
    assert flowed(printed(samples.result(silent))).count("cannot answer: too deep") == 1


def test_the_worst_comes_first_in_a_verdict():
    """A crash stands before a difference, and both before those who agree."""
    text = flowed(printed(samples.result(samples.crashed())))
    verdict = text[: text.index(" arm: URDF")]
    assert verdict.index("crashed") < verdict.index("gives other numbers") < verdict.index("agree.")


REFUSED = """\
REFUSED  robots/arm.urdf: mujoco (native path) refused the model:
refused.nonphysical at hand (arm.urdf:77); pinocchio (both paths) and mujoco
(neutral path) agree.
  arm: URDF, fixed base, 8 bodies, 7 dofs, 18.3 kg (15.9 kg moving)
  64 frozen states, seed 0

engine    path    status   tau bias grav    M  acc pose  vel    E  COM  ident
reference neutral agree   15.2 15.4 15.5 16.0 13.9 15.9 15.7 16.1 17.0  15/15
pinocchio native  agree   15.2 15.4 15.5 16.0 13.9 15.9 15.7 16.1 17.0  15/15
pinocchio neutral agree   15.2 15.4 15.5 16.0 13.9 15.9 15.7 16.1 17.0  15/15
mujoco    native  refused    -    -    -    -    -    -    -    -    -      -
mujoco    neutral agree   15.2 15.4 15.5 16.0 13.9 15.9 15.7 16.1 17.0  15/15

mujoco 4.0.0, native path: refused
  would not load it:
    refused.nonphysical at hand, arm.urdf:77
      Error: inertia must satisfy A + B >= C; use 'balanceinertia' to fix
      Element name 'hand', id 3
      fix: give 'hand' a tensor that a body can have
"""


def test_a_refusal_is_told_with_place_words_and_fix():
    """The whole report on a refusal, word by word."""
    assert printed(samples.result(samples.refused())).startswith(REFUSED)


def test_what_fails_is_marked_in_the_table_and_told_with_its_place():
    """A failed cell has a mark that needs no colour; its error, state and dof stand below; passed rows do not."""
    text = printed(samples.result(samples.differing()))
    row = next(line for line in text.split("\n") if line.startswith("mujoco    native"))
    assert row.split("differs")[1] == "     !1.6 15.4 15.5 !2.1 !0.0 15.9 15.7 16.1 17.0!14/15"
    assert re.search(r"tau +3\.13e-01 +2\.10e-08 +17 wrist \[N m \| N\]", text)
    assert re.search(r"acceleration +no answer +2\.20e-14 +17 - \[rad/s\^2 \| m/s\^2\]; aba gave\n", text)
    assert re.search(r"identity power_balance +1\.00e-03", text)
    assert "identity columns" not in text


def test_findings_are_grouped_and_many_of_a_kind_are_named():
    """Model differences one by one, up to a handful of a kind, then by name; conventions as counts."""
    text = flowed(printed(samples.result(samples.differing())))
    assert "mass.default at tool_0, arm.urdf:41 expected 0 kg, found 6 kg; explains 98.7% of the difference" in text
    assert "mass.default also at tool_5, tool_6, tool_7 and tool_8 (one by one with --verbose)" in text
    assert text.count("fix: give the link an <inertial>") == 1
    assert "inertia.rotation at wrist, parts/wrist.urdf:7" in text
    assert "same robot, told otherwise: body.fused x2" in text


def test_faults_of_the_file_stand_beside_a_verdict_that_they_do_not_change():
    """Of each kind one fault with its values and its fix, and where the others are; after the engines."""
    text = printed(samples.result(samples.faulty()))
    assert text.startswith("AGREE")
    assert text.index("mujoco    neutral") < text.index("Wrong in the file itself, whatever engine reads it:")
    flat = flowed(text)
    assert (
        "lint.triangle x8 at finger_0, arm.urdf:20 expected A + B >= C, found [1e-06, 2e-06, 4e-06] kg m^2; as of a "
        "placeholder fix: compute <inertia> of 'finger_0' at line 20 of arm.urdf once more also at finger_1 (line 21), "
        "finger_2 (line 22), finger_3 (line 23), finger_4 (line 24), finger_5 (line 25), finger_6 (line 26) and 1 more "
        "(one by one with --verbose)"
    ) in flat
    assert "lint.axis at wrist, parts/wrist.urdf:7 expected 1, found 5 fix: normalise it" in flat
    everything = flowed(printed(samples.result(samples.faulty()), verbose=True))
    assert all(f"lint.triangle at finger_{n}, arm.urdf:{20 + n}" in everything for n in range(8))
    assert "Wrong in the file" not in printed(samples.result(samples.agreeing()))


def test_verbose_tells_every_row_and_every_finding():
    """Nothing that a run found is left to the JSON file alone."""
    text = flowed(printed(samples.result(samples.differing(), samples.agreeing()), verbose=True))
    assert all(f"mass.default at tool_{n}, arm.urdf:{41 + n}" in text for n in range(9))
    assert "body.fused at flange_1, arm.urdf:61" in text
    assert "identity total_momentum - - - does not apply: no root floats" in text
    assert "visual: not needed link_1 (line 14)" in text
    assert "64 frozen states, seed 0: 1 zero, 1 home, 62 random" in text


def test_losses_that_touch_the_dynamics_are_named_and_the_others_counted():
    """What the file says and no answer holds is never dropped in silence."""
    text = flowed(printed(samples.result(samples.agreeing())))
    assert "transmission x2: rotor inertia behind a gear stays out of M motor_a (line 90) and motor_b (line 97)" in text
    assert "2 other elements of the file: without effect on the smooth dynamics." in text
    assert "visual" not in text


def test_closures_and_the_reader_of_an_mjcf_are_said():
    """The checks run on the open tree, and the tree of an MJCF is MuJoCo's reading: both are said."""
    assert "2 mimic or equality relations left out (mimic finger_right and mimic finger_left)" in flowed(
        printed(samples.result(samples.agreeing()))
    )
    assert "MuJoCo's own reading" in printed(samples.result(samples.model(format="mjcf")))
    assert "MuJoCo's own reading" not in printed(samples.result(samples.model()))


def test_both_paths_of_an_engine_are_told_once_when_alike():
    """The same findings on both paths are one block; different ones are two."""
    fused = (finding("body.fused", where="flange"),)
    alike = samples.model(samples.engine("mujoco", "native", findings=fused), samples.engine("mujoco", "neutral"))
    text = printed(samples.result(alike))
    assert "mujoco 4.0.0, native path: agree" in text
    both = [samples.engine("mujoco", path, findings=fused) for path in samples.PATHS]
    text = printed(samples.result(samples.model(*both)))
    assert "mujoco 4.0.0, both paths: agree" in text


def test_two_engines_of_one_name_are_not_two_paths():
    """Two functions of the user, both on the neutral path, are told as such."""
    mine = [samples.engine("mine", "neutral", findings=(finding("joint.order", where=w),)) for w in "ab"]
    text = flowed(printed(samples.result(samples.model(*mine))))
    assert "mine computes this robot as the reference does, on the neutral path" in text
    assert "both paths" not in text


def test_several_files_begin_with_a_count_of_how_they_stand():
    """The first line of a long run says how many stand how, the worst first, and which they are."""
    result = samples.result(samples.agreeing(), samples.differing(), samples.motionless(), unusable=(samples.BAD,))
    text = flowed(printed(result))
    assert text.startswith(
        "UNUSABLE of 4 files, 1 cannot be used (robots/bad.urdf); 1 differs (robots/arm.urdf); 2 agree."
    )
    assert text.count("frozen states") == 3


def test_a_file_given_twice_is_told_twice():
    """Each asking has its answer."""
    text = flowed(printed(samples.result(samples.agreeing(), samples.agreeing())))
    assert text.startswith("AGREE of 2 files, 2 agree.")


def test_quiet_is_one_line_per_model_however_long():
    """A verdict that is read by grep is never broken."""
    where = console()
    verdicts(samples.result(samples.differing(), samples.agreeing()), where)
    lines = where.file.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["DIFFERS", "AGREE"]
    assert lines[0].endswith("agree.")


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_names_of_a_file_are_shown_and_never_obeyed(name):
    """Markup, escape sequences, line breaks and right-to-left marks in names are printed as text."""
    losses = (Loss(name, name, Source(name, 3), True, name),)
    reason = finding("mass", Source(name, 3), where=name, expected=name, found=name + "!", fix=name)
    row = {"passed": False, "where": name, "note": name}
    bad = samples.engine(
        "mujoco", "native", "differs", name, findings=(reason,), quantities=samples.quantities(tau=row)
    )
    fault = replace(finding("lint.axis", Source(name, 3), where=name, expected=name, found=1.0, fix=name), note=name)
    hostile = samples.model(
        bad, file=name, name=name, dofs=(name,), closures=(name,), losses=losses, lint=(fault, fault)
    )
    for verbose in (False, True):
        text = printed(samples.result(hostile), verbose=verbose)
        assert shown(name) in text
        assert all(character.isprintable() for character in text.replace("\n", ""))
        text.encode()


@given(st.text())
def test_shown_text_is_printable_and_keeps_what_is_printable(text):
    """Whatever a name holds, a terminal gets characters that it prints."""
    assert shown(text).isprintable()
    assert shown(text) == text or not text.isprintable()
    assert sentence(text).isprintable()
    assert len(shortened(text, 9)) <= 9


def test_long_names_are_cut_in_tables_and_whole_in_findings():
    """A name of 300 characters breaks no table and can be copied from the finding."""
    name = "link_" + "x" * 300
    long = samples.engine(name, "native", "differs", findings=(finding("mass", where=name, expected=1.0, found=2.0),))
    text = printed(samples.result(samples.model(long)))
    assert name in text.replace("\n", "").replace(" ", "")
    row = next(line for line in text.split("\n") if line.startswith("link_x…"))
    assert len(row) <= 80


def test_two_values_are_told_with_enough_digits_to_differ():
    """A difference in the tenth digit is seen, and round numbers stay short."""
    assert pair(1.0, 2.0) == ("1", "2")
    assert pair(0.1000000001, 0.1000000002) == ("0.1000000001", "0.1000000002")
    assert pair(0.1 + 0.2, 0.3) == ("0.30000000000000004", "0.29999999999999999")
    assert value([1.0, None, "w"]) == "[1, nothing, w]"
    assert value(float("inf")) == "inf"


def test_engines_are_listed_with_version_or_install_line():
    """Every card is told at 80 columns, with its conventions and its ledger."""
    where = console()
    engine_list([(card, None if card.name == "mujoco" else "1.2.3") for card in CARDS], where)
    text = where.file.getvalue()
    assert max(map(len, text.split("\n"))) <= 80
    assert "pinocchio 1.2.3" in text
    assert "mujoco: not installed; install it with: pip install 'mujoco>=4.0,<5'" in text
    for card in CARDS:
        for line in (card.licence, *card.limits, *card.conventions, *card.ledger):
            assert line in flowed(text)


def test_the_table_of_tolerances_is_printed_whole():
    """Each tolerance with its rule and its reason, at 80 columns."""
    where = console()
    tolerance_table(TABLE, where)
    text = where.file.getvalue()
    assert max(map(len, text.split("\n"))) <= 80
    for row in TABLE:
        for words in (row.name, row.rule, row.reason, *row.rows):
            assert words in flowed(text)


def test_verbose_tells_harmless_losses_and_terms_of_other_calls_under_headings_of_their_own():
    """What is told in full is told under the same words as in short."""
    text = printed(samples.result(samples.agreeing()), verbose=True)
    touching = text.index("Left out of every answer, though it touches the dynamics:")
    harmless = text.index("Left out of every answer, without effect on the smooth dynamics:")
    assert touching < text.index("transmission") < harmless < text.index("gazebo")
    damping = finding("damping", severity="convention", where="elbow", expected=0.0, found=0.5, unit="N m s/rad")
    order = finding("joint.order", where="elbow", expected=1, found=0)
    result = samples.result(samples.model(samples.engine("mujoco", "native", findings=(damping, order))))
    for verbose, end in ((False, " "), (True, "\n")):
        text = printed(result, verbose=verbose)
        told = text.index(f"  same robot, told otherwise:{end}")
        elsewhere = text.index(f"  in other calls of this engine, not in the compared ones:{end}")
        assert told < text.index("joint.order") < elsewhere < text.index("damping")


def test_what_is_the_same_in_both_is_told_once():
    """A convention that an engine shares has nothing to map; asked for in full, it says so."""
    shared = finding("base.quaternion_order", where="trunk", expected="w, x, y, z", found="w, x, y, z")
    result = samples.result(samples.model(samples.engine("mujoco", "native", findings=(shared,))))
    assert "base.quaternion_order at trunk the same in both: w, x, y, z" in flowed(printed(result, verbose=True))
    assert "w, x, y, z" not in printed(result)
