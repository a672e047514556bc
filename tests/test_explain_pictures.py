"""Pictures of a topic on its page: ticks, lines that are told apart, labels beside lines; seen in a browser, too."""

from __future__ import annotations

import math
import re

import pytest
from browser import launched

from tautology import models
from tautology.harness.explain.record import Chart, Drawing, Mark, Series
from tautology.harness.explain.topics import explain
from tautology.reports.page.drawn import picture
from tautology.reports.page.explained import explained_page

SIZES = (5, 10, 20, 50, 100, 200)


def labels(svg: str) -> list[str]:
    """Return all words of a picture."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_a_logarithmic_axis_ends_at_round_numbers_and_has_ticks_there():
    """From 5 to 200 along n, decades over many decades, none beyond the ends."""
    points = tuple((float(n), float(n) ** 3) for n in SIZES)
    words = labels(picture(Chart("t", "n", "y", (Series("a", points),), "xy")))
    assert words[:6] == ["5", "10", "20", "50", "100", "200"]
    assert words[6:-2] == ["100", "1000", "1e4", "1e5", "1e6", "1e7"]
    tiny = picture(Chart("t", "x", "y", (Series("a", ((1.0, 1e-12), (2.0, 1e-11))),), "y"))
    assert {"1e-12", "1e-11"} <= set(labels(tiny))
    one = picture(Chart("t", "x", "y", (Series("a", ((1.0, 1.0),)),), "xy"))
    assert "nan" not in one


def test_more_lines_than_colours_are_dashed():
    """Colour and dashes together are one line's alone, in the picture as in the legend."""
    lines = tuple(Series(f"s{k}", ((1.0, k + 1.0), (2.0, k + 2.0))) for k in range(10))
    svg = picture(Chart("t", "x", "y", lines))
    styles = re.findall(r'stroke="(var\(--line-\d\))" stroke-width="2"( stroke-dasharray="[^"]*")?', svg)
    legend, drawn = styles[:10], styles[10:]
    assert len(set(drawn)) == 10
    assert legend == drawn


def test_labels_stand_beside_lines():
    """Away from a link that leaves its point to the right, and not on one another."""
    marks = (
        Mark(((0.0, 0.0), (4.0, 0.1))),
        Mark(((0.0, 0.0), (1.0, 1.0)), "dashed", "one"),
        Mark(((0.0, 0.0), (1.0, 1.0)), "dashed", "two"),
    )
    svg = picture(Drawing("t", marks))
    places = {
        word: (float(x), float(y))
        for x, y, word in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>(\w+)</text>', svg)
    }
    assert set(places) == {"one", "two"}
    assert math.dist(places["one"], places["two"]) > 15


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_of_topics_are_readable_in_a_browser(width, scheme, tmp_path):
    """Nothing is wider than the screen, no word of a picture is cut off or on another, and nothing is complained of."""
    pages = {
        "recursion": "three_planar_links.urdf",
        "loops": "four_bar.xml",
        "energy": "two_rods.urdf",
        "torque": "tau_arm.urdf",
    }
    for topic, robot in pages.items():
        (tmp_path / f"{topic}.html").write_text(explained_page(explain(topic, models.path(robot))), encoding="utf-8")
    with launched() as browser:
        for topic in pages:
            context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page, faults = context.new_page(), []
            page.on("console", lambda message, faults=faults: faults.append(message.text))
            page.goto((tmp_path / f"{topic}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), topic
            assert page.evaluate(CUT) == [], topic
            assert page.evaluate(ON_ANOTHER) == [], topic
            assert faults == []
            context.close()


CUT = """[...document.querySelectorAll('svg text')].filter((word) => {
  const a = word.getBoundingClientRect(), b = word.ownerSVGElement.getBoundingClientRect();
  return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
}).map((word) => word.textContent)"""
ON_ANOTHER = """[...document.querySelectorAll('svg')].flatMap((svg) => {
  const words = [...svg.querySelectorAll('text')].map((word) => [word.textContent, word.getBoundingClientRect()]);
  return words.flatMap(([one, a], k) => words.slice(0, k).filter(([, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2
  ).map(([other]) => `${one} on ${other}`));
})"""
