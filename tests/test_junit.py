"""The report as JUnit XML: a case per check, failures exactly when the exit code says so, the common schema."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import sample_results as sample
from golden_texts import FOLDER, texts
from lxml import etree
from sample_documents import DOCUMENTS, HOSTILE, hostile, pair, saved

from tautology.harness.findings import finding
from tautology.harness.results import IDENTITIES, QUANTITIES
from tautology.harness.saved import Saved
from tautology.reports.cases import LONG, MOST
from tautology.reports.junit import junit

# The rules of the common schema, JUnit as Jenkins' xunit plugin takes it (its junit-10.xsd), written down from its
# elements and attributes: the schema itself comes in no package.
RULES = """
<grammar xmlns="http://relaxng.org/ns/structure/1.0" datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
  <start><element name="testsuites">
    <optional><attribute name="name"/></optional>
    <optional><attribute name="time"><ref name="seconds"/></attribute></optional>
    <optional><attribute name="tests"><ref name="count"/></attribute></optional>
    <optional><attribute name="failures"><ref name="count"/></attribute></optional>
    <optional><attribute name="errors"><ref name="count"/></attribute></optional>
    <zeroOrMore><ref name="suite"/></zeroOrMore>
  </element></start>
  <define name="suite"><element name="testsuite">
    <attribute name="name"/>
    <attribute name="tests"><ref name="count"/></attribute>
    <attribute name="failures"><ref name="count"/></attribute>
    <attribute name="errors"><ref name="count"/></attribute>
    <optional><attribute name="skipped"><ref name="count"/></attribute></optional>
    <optional><attribute name="time"><ref name="seconds"/></attribute></optional>
    <optional><element name="properties">
      <zeroOrMore><element name="property"><attribute name="name"/><attribute name="value"/></element></zeroOrMore>
    </element></optional>
    <zeroOrMore><ref name="case"/></zeroOrMore>
    <optional><element name="system-out"><text/></element></optional>
  </element></define>
  <define name="case"><element name="testcase">
    <attribute name="name"/>
    <attribute name="classname"/>
    <optional><attribute name="time"><ref name="seconds"/></attribute></optional>
    <optional><choice>
      <element name="failure"><ref name="outcome"/></element>
      <element name="error"><ref name="outcome"/></element>
      <element name="skipped"><ref name="outcome"/></element>
    </choice></optional>
  </element></define>
  <define name="outcome"><attribute name="type"/><attribute name="message"/><text/></define>
  <define name="count"><data type="nonNegativeInteger"/></define>
  <define name="seconds"><data type="string"><param name="pattern">[0-9]*(\\.[0-9]{0,3})?</param></data></define>
