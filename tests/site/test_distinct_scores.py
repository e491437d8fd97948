"""The figure of the page about limits."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from priority_site.distinct_scores import figure

DISTINCT = {1: 10, 2**20: 10, 2**21 - 1: 10, 2**21: 6, 2**22: 3, 2**31: 1}


@pytest.fixture(scope="module")
def drawn() -> ElementTree.Element:
    """The figure, which is well-formed XML too."""
    return ElementTree.fromstring(figure(DISTINCT, 10))


def test_it_is_an_image_with_a_title_and_a_description(drawn: ElementTree.Element) -> None:
    svg = drawn.find("svg")
    assert svg is not None
    assert svg.get("role") == "img"
    texts = {element.get("id"): element.text for element in svg if element.get("id")}
    assert [texts[name] for name in (svg.get("aria-labelledby") or "").split()] == [
        "Distinct scores of 10 jobs, by priority",
        "A line that stays at 10 scores up to priority 2097151, falls to 6 at 2097152, is halved at every doubling "
        "after that, and ends at 1 at 2147483648.",
    ]


def test_it_names_the_edge_and_the_end(drawn: ElementTree.Element) -> None:
    labels = [text.text for text in drawn.iter("text")]
    assert {"2097151: 10", "2097152: 6", "2³¹: 1", "priority", "distinct scores of 10 jobs"} <= set(labels)
    assert labels.count("2²¹") == 1


def test_everything_drawn_lies_inside(drawn: ElementTree.Element) -> None:
    for element in drawn.iter():
        for across, down in (("x", "y"), ("cx", "cy")):
            if across in element.attrib:
                assert 0 <= float(element.attrib[across]) <= 340
                assert 0 <= float(element.attrib[down]) <= 236


def test_its_line_falls_at_each_priority_where_scores_are_lost(drawn: ElementTree.Element) -> None:
    line = next(path.attrib["d"] for path in drawn.iter("path") if path.get("class") == "counter")
    heights = [float(height) for height in re.findall(r"[ V]([\d.]+)", line)]
    assert heights == sorted(heights)
    assert [heights.count(height) for height in sorted(set(heights))] == [3, 1, 1, 1]


def test_its_colours_are_the_pages(drawn: ElementTree.Element) -> None:
    colours = {element.get(name) for element in drawn.iter() for name in ("fill", "stroke") if element.get(name)}
    assert colours == {"currentColor", "none"}
    assert [element for element in drawn.iter() if element.get("style")] == []


@pytest.mark.parametrize("distinct", [{1: 10, 2: 10}, {2**21: 6, 2**22: 3}, {}])
def test_without_an_edge_there_is_no_figure(distinct: dict[int, int]) -> None:
    with pytest.raises(ValueError, match="add some of the other side"):
        figure(distinct, 10)
