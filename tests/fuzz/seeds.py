# SPDX-License-Identifier: Apache-2.0
"""The models that fuzz_reader.py mutates: onnx's node tests, and what those do not have.

Node tests have one node each. The models here have several nodes, bodies that capture, functions with overloads,
sequences, optionals, strings, sparse and external tensors, quantization annotations and every element type.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser
from onnx.backend.test.case import node as node_cases

LARGEST_SEED = 1 << 14
DATA_FILE = "data.bin"
DATA_SIZE = 4096

# Each text is one graph, with functions behind it where there are any.
TEXTS = {
    "chain": """chain (float[N, 4] x) => (float[N, 2] y, float[N, 4] z) <float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8},
        float[4] b = {1, 2, 3, 4}> {
      s = Add (x, b)
      z = Relu (s)
      t = Transpose <perm = [1, 0]> (z)
      u = Transpose (t)
      y = MatMul (u, w)
    }""",
    "shapes": """shapes (float[N, 2, 3] x) => (float[A, B] y) {
      s = Shape (x)
      zero = Constant <value = int64 {0}> ()
      n = Gather (s, zero)
      axis = Constant <value = int64[1] {0}> ()
      v = Unsqueeze (n, axis)
      rest = Constant <value_ints = [-1]> ()
      target = Concat <axis = 0> (v, rest)
      y = Reshape (x, target)
    }""",
    "branches": """branches (bool c, float[N] x, float[N] u) => (float[N] y) {
      d = Not (c)
      k = Neg (x)
      y = If (c) <
        then_branch = a () => (float[N] p) {
          q = Add (x, k)
          p = If (d) <
            then_branch = aa () => (float[N] r) { r = Mul (q, u) },
            else_branch = ab () => (float[N] r) { r = Sub (k, q) }
          >
        },
        else_branch = b () => (float[N] p) { p = Identity (k) }
      >
    }""",
    "loop": """loop (int64 m, float[2] x) => (float[2] y, float[T, 2] z) <float[2] step = {1, 2}> {
      go = Constant <value = bool {1}> ()
      y, z = Loop (m, go, x) <body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w, float[2] seen) {
        d = Identity (c)
        w = Add (v, step)
        seen = Mul (w, x)
      }>
    }""",
    "scan": """scan (float[2] start, float[T, 2] x) => (float[2] last, float[T, 2] all) {
      last, all = Scan (start, x) <
        num_scan_inputs = 1, scan_output_directions = [1],
        body = b (float[2] v, float[2] part) => (float[2] w, float[2] out) {
          w = Add (v, part)
          out = Mul (w, start)
        }>
    }""",
    "sequences": """sequences (float[3] x, int64 at, seq(float[K]) given) => (float[3] y, int64 n, float[T] z) {
      s = SequenceConstruct (x, x)
      e = Exp (x)
      t = SequenceInsert (s, e, at)
      u = SequenceErase (t)
      y = SequenceAt (u, at)
      n = SequenceLength (t)
      joined = ConcatFromSequence <axis = 0> (t)
      parts = SplitToSequence <axis = 0> (joined)
      z = ConcatFromSequence <axis = 0> (parts)
    }""",
    "collecting loop": """collecting (int64 m, float[2] x) => (seq(float[2]) y) {
      go = Constant <value = bool {1}> ()
      none = SequenceEmpty <dtype = 1> ()
      y = Loop (m, go, none) <body = b (int64 i, bool c, seq(float[2]) v) => (bool d, seq(float[2]) w) {
        d = Identity (c)
        w = SequenceInsert (v, x)
      }>
    }""",
    "mapped sequence": """mapped (float[3] x) => (seq(float[3]) y) {
      s = SequenceConstruct (x, x)
      y = SequenceMap (s, x) <body = b (float[3] v, float[3] w) => (float[3] r) { r = Add (v, w) }>
    }""",
    "optionals": """optionals (optional(float[2]) o, float[2] x) => (bool h, optional(float[2]) p, float[2] y) {
      h = OptionalHasElement (o)
      p = Optional (x)
      y = OptionalGetElement (p)
    }""",
    "strings": """strings (string[2] a, int64[2] numbers) => (string[2] y, bool[2] r) <
        string[2] b = {"left", "right"}> {
      t = StringConcat (a, b)
      u = Cast <to = 8> (numbers)
      y = StringConcat (t, u)
      r = Equal (a, b)
    }""",
    "functions": """functions (float[N] x) => (float[N] y) {
      a = local.twice <factor: float = 2.0> (x)
      y = local.both (a)
    }
    <domain: "local", opset_import: ["" : 21]>
    twice <factor: float = 1.0> (v) => (w) {
      f = Constant <value_float: float = @factor> ()
      t = Mul (v, f)
      w = Add (t, v)
    }
    <domain: "local", opset_import: ["" : 21, "local" : 1]>
    both (v) => (w) {
      a = local.twice <factor = 3.0> (v)
      c = Constant <value = bool {1}> ()
      w = If (c) <
        then_branch = t () => (p) { p = Identity (a) },
        else_branch = e () => (p) { p = Neg (v) }
      >
    }""",
}


@dataclass(frozen=True)
class Seed:
    """A model, and the files that lie beside it."""

    model: bytes
    files: dict[str, bytes] = field(default_factory=dict, hash=False)


def from_text(text: str) -> onnx.ModelProto:
    """Return the model of one of TEXTS."""
    header = '<ir_version: 10, opset_import: ["" : 21, "local" : 1]>\n'
    return parser.parse_model(header + text)


def with_overloads() -> onnx.ModelProto:
    """Return a model with two functions of one name, one of which calls the other."""
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    inner = helper.make_function("local", "f", ["v"], ["w"], [helper.make_node("Exp", ["v"], ["w"])], imports)
    calls = [helper.make_node("f", ["v"], ["t"], domain="local"), helper.make_node("Neg", ["t"], ["w"])]
    outer = helper.make_function("local", "f", ["v"], ["w"], calls, imports)
    outer.overload = "negated"
    node = helper.make_node("f", ["x"], ["y"], domain="local")
    node.overload = "negated"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N"]) for name in ("x", "y")]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=imports, functions=[inner, outer], ir_version=10)


def sparse(name: str, by_coordinates: bool) -> onnx.SparseTensorProto:
    """Return a sparse float[3, 4] with two elements."""
    indices = np.array([[0, 1], [2, 3]] if by_coordinates else [1, 11], np.int64)
    values = numpy_helper.from_array(np.array([1.5, 2.5], np.float32), name)
    return helper.make_sparse_tensor(values, numpy_helper.from_array(indices), [3, 4])


def with_sparse_initializers() -> onnx.ModelProto:
    """Return a model with sparse initializers of both layouts."""
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 4])
    nodes = [helper.make_node("Add", ["a", "b"], ["y"])]
    graph = helper.make_graph(nodes, "g", [], [output], sparse_initializer=[sparse("a", True), sparse("b", False)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def with_sparse_constant() -> onnx.ModelProto:
    """Return a model with a sparse tensor as an attribute."""
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 4])
    nodes = [helper.make_node("Constant", [], ["y"], sparse_value=sparse("", True))]
    graph = helper.make_graph(nodes, "g", [], [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def with_annotations() -> onnx.ModelProto:
    """Return a quantized model that says where scales and zero points are, with metadata wherever it may be."""
    model = parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
      quantized (float[N] x) => (float[N] y) <float scale = {0.5}, uint8 zero = {128}> {
        q = QuantizeLinear (x, scale, zero)
        y = DequantizeLinear (q, scale, zero)
      }""")
    annotation = model.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    annotation.quant_parameter_tensor_names.add(key="ZERO_POINT_TENSOR", value="zero")
    for holder in (model, model.graph, model.graph.node[0], model.graph.initializer[0], model.graph.input[0]):
        holder.metadata_props.add(key="key", value="value")
    return model


