"""The table of statements: nothing of the texts is missing in it, and everything that it names is there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import closed_forms as cf
import numpy as np
import pytest
from body_recursion import Recursion

import tautology
from tautology import models
from tautology.adapters.textbook import planar, planar_tree
from tautology.adapters.textbook.planar import PlanarChain
from tautology.harness.explain.topics import TOPICS

HERE = Path(__file__).parent
ROOT = Path(tautology.__file__).parent
PAGE = ROOT / "docs/seeds.md"
TEXTS = HERE.parents[1] / "shared" / "seeds"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="the package is installed without its docs")

CHAPTER, LESSON, LECTURE = (
    "Recursive Algorithms",
    "Newton-Euler lesson",
    "Recursive inverse dynamics and the mass matrix",
)
# Labels of the chapter.
EQUATIONS = [
    "acceleration_recursion",
    "adjoint_force",
    "adjoint_matrix",
    "adjoint_velocity",
    "joint_torque_extraction",
    "lagrange_matrix",
    "motion_cross",
    "planar_spatial_bias",
    "rnea_adjoint_conjugation",
    "rnea_contact_schur",
    "rnea_contact_solve",
    "rnea_cylinder_torques",
    "rnea_dexp",
    "rnea_dexp_trivialization",
    "rnea_distal_bias_values",
    "rnea_impact_impulse",
    "rnea_mass_columns",
    "rnea_mass_energy",
    "rnea_normal_complementarity",
    "rnea_planar_cartesian",
    "rnea_planar_parameters",
    "rnea_three_link_values",
    "rnea_two_rod_bias",
    "rnea_two_rod_mass",
    "spatial_inertia_parallel_axis",
    "spatial_inertia_simple",
    "spatial_newton_euler",
    "velocity_recursion",
    "wrench_recursion",
    "wrench_recursion_tree",
]
FIGURES = ["kinematic_tree", "recursive_torque"]
SECTIONS = [
    "adjoint",
    "adjoint_derivation",
    "bilateral_constraints",
    "branching_trees",
    "ch7_summary",
    "complexity",
    "contact_constraint_handling",
    "contact_forces",
    "example_3link",
    "forward_kinematics",
    "further_reading_ch7",
    "history_rnea",
    "python_rnea",
    "rnea",
    "rnea_lagrangian_equivalence",
    "spatial_acceleration",
    "spatial_inertia_intro",
    "tree_structure",
    "unilateral_constraints",
    "validation",
]
TIERS = 3
EXERCISES = [f"exercise {tier}.{k}" for tier in range(1, TIERS + 1) for k in range(1, 6)]
UNLABELLED = ["product of exponentials", "inverse dynamics with B", "`sec-validation`"]  # equations without a label
SUBJECTS = ["two forms", "outward", "inward", "two routes", "columns", "plane", "gravity trick", "parallel axis"]
SUBJECTS += ["sanity check", "six-vectors", "numerical check", "trees", "swing", "cost"]
PLACES = {
    CHAPTER: [
        *(f"`eq-{name}`" for name in EQUATIONS),
        *(f"`fig-{name}`" for name in FIGURES),
        *(f"`sec-{name}`" for name in SECTIONS),
        *UNLABELLED,
        *EXERCISES,
    ],
    LESSON: [*SUBJECTS, *(f"FIG {k}" for k in range(1, 7))],
    LECTURE: ["outcomes", "algorithm", "mass matrix", "column test", "Practice 4", "engines", "exercise"],
}
# Numbers with a decimal point that are no statements: of a DOI.
NO_STATEMENT = {"1.3149599", "10.1115"}
COMMANDS = re.compile(r"`((?:tautology|python) [^`]+)`")


def sections() -> dict[str, list[list[str]]]:
    """Return the rows of every text: cells place, statement, text, here, shown by."""
    found: dict[str, list[list[str]]] = {}
    rows: list[list[str]] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            rows = found.setdefault(line[3:], [])
        elif line.startswith("| ") and not line.startswith("| place |"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


ROWS = sections() if PAGE.is_file() else {}


def shown(cell: str) -> list[tuple[str, str]]:
    """Return (file, test or "") of a last cell: `test_file.py::test_name`, or `::test_name` of the file before it."""
    named: list[tuple[str, str]] = []
    file = ""
    for found in re.finditer(r"(test_\w+\.py)?(?:::(test_\w+))?", COMMANDS.sub("", cell)):
        if found[0]:
            file = found[1] or file
            named.append((file, found[2] or ""))
    return named


def every_row() -> list[list[str]]:
    """Return the rows of all sections."""
    return [row for rows in ROWS.values() for row in rows]


def test_rows_have_five_cells_and_say_who_shows_them() -> None:
    """Place, statement, value in the text, value here, and a test, a page or a command."""
    assert len(every_row()) > 150
    for row in every_row():
        assert len(row) == 5, row
        assert all(row), row
        assert shown(row[4]) or COMMANDS.search(row[4]) or "docs/lessons/" in row[4], row


@pytest.mark.parametrize("text", PLACES)
def test_every_equation_figure_and_exercise_has_a_row(text: str) -> None:
    """And every section and subject: by its label, its number, or its heading."""
    places = {row[0] for row in ROWS[text]}
    assert [place for place in PLACES[text] if place not in places] == []


def test_every_label_is_one_of_the_chapter() -> None:
    """And no label is made up."""
    page = PAGE.read_text(encoding="utf-8")
    page = page[page.index(f"## {CHAPTER}") : page.index(f"## {LESSON}")]
    assert set(re.findall(r"`sec-(\w+)`", page)) == set(SECTIONS)
    assert set(re.findall(r"`eq-(\w+)`", page)) == set(EQUATIONS)
    assert set(re.findall(r"`fig-(\w+)`", page)) == set(FIGURES)


def test_one_statement_is_wrong_and_both_values_stand_there() -> None:
    """Said so in its row, with a test that finds the one and not the other."""
    (row,) = [row for row in every_row() if row[1].startswith("WRONG in the text")]
    assert row[0] in PAGE.read_text(encoding="utf-8").split("## ")[0]
    assert "0.125" in row[2]
    assert "0 for link 1" in row[3]
    assert shown(row[4])


def test_every_test_that_is_named_is_collected() -> None:
    """By pytest itself, so that a name in a comment or a deleted test does not do."""
    named = {pair for row in every_row() for pair in shown(row[4])}
    files = sorted({file for file, _ in named})
    assert [file for file in files if not (HERE / file).is_file()] == []
    asked = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    ran = subprocess.run(asked, cwd=HERE, capture_output=True, text=True, check=False, timeout=280)
    assert ran.returncode == 0, ran.stdout[-2000:]
    ids = set(re.findall(r"^(?:.*/)?(test_\w+\.py)::(test_\w+)", ran.stdout, re.MULTILINE))
    collected = ids | {(file, "") for file, _ in ids}
    # A module that an absent engine skips as a whole has no test to collect.
    skipped = {file for file in files if (file, "") not in collected and "importorskip" in (HERE / file).read_text()}
    assert sorted(pair for pair in named - collected if pair[0] not in skipped) == []


def test_every_file_page_and_exercise_that_is_named_exists() -> None:
    """Lessons, figures, models and scripts; the exercise of a page has its number in it."""
    missing: list[str] = []
    for row in every_row():
        text = " | ".join(row)
        missing.extend(
            name
            for name in re.findall(r"\b(?:docs|models|benchmarks|tests)/[\w./-]+\.\w+", text)
            if not (ROOT / name).is_file()
        )
        for page, exercise in re.findall(r"(docs/lessons/[\w.-]+\.md), exercise (\d+\.\d)", text):
            if f"**{exercise}**" not in (ROOT / page).read_text(encoding="utf-8"):
                missing.append(f"{page}, exercise {exercise}")
    assert missing == []


def test_every_command_that_is_named_is_one() -> None:
    """A topic of `explain` and a bundled model, or a script."""
    commands = {tuple(shlex.split(found)) for row in every_row() for found in COMMANDS.findall(row[4])}
    bundled = {f"models/{path.name}" for path in Path(str(models.path("tau_arm.urdf"))).parent.iterdir()}
    for command in commands:
        if command[0] == "python":
            assert (ROOT / command[1]).is_file(), command
        else:
            assert command[:2] == ("tautology", "explain"), command
            assert command[2] in TOPICS, command
            assert set(command[3:]) <= bundled, command
    assert {command[2] for command in commands if command[0] == "tautology"} == set(TOPICS)


# --- Digits -----------------------------------------------------------------------------------------------------------
def computed() -> dict[tuple[str, str], np.ndarray]:
    """Return what comes out here, by place and by how the statement begins, in longdouble where that is to be had."""
    links, rods = PlanarChain(*cf.THREE_LINKS), planar.uniform_rods(np.ones(2), np.ones(2))
    cylinders = PlanarChain(*cf.CYLINDERS)
    q, v, a = (np.array(x, np.longdouble) for x in (cf.THREE_LINKS_Q, cf.THREE_LINKS_QD, cf.THREE_LINKS_QDD))
    rest, weightless = 0 * q, replace(links, gravity=np.zeros(2))
    straight = cf.TWO_RODS_Q, cf.TWO_RODS_QD, cf.TWO_RODS_QDD
    gravity, inertial = planar.inverse_dynamics(links, q, rest, rest), planar.inverse_dynamics(weightless, q, rest, a)
    velocity, motion = planar.inverse_dynamics(weightless, q, v, rest), planar.outward(links, q, v, a)
    own = Recursion(planar_tree.embedded(links), *(np.array(x, float) for x in (q, v, a)))
    level = planar.inverse_dynamics(rods, straight[0], np.zeros(2), np.zeros(2))
    whole = planar.inverse_dynamics(rods, *straight)
    three = "eq-rnea_three_link_values"
    return {
        (three, "G"): gravity,
        (three, "C v"): velocity,
        (three, "M a"): inertial,
        (three, "tau"): planar.inverse_dynamics(links, q, v, a),
        ("fig-recursive_torque", "Figure 2"): np.array([gravity[0], inertial[0], velocity[0]]),
        ("eq-rnea_distal_bias_values", "v_2"): own.V[2][3:],
        ("eq-rnea_distal_bias_values", "c_2"): np.concatenate([own.c[2][3:], own.c[3][3:]]),
        ("eq-rnea_cylinder_torques", "tau"): planar.inverse_dynamics(cylinders, q, v, a),
        ("sec-validation", "q = 0"): np.concatenate([level, whole - level, whole]),
        ("sec-example_3link", "cumulative"): np.concatenate([motion.omega, motion.alpha]),
    }


def test_digits_of_the_table_are_those_of_the_text_and_those_that_come_out() -> None:
    """Rounded to as many places as each number has: printed in the text, and given as the value here."""
    for (place, start), values in computed().items():
        (row,) = [r for r in ROWS[CHAPTER] if r[0].strip("`") == place and r[1].startswith(start)]
        for cell in row[2:4]:
            written = re.findall(r"-?\d+(?:\.\d+)?", cell.split(";")[0])
            if cell == "the same":
                continue
            assert len(written) == len(values), row
            for text, value in zip(written, values, strict=True):
                places = len(text.partition(".")[2])
                assert float(text) == round(float(value), places), (row, text, value)


# --- Against the texts themselves -------------------------------------------------------------------------------------
def seed(number: str) -> str:
    """Return one of the texts."""
    files = sorted(TEXTS.glob(f"{number}_*.txt"))
    if not files:
        pytest.skip("the texts do not lie beside this checkout")
    return files[0].read_text(encoding="utf-8")


def test_the_lists_above_are_those_of_the_chapter() -> None:
    """Labels of equations, figures and sections, and the exercises of each tier."""
    text = seed("000")
    for kind, names in (("eq", EQUATIONS), ("fig", FIGURES), ("sec", SECTIONS)):
        assert set(re.findall(rf"\{{#{kind}-(\w+)\}}", text)) == set(names)
    # The source of the chapter stands behind its readable form.
    equations = re.findall(r"(\{#eq-\w+\})?\s*\$\$.*?\$\$", text, re.DOTALL)
    assert equations.count("") == len(UNLABELLED)
    tiers = re.split(r"### Tier \d", text)[1:]
    assert [len(re.findall(r"(?:^|\s)1\. \*\*", tier)) for tier in tiers] == [5] * TIERS


@pytest.mark.parametrize(("number", "text"), [("000", CHAPTER), ("001", LESSON), ("004", LECTURE)])
def test_every_number_with_a_decimal_point_stands_in_the_table_of_its_text(number: str, text: str) -> None:
    """As it is printed; numbers of lessons and of a DOI aside."""
    words = re.sub(r"[\d.]+ 节|Lessons? [\d.]+(?: and [\d.]+)?", "", seed(number))
    words = re.sub(r"Lesson [\d.]+'s|5\.10", "", words)
    printed = set(re.findall(r"\d+\.\d+", words)) - NO_STATEMENT
    cells = {x for row in ROWS[text] for cell in row[1:4] for x in re.findall(r"\d+\.\d+", cell)}
    assert sorted(printed - cells) == []


def test_figures_of_the_lesson_are_no_more_than_six() -> None:
    """Those that the text names are among the six."""
    assert set(re.findall(r"FIG (\d)", seed("001"))) <= set("123456")
