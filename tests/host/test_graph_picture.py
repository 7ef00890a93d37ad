# SPDX-License-Identifier: Apache-2.0
"""The picture of a graph: its boxes, its lines and what it says."""

from __future__ import annotations

import itertools
import random
import re
from xml.etree import ElementTree

import pytest
from onnx_light_ort_host.graph_layout import layers_of, layout
from onnx_light_ort_host.graph_picture import draw, runner
from onnx_light_ort_host.records import NodeArg, NodeAssignment, Partition

SVG = "{http://www.w3.org/2000/svg}"
CPU = "CPUExecutionProvider"


def row(index, op, inputs, outputs, **fields):
    values = {
        "name": f"node{index}",
        "domain": "",
        "provider": CPU,
        "kernel": f"native {op}",
        "partition": -1,
        "reason": "the only kernel",
        "library": "",
        "graph": "",
    } | fields
    order = {"index": index, "op_type": op, "inputs": inputs, "outputs": outputs} | values
    return NodeAssignment(*(order[name] for name in NodeAssignment.__slots__))


def arg(name):
    return NodeArg(name, "tensor(float)", None)


def random_graph(seed, count):
    """Return sizes and edges of a graph with short, long and parallel connections."""
    generator = random.Random(seed)
    sizes = [(generator.choice([20, 100, 176, 400]), generator.choice([26, 58, 300])) for _ in range(count)]
    edges = {}
    for b in range(1, count):
        for _ in range(generator.choice([0, 1, 1, 2, 3])):
            edges[generator.choice([b - 1, generator.randrange(b)]), b] = None
    return sizes, list(edges)


@pytest.mark.parametrize("seed", range(8))
def test_boxes_do_not_overlap_and_lines_go_down_between_them(seed):
    sizes, edges = random_graph(seed, 60)
    placed = layout(sizes, edges)
    boxes = [(x, y, x + w, y + h) for x, y, (w, h) in zip(placed.x, placed.y, sizes, strict=True)]
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left >= -1e-6
        assert top >= 0
        assert right <= placed.width + 1e-6
        assert bottom <= placed.height + 1e-6
        for other in boxes[:i]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    for a, b in edges:
        assert boxes[a][3] < boxes[b][1]
    for points in placed.lines:
        for (x, y), (to_x, to_y) in itertools.pairwise(points):
            assert to_y >= y
            for left, top, right, bottom in boxes:
                if to_x == x:  # a straight part may pass a layer, beside its boxes
                    assert not (left < x < right and max(y, top) < min(to_y, bottom))
                else:  # a curve stays between two layers
                    assert bottom <= y or to_y <= top


def followed(placed, sizes):
    """Return from which box to which the lines lead."""
    starts, ends = {}, {}
    for i, (width, height) in enumerate(sizes):
        center = placed.x[i] + width / 2
        starts[round(center, 3), placed.y[i] + height] = i
        ends[round(center, 3), placed.y[i]] = i
    onward = {}
    for points in placed.lines:
        start, end = points[0], points[-1]
        onward.setdefault((round(start[0], 3), start[1]), []).append((round(end[0], 3), end[1]))
    found = set()
    for start, a in starts.items():
        todo = list(onward.get(start, ()))
        while todo:
            point = todo.pop()
            if point in ends:
                found.add((a, ends[point]))
            else:
                todo += onward[point]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_every_edge_can_be_followed(seed):
    sizes, edges = random_graph(seed, 40)
    assert followed(layout(sizes, edges), sizes) == set(edges)


def random_links(count):
    """Return edges to boxes a few before and, seldom, many before."""
    generator = random.Random(3)
    return list(
        dict.fromkeys(
            (max(0, b - generator.randint(1, generator.choice([6, 6, 30]))), b)
            for b in range(1, count)
            for _ in range(generator.choice([1, 1, 2]))
        )
    )


LARGE = {
    "chain": [(i, i + 1) for i in range(499)],
    "wide": [edge for i in range(1, 499) for edge in ((0, i), (i, 499))],
    "random": random_links(500),
    "wide, then a chain": [edge for i in range(1, 300) for edge in ((0, i), (i, 300))]
    + [(i, i + 1) for i in range(300, 499)],
    "chain with shortcuts": [edge for i in range(499) for edge in ((i, i + 1), (max(0, i - 40), i + 1))],
    "no edges": [],
    "many inputs": [(i, 499) for i in range(499)],
    "many outputs": [(0, i) for i in range(1, 500)],
    "pairs": [(i, i + 250) for i in range(250)],
    "pairs of one value": [edge for i in range(1, 250) for edge in ((0, i), (i, i + 249), (0, i + 249))],
    "weights": [edge for i in range(2, 500, 2) for edge in ((i - 2, i), (i - 1, i))],
    "anywhere": [(random.Random(b).randrange(b), b) for b in range(1, 500)],
}