def element_types() -> Iterator[onnx.ModelProto]:
    """Yield for every element type a model with a tensor of it in raw_data, and one with it in its typed field."""
    for name, number in TensorProto.DataType.items():
        if number == TensorProto.UNDEFINED:
            continue
        is_text = number == TensorProto.STRING
        array = np.array([b"a", b"", b"bc"], object) if is_text else np.array([0, 1, 1])
        array = array.astype(helper.tensor_dtype_to_np_dtype(number))
        tensors = [helper.make_tensor("w", number, [3], array.tolist() if is_text else array)]
        if not is_text:
            tensors.append(numpy_helper.from_array(array, "w"))
        for tensor in tensors:
            # Identity takes no 6-bit floats; an optional holds anything.
            nodes = [helper.make_node("Optional", [start], [end]) for start, end in (("x", "p"), ("w", "q"))]
            nodes += [helper.make_node("OptionalGetElement", [start], [end]) for start, end in (("p", "y"), ("q", "z"))]
            ends = [helper.make_tensor_value_info(end, number, [3]) for end in ("x", "y", "z")]
            graph = helper.make_graph(nodes, name, ends[:1], ends[1:], [tensor])
            yield helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=14)


def with_external_data() -> onnx.ModelProto:
    """Return a model whose tensors lie in DATA_FILE: aligned and not, with a length and without, one in a body."""
    places = {"a": {"offset": "0", "length": "16"}, "b": {"offset": "1029"}, "e": {"offset": "4080", "length": "16"}}

    def tensor(name: str) -> TensorProto:
        made = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
        for key, value in {"location": DATA_FILE, **places[name]}.items():
            made.external_data.add(key=key, value=value)
        return made

    model = parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
      external (float[4] x, bool c) => (float[4] y) {
        s = Add (x, a)
        t = Mul (s, b)
        y = If (c) <
          then_branch = p () => (float[4] q) { q = Identity (t) },
          else_branch = r () => (float[4] q) { q = Neg (e) }
        >
      }""")
    model.graph.initializer.extend([tensor("a"), tensor("b")])
    model.graph.node[2].attribute[1].g.initializer.append(tensor("e"))
    return model


def node_test_models() -> set[bytes]:
    """Return the models of onnx's own node tests, small ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = node_cases.collect_testcases(None)
    models = {case.model.SerializeToString() for case in cases if case.model is not None}
    return {model for model in models if len(model) <= LARGEST_SEED}


def composed() -> list[Seed]:
    """Return the seeds that are not node tests; the one with external data comes last."""
    built = [with_overloads(), with_sparse_initializers(), with_sparse_constant(), with_annotations()]
    models = [*map(from_text, TEXTS.values()), *built, *element_types()]
    seeds = [Seed(model.SerializeToString()) for model in models]
    data = np.arange(DATA_SIZE // 4, dtype=np.float32).tobytes()
    return [*seeds, Seed(with_external_data().SerializeToString(), {DATA_FILE: data})]


def corpus() -> list[Seed]:
    """Return all seeds, the node tests first."""
    return [*map(Seed, sorted(node_test_models())), *composed()]
