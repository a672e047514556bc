"""The report in Markdown: worst first, below its limit, and names of files are shown and never obeyed."""

from __future__ import annotations

import copy
import re
from dataclasses import replace

import pytest
import sample_results as sample
from golden_texts import FOLDER, texts
from lxml import html
from markdown_it import MarkdownIt
from sample_documents import DOCUMENTS, HOSTILE, hostile, pair, saved

from tautology.harness.errors import Source
from tautology.harness.findings import finding
from tautology.harness.saved import Saved
from tautology.reports.markdown import LIMIT, markdown
from tautology.reports.markup import BREAK, code, prose
from tautology.reports.text import sentence, shown

OURS = {"p", "ul", "li", "br", "code", "strong", "table", "thead", "tbody", "tr", "th", "td", "sub", "h3"}
OURS |= {"details", "summary", "div"}
# What GitHub turns into links and pictures after the Markdown: mentions, references, addresses, emoji.
LINKS = re.compile(r"@\w|#\w|\bgh-\d|://|\bwww\.\w|:[a-z]+:", re.IGNORECASE)


def rendered(text: str) -> html.HtmlElement:
    """Return Markdown as CommonMark with GitHub's tables and strikes makes HTML of it."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return html.fragment_fromstring(parser.render(text), create_parent="div")


def words(element: html.HtmlElement) -> str:
    """Return the text of an element outside code."""
    copied = html.fromstring(html.tostring(element))
    for part in copied.xpath("//code"):
        part.drop_tree()
    return copied.text_content()


@pytest.mark.parametrize("name", [name for name in texts() if name.endswith(".md")])
def test_the_report_is_the_text_that_was_read(name: str) -> None:
    """Of a robot on which all agree, of an importer's fault, of a refusal, of a pair; see `golden_texts`."""
    assert texts()[name] == (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_ending_has_a_report(name: str) -> None:
    """Below the limit, a verdict in its first line, and no element but those that it writes itself."""
    text = markdown(DOCUMENTS[name])
    assert len(text.encode()) < LIMIT
    assert re.match(r"\*\*[A-Z ]+\*\* \S", text)
    assert {element.tag for element in rendered(text).iter()} <= OURS


def test_the_worst_stands_first() -> None:
    """Files that cannot be used, crashes, differences, refusals; what agrees is folded away at the end."""
    models = (sample.agreeing(), sample.refused(), sample.differing(), sample.crashed(), sample.faulty())
    named = [replace(model, file=f"{n}.urdf") for n, model in enumerate(models)]
    text = markdown(saved(*named, unusable=True))
    order = ["cannot be used", "### `3.urdf`", "### `2.urdf`", "### `1.urdf`", "<summary>2 models agree", "- `0.urdf`"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "### `0.urdf`" not in text
    assert "in the file: lint.triangle x8, lint.axis x1" in text


def test_a_finding_says_where_what_and_how_to_mend_it() -> None:
    """Kind, place, file and line, expected, found, share, fix; the same of two paths once."""
    model = sample.differing()
    differing = next(r for r in model.engines if r.status == "differs")
    text = markdown(saved(replace(model, engines=(*model.engines, replace(differing, path="neutral")))))
    assert (
        text.count("**mass.default** at `tool_0`, `arm.urdf:41` (`mujoco`, both paths)\\\n  expected 0 kg, found") == 1
    )
    assert "found 6 kg; explains 98.7% of the difference\\\n  fix: give the link an &lt;inertial&gt;" in text
    assert "- and 3 more of **mass.default** at `tool_6`, `tool_7`, `tool_8`" in text


def test_a_known_difference_is_said_to_be_one() -> None:
    """By its reason, after what counts."""
    document = copy.deepcopy(DOCUMENTS["differing"].document)
    for row in document["models"][0]["engines"][3]["findings"][:2]:
        row["known"] = "waits for *them*"
    text = markdown(Saved(document, None))
    said = "**Known, and not counted**\n\n- waits for \\*them\\*: 2 **mass.default** at `tool_0`, `tool_1`\n"
    assert text.index("at `wrist`") < text.index(said)
    assert "- **mass.default** at `tool_2`" in text


def test_a_pair_has_both_lines() -> None:
    """What A says and what B says, each with its file and line."""
    text = markdown(DOCUMENTS["a pair"])
    assert "**mass** at fore: explains 98.7% of what differs\\\n  A says 6.78 kg (arm.urdf:10)" in text
    assert "B says 8.561 kg (arm.xml:20): 1.781 kg more" in text


def test_many_models_are_cut_with_a_count() -> None:
    """What is left out is counted, by models and findings; the sum is what there is."""
    models = [replace(sample.differing(), file=f"robots/{n}.urdf") for n in range(60)]
    text = markdown(saved(*models))
    assert LIMIT - 3000 < len(text.encode()) <= LIMIT
    left, found = map(int, re.search(r"\*\*(\d+) more models and (\d+) more findings\*\* are left out", text).groups())
    assert text.count("### `robots/") == 60 - left
    shown_findings = text.count("\n- **") + sum(map(int, re.findall(r"- and (\d+) more of", text)))
    assert found + shown_findings == 60 * 10
    assert "</details>" in text.rstrip().splitlines()[-1] or "<sub>" in text.rstrip().splitlines()[-1]


def test_hundreds_that_agree_are_a_list_that_is_cut_as_well() -> None:
    """A line each, as many as there is room for."""
    models = [replace(sample.agreeing(), file=f"robots/{'x' * 60}{n}.urdf") for n in range(200)]
    text = markdown(saved(*models, sample.refused()))
    assert len(text.encode()) <= LIMIT
    assert text.index("REFUSED") < text.index("200 models agree")
    more = int(re.search(r"- and (\d+) more", text)[1])
    assert text.count("\n- `robots/x") == 200 - more


def test_thousands_of_findings_of_one_robot_are_cut() -> None:
    """Kind by kind, the first few one by one, the others counted."""
    many = tuple(finding("mass", Source("a.urdf", n + 1), where=f"b{n}", expected=1.0, found=2.0) for n in range(5000))
    engine = sample.engine("mujoco", "native", "differs", findings=many)
    text = markdown(saved(sample.model(engine, file="a.urdf")))
    assert "4994 more of **mass** at `b6`" in text
    assert len(text) < 6000


def test_a_pair_with_thousands_of_differences_is_cut() -> None:
    """The count of what is left out stands at its end."""
    many = tuple(
        finding("com", Source("a.urdf", n + 1), where=f"b{n}", expected=[0.0, 0, n], found=[1.0, 0, n], fix="look")
        for n in range(2000)
    )
    text = markdown(Saved.of(pair(reasons=many, together={})))
    assert len(text.encode()) <= LIMIT
    assert re.search(r"\*\*\d+ more findings\*\* are left out here", text)


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_is_shown_and_not_obeyed(name: str) -> None:
    """It stands in code as it is; in sentences nothing of it is an element, a mention, a reference or a link."""
    text = markdown(saved(hostile(name)))
    page = rendered(text)
    assert {element.tag for element in page.iter()} <= OURS
    written = shown(name.encode("utf-8", "backslashreplace").decode())
    assert any(part.text_content() == written for part in page.iter("code"))
    assert not LINKS.search(words(page))
    assert not any(c in text for c in "\x00\x1b\x7f\u202e\ufffe")
    # Nothing has become a heading, a row or an item of its own.
    assert len({len(row) for table in page.iter("table") for row in table.iter("tr") if len(row) > 7}) == 1
    assert page.findall(".//h3") == []


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_in_a_pair_is_not_obeyed(name: str) -> None:
    """Findings of a pair go through the same doors."""
    reason = finding("mass", Source(name, 1), where=name, expected=1.0, found=2.0, unit="kg", fix=f"weigh {name}")
    matched = {"joints": ((name, "other"),), "bodies": ()}
    made = pair(reasons=(reason,), unmatched={"a": (name,), "b": (name,)}, matched=matched, doubtful=(name,))
    page = rendered(markdown(Saved.of(made)))
    assert {element.tag for element in page.iter()} <= OURS
    assert not LINKS.search(words(page))


def test_code_is_what_it_holds() -> None:
    """Backticks, blanks and bars at any place; without a letter there is still something to see."""
    for name in ("a", "`", "``a`", " a ", "a|b", "`|`", "\\|", "<b>", "a`|`<b>&"):
        page = rendered(f"| x |\n|---|\n| {code(name)} |")
        (cell,) = page.iter("td")
        assert cell.text_content() == name, name
    assert code("") == code("  ") == "(no name)"
    assert len(code("x" * 10_000)) < 120


def test_prose_keeps_plain_words_as_they_are() -> None:
    """Names with underscores, paths, numbers and quotes need no escape."""
    plain = "robots/my_arm.urdf:12: joint 'left_elbow_2' moves 3.5 rad, see section 4"
    assert prose(plain) == plain
    assert prose("_a_ __b__") == r"\_a\_ \_\_b\_\_"
    assert prose("arm.urdf:100: no") == f"arm.urdf:{BREAK}100: no"  # else GitHub draws a 100
    assert prose("@me") == f"@{BREAK}me"


@pytest.mark.parametrize("name", [*HOSTILE, "&lt;", "&#64;", "# a", "1. a", "\\"], ids=ascii)
def test_prose_shows_every_sign(name: str) -> None:
    """But for the blanks of no width, what is read on the page is what was said."""
    page = rendered(f"said: {prose(name)}")
    assert page.text_content().strip().replace("\u200b", "") == f"said: {sentence(name)}"


def test_its_limit_is_a_comment_on_github() -> None:
    """60 kB with what a service adds to it; GitHub takes 65,536 characters."""
    assert LIMIT <= 60_000