@pytest.mark.parametrize("kind", LARGE)
def test_large_graphs_are_as_wide_as_a_screen(kind):
    edges = LARGE[kind]
    sizes = [(176.0, 58.0)] * 500
    placed = layout(sizes, edges)
    assert placed.width <= 1800 + 1e-6
    assert placed.height < 60000
    boxes = [(x, y, x + 176, y + 58) for x, y in zip(placed.x, placed.y, strict=True)]
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left >= -1e-6
        assert top >= 0
        assert right <= placed.width + 1e-6
        assert bottom <= placed.height + 1e-6
        assert all(
            right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top for other in boxes[:i]
        )
    for points in placed.lines:
        for (x, y), (to_x, to_y) in itertools.pairwise(points):
            assert 0 <= min(x, to_x) <= max(x, to_x) <= placed.width
            assert 0 <= min(y, to_y) <= max(y, to_y) <= placed.height
            for left, top, right, bottom in boxes:
                is_beside = max(x, to_x) <= left or right <= min(x, to_x)
                assert is_beside or max(y, to_y) <= top or bottom <= min(y, to_y)
    assert followed(placed, sizes) == set(edges)


def test_lines_between_columns_keep_apart():
    placed = layout([(176.0, 58.0)] * 500, LARGE["chain with shortcuts"])
    rails = {}
    for points in placed.lines:
        if len(points) == 6:  # below a column, up beside it, above the next one
            assert points[3][1] < points[2][1]
            rails.setdefault(points[0], set()).add(points[2])
    assert len(rails) > 40
    assert all(len(places) == 1 for places in rails.values())
    assert len({x for ((x, _),) in rails.values()}) == len(rails)


def test_what_reads_nothing_is_placed_above_its_reader():
    assert layers_of(5, [(0, 1), (1, 2), (3, 2), (2, 4)]) == [0, 1, 2, 1, 3]
    assert layers_of(0, []) == []
    assert layers_of(2, []) == [0, 0]


def test_an_empty_graph():
    picture = ElementTree.fromstring(draw([], [], []))
    assert picture.tag == f"{SVG}svg"


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def titles(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}title")]


def test_the_picture_says_who_runs_what():
    rows = [
        row(0, "Conv", ["x"], ["a"]),
        row(1, "Mine", ["a"], ["b"], domain="my", library="/opt/libmine.so"),
        row(2, "Gelu", ["b"], ["c"], provider="FastEP", partition=3),
        row(3, "Relu", ["c", ""], ["y", ""]),
    ]
    svg = draw(rows, [arg("x")], [arg("y")], "model.onnx")
    assert texts(svg)[:4] == [
        "model.onnx",
        "native kernel: 2 nodes",
        "FastEP: 1 node",
        "custom operators of libmine.so: 1 node",
    ]
    assert {"Conv", "Mine", "Gelu", "Relu", "libmine.so", "FastEP, group 3"} <= set(texts(svg))
    assert "my.Mine 'node1': native Mine of CPUExecutionProvider (/opt/libmine.so); the only kernel" in titles(svg)
    fills = {r.get("fill") for r in ElementTree.fromstring(svg).iter(f"{SVG}rect") if r.get("fill")}
    assert len(fills) == 3
    assert svg.count("<path") == 5


def test_subgraphs_are_inside_the_boxes_of_their_nodes():
    rows = [
        row(0, "If", ["x"], ["y"]),
        row(0, "Relu", ["x"], ["t"], graph="#0.then_branch"),
        row(0, "Loop", ["x"], ["e"], graph="#0.else_branch"),
        row(0, "Neg", ["i"], ["o"], graph="#0.else_branch/#0.body"),
    ]
    svg = draw(rows, [arg("x")], [arg("y")])
    assert {"If", "then_branch", "Relu", "else_branch", "Loop", "body", "Neg"} <= set(texts(svg))
    assert sum(text == "body" for text in texts(svg)) == 1
    assert "native kernel: 4 nodes" in texts(svg)


def test_five_hundred_nodes():
    rows = [row(i, "Add", [f"v{i}", f"v{max(0, i - 7)}", "v0"], [f"v{i + 1}"]) for i in range(500)]
    svg = draw(rows, [arg("v0")], [arg("v500")])
    assert texts(svg).count("Add") == 500
    assert "native kernel: 500 nodes" in texts(svg)[:2]
    assert len(svg) < 1_000_000
    is_readable(svg)


def is_readable(svg):
    """Check that a picture is as wide as a screen at the size of its text, which nothing makes smaller."""
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    assert width <= 1800
    assert root.get("viewBox") == f"0 0 {width:.0f} {height:.0f}"
    assert {element.get("transform", "").partition("(")[0] for element in root.iter()} <= {"", "translate"}
    sizes = re.findall(r"(?:font:|font-size:)(\d+)px", root.find(f"{SVG}style").text)
    assert sizes
    assert min(map(int, sizes)) >= 10