</grammar>
"""
SCHEMA = etree.RelaxNG(etree.fromstring(RULES))


def parsed(made: Saved) -> etree._Element:
    """Return the report as a tree that keeps the rules."""
    root = etree.fromstring(junit(made).encode())
    SCHEMA.assertValid(root)
    return root


def case(root: etree._Element, group: str, name: str) -> etree._Element:
    """Return the one case of a class and name."""
    (found,) = (x for x in root.iter("testcase") if (x.get("classname"), x.get("name")) == (group, name))
    return found


@pytest.mark.parametrize("name", [name for name in texts() if name.endswith(".xml")])
def test_the_report_is_the_text_that_was_read(name: str) -> None:
    """Of a robot on which all agree, of an importer's fault, of a refusal, of a pair; see `golden_texts`."""
    assert texts()[name] == (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_ending_keeps_the_rules_and_the_exit_code(name: str) -> None:
    """Something failed exactly when the exit code is not 0; the counts are those of the cases, no case is twice."""
    root = parsed(DOCUMENTS[name])
    for place in (root, *root):
        assert int(place.get("tests")) == len(list(place.iter("testcase")))
        assert int(place.get("failures")) == len(list(place.iter("failure")))
        assert int(place.get("errors")) == len(list(place.iter("error")))
    for suite in root:
        assert int(suite.get("skipped")) == len(list(suite.iter("skipped")))
        names = [(x.get("classname"), x.get("name")) for x in suite.iter("testcase")]
        assert len(names) == len(set(names))
    bad = int(root.get("failures")) + int(root.get("errors"))
    assert (bad > 0) == (DOCUMENTS[name].document["exit"] > 0)


def test_there_is_a_case_for_every_check_of_every_engine_that_answered() -> None:
    """Whether it loads, whether it is the same robot, every quantity, every identity."""
    root = parsed(DOCUMENTS["differing"])
    names = [x.get("name") for x in root.iter("testcase") if x.get("classname") == "robots/arm.urdf.mujoco.native"]
    checks = [*(f"quantity {q}" for q in QUANTITIES), *(f"identity {i}" for i in IDENTITIES)]
    assert names == ["load", "same robot", *checks]


def test_a_failure_says_by_how_much_and_why() -> None:
    """Error, unit, place, state, what is allowed, and the first finding with its line; an identity has no unit."""
    root = parsed(DOCUMENTS["differing"])
    group = "robots/arm.urdf.mujoco.native"
    assert case(root, group, "quantity tau")[0].get("message") == (
        "3.13e-01 [N m | N] at wrist in state 17, allowed 2.10e-08; mass.default at tool_0, arm.urdf:41"
    )
    failed = case(root, group, "identity power_balance")[0].get("message")
    assert failed.startswith("1.00e-03 in state 5, allowed 2.20e-14; mass.default")
    assert case(root, group, "quantity acceleration")[0].get("message").startswith("no answer [rad/s^2 | m/s^2]")
    reasons = case(root, group, "same robot")[0]
    assert reasons.get("message").startswith("mass.default at tool_0, arm.urdf:41; expected 0 kg, found 6 kg; explains")
    assert reasons.get("message").endswith("and 9 more")
    assert len(reasons.text.splitlines()) == 10


def test_what_does_not_apply_is_skipped_with_its_reason() -> None:
    """Also an engine that cannot answer."""
    root = parsed(DOCUMENTS["differing"])
    skipped = case(root, "robots/arm.urdf.mujoco.native", "identity total_momentum")[0]
    assert (skipped.tag, skipped.get("message")) == ("skipped", "no root floats")
    skipped = case(root, "robots/arm.urdf.pinocchio.neutral", "load")[0]
    assert (skipped.tag, skipped.get("type")) == ("skipped", "unsupported")
    assert skipped.get("message").startswith("nv = 900 is above 500")


def test_a_crash_is_an_error_and_a_refusal_a_failure() -> None:
    """What an engine could not do is told apart from what it would not do."""
    crashed = case(parsed(DOCUMENTS["crashed"]), "robots/arm.urdf.pinocchio.native", "load")[0]
    assert (crashed.tag, crashed.get("type")) == ("error", "crashed")
    late = sample.model(sample.engine("mujoco", "native", "timeout", "no answer in 60 s"))
    assert case(parsed(saved(late)), "robots/arm.urdf.mujoco.native", "load")[0].tag == "error"
    refused = case(parsed(DOCUMENTS["refused"]), "robots/arm.urdf.mujoco.native", "load")[0]
    assert (refused.tag, refused.get("type")) == ("failure", "refused")
    assert refused.text.startswith("refused.nonphysical at hand, arm.urdf:77; ")


def test_a_file_that_cannot_be_used_is_an_error() -> None:
    """A suite of its own, with the reader's sentence."""
    found = case(parsed(DOCUMENTS["unusable"]), "robots/bad.urdf", "read")[0]
    assert found.tag == "error"
    assert found.get("message") == "robots/bad.urdf:3: joint 'a' has type 'screw'"


def test_faults_of_the_file_fail_nothing() -> None:
    """They change no verdict: they stand in the output of the suite."""
    root = parsed(DOCUMENTS["faulty"])
    assert root.get("failures") == "0"
    lines = root[0].find("system-out").text.splitlines()
    assert len(lines) == 1 + 9
    assert lines[1].startswith("lint.triangle at finger_0, arm.urdf:20; expected A + B >= C")


def test_a_known_difference_is_skipped_with_its_reason() -> None:
    """Checks that fail by it as well; what it is stands there still."""
    root = parsed(DOCUMENTS["known"])
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    for name in ("same robot", "quantity tau"):
        skipped = case(root, "robots/arm.urdf.mujoco.native", name)[0]
        assert (skipped.tag, skipped.get("type")) == ("skipped", "known")
        assert skipped.get("message").startswith("waits for the supplier (until 2027-06-30): ")
    assert len(case(root, "robots/arm.urdf.mujoco.native", "same robot")[0].text.splitlines()) == 10


def test_of_an_engine_that_is_not_excused_only_what_counts_is_told() -> None:
    """One finding is known, the others are not."""
    document = copy.deepcopy(DOCUMENTS["differing"].document)
    document["models"][0]["engines"][3]["findings"][0]["known"] = "it may stay"
    reasons = case(parsed(Saved(document, None)), "robots/arm.urdf.mujoco.native", "same robot")[0]
    assert reasons.get("message").startswith("mass.default at tool_1, ")
    assert len(reasons.text.splitlines()) == 9


def test_a_pair_has_both_lines_and_what_was_ignored_fails_nothing() -> None:
    """A says, B says; a quantity that differs by what was to be ignored is skipped."""
    reasons = case(parsed(DOCUMENTS["a pair"]), "arm.urdf against arm.xml", "same robot")[0]
    assert reasons.text.startswith("mass at fore; A says 6.78 kg (arm.urdf:10), B says 8.561 kg (arm.xml:20); fix:")
    skipped = case(parsed(DOCUMENTS["the same pair"]), "arm.urdf against arm.xml", "quantity tau")[0]
    assert (skipped.tag, skipped.get("type")) == ("skipped", "ignored")


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_is_text(name: str) -> None:
    """No element comes of it; what XML cannot hold is an escape that can be seen."""
    model = hostile(name)
    root = parsed(saved(model))
    assert {x.tag for x in root.iter()} <= {
        *("testsuites", "testsuite", "testcase", "properties", "property", "failure", "error", "skipped", "system-out"),
    }
    written = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    assert root[0].get("name") == written
    assert f"mass at {written}, " in junit_text(root)
    text = junit(saved(model))
    assert all(c == "\n" or c.isprintable() for c in text)
    reason = finding("mass", where=name, expected=name, found=2.0, fix=name)
    parsed(Saved.of(pair(reasons=(reason,), ignored=(name,), models=pair().models)))


def junit_text(root: etree._Element) -> str:
    """Return every attribute and text of a tree."""
    return "\n".join(part for x in root.iter() for part in (*x.attrib.values(), x.text or ""))


def test_long_messages_and_long_lists_are_cut() -> None:
    """A CI system shows a message on one line; the text below it says how many more there are."""
    many = tuple(finding("mass", where=f"b{n}", expected=1.0, found=2.0, fix="x" * 2000) for n in range(MOST + 7))
    engine = sample.engine("mujoco", "native", "differs", findings=many)
    found = case(parsed(saved(sample.model(engine))), "robots/arm.urdf.mujoco.native", "same robot")[0]
    assert len(found.get("message")) < LONG + 20
    assert found.text.splitlines()[-1] == "and 7 more"


def test_seconds_have_three_decimals() -> None:
    """As the schema wants them, also beyond a thousand."""
    slow = replace(sample.engine("mujoco", "native"), seconds={"load": 1234.5678, "compute": 0.0})
    root = parsed(saved(sample.model(slow)))
    assert case(root, "robots/arm.urdf.mujoco.native", "load").get("time") == "1234.568"