def pairs_of_nodes(count, graph=""):
    for i in range(count):
        yield row(2 * i, "Relu", ["x"], [f"r{i}"], graph=graph)
        yield row(2 * i + 1, "Add", [f"r{i}", "x"], [f"y{i}"], graph=graph)


@pytest.mark.parametrize("kind", ["pairs", "one reader", "inputs", "subgraphs", "nested"])
def test_wide_graphs_are_readable(kind):
    title, inputs, outputs = "m" * 300 + ".onnx", ["x"], []
    if kind == "pairs":
        rows, outputs = list(pairs_of_nodes(250)), [f"y{i}" for i in range(250)]
    elif kind == "one reader":
        rows = [row(i, "Relu", ["x"], [f"r{i}"]) for i in range(499)]
        rows.append(row(499, "Concat", [f"r{i}" for i in range(499)], ["y"], library="/" + "l" * 300))
    elif kind == "inputs":
        inputs = [f"an input with a long name, number {i}" for i in range(500)]
        rows = [row(0, "Concat", inputs, ["y"])]
    elif kind == "subgraphs":
        rows = [row(0, "If", ["x"], ["y"]), row(1, "If", ["x"], ["z"])]
        for branch in ("then", "else"):
            rows += pairs_of_nodes(60, f"#0.{branch}_branch")
            rows += pairs_of_nodes(60, f"#1.{branch}_branch")
    else:
        rows, path = [row(0, "If", ["x"], ["y"])], ""
        for _ in range(9):
            path += "/#0.then_branch" if path else "#0.then_branch"
            rows += [row(0, "If", ["x"], ["y"], graph=path)]
            rows += [row(i, "Relu", ["x"], [f"r{i}"], graph=path) for i in range(1, 40)]
        rows += pairs_of_nodes(20, path + "/#0.else_branch")
    svg = draw(rows, [arg(name) for name in inputs], [arg(name) for name in outputs], title)
    is_readable(svg)
    assert len([text for text in texts(svg) if text in ("Relu", "Add", "Concat", "If")]) == len(rows)


def test_names_that_would_break_the_file():
    evil = "</text><script>alert(1)</script>&\"'\x00\x1b\ud800\u202e" + "n" * 5000
    rows = [row(0, evil, ["x"], ["y"], name=evil, reason=evil, library=f"/{evil}", kernel=evil)]
    svg = draw(rows, [arg("x"), arg(evil)], [arg("y")], evil)
    root = ElementTree.fromstring(svg.encode())
    assert not list(root.iter(f"{SVG}script"))
    assert max(len(text) for text in texts(svg)) <= 1100


def test_runner():
    assert runner(row(0, "Add", [], [])) == "native kernel"
    assert runner(row(0, "Add", [], [], library="/a/b.so")) == "custom operators of b.so"
    assert runner(row(0, "Add", [], [], provider="EP", library="/a/b.so")) == "EP"


def group(index, inputs, outputs, constants=(), graph=""):
    return Partition(index, f"Ep_{index}", "Ep", "/lib/ep.so", graph, [index], inputs, outputs, list(constants))


def test_groups_are_told_with_their_boundary():
    rows = [row(i, "Relu", [f"v{i}"], [f"v{i + 1}"], provider="Ep", partition=i) for i in range(25)]
    rows.append(row(25, "Neg", ["v25"], ["y"]))
    partitions = [group(0, ["v0"], ["v1"], ["w", "b"]), group(1, [], ["v2"], graph="#3.body")]
    picture = ElementTree.fromstring(draw(rows, [arg("v0")], [arg("y")], "m", partitions))
    texts = [element.text for element in picture.iter(f"{SVG}text")]
    assert "group 0 of Ep: v0 \u2192 v1; compiled with w, b" in texts
    assert "group 1 in #3.body of Ep: nothing \u2192 v2" in texts
    assert len([rect for rect in picture.iter(f"{SVG}rect") if rect.get("class") == "s"]) == 25
    many = [group(i, [f"v{i}"], [f"v{i + 1}"]) for i in range(25)]
    texts = [element.text for element in ElementTree.fromstring(draw(rows, [], [], "m", many)).iter(f"{SVG}text")]
    assert "and 5 more groups" in texts
    long = [group(0, [f"value{i}" for i in range(100)], ["y"])]
    picture = ElementTree.fromstring(draw(rows, [], [], "m", long))
    (shown,) = [element.text for element in picture.iter(f"{SVG}text") if "group 0 of" in element.text]
    assert len(shown) == 150
    assert any("value99" in element.text for element in picture.iter(f"{SVG}title"))
