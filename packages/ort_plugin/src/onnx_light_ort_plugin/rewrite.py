# SPDX-License-Identifier: Apache-2.0
"""Standard operators of a model turned into the custom operators of the library."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from onnx_light_ort_plugin.conditions import is_surely_taken
from onnx_light_ort_plugin.operators import DOMAIN, supported_operators

if TYPE_CHECKING:
    import onnx

# Which opset of ONNX defines the operator of a node.
OPSET_ATTRIBUTE = "opset"
# ONNX Runtime makes initializers of them, which is better than any kernel.
_LEFT_BY_DEFAULT = frozenset({"Constant"})


def rewrite_model(model: onnx.ModelProto, op_types: Iterable[str] | None = None) -> onnx.ModelProto:
    """Return a copy of a model whose standard operators are custom operators of the domain ``onnx_light``.

    A node is rewritten where there is a kernel for its operator, version and every element type; types are inferred,
    and a node with a type that is not known stays as it is. Nodes of subgraphs are rewritten too, but not those of
    ``Scan``, whose results need shapes that ONNX Runtime cannot know behind a custom operator, and not bodies of
    functions.

    Parameters
    ----------
    model : onnx.ModelProto
        The model, which is not changed. Needs the package ``onnx``.
    op_types : iterable of str, optional
        The operators to rewrite; by default all but ``Constant``.

    Returns
    -------
    onnx.ModelProto
        To be run with session options that `register` was called for.

    Raises
    ------
    TypeError
        If `model` is not a ``ModelProto``.
    ValueError
        If `op_types` has an operator that there are no kernels for, or the model with its weights is larger than the
        2 GiB that protobuf can serialize: load it with ``load_external_data=False``.
    """
    import onnx

    if not isinstance(model, onnx.ModelProto):
        raise TypeError(f"rewrite_model: model must be an onnx.ModelProto, got {type(model).__name__}")
    wanted = set(supported_operators()) - _LEFT_BY_DEFAULT
    if op_types is not None:
        wanted = {op_types} if isinstance(op_types, str) else set(op_types)
    if unknown := sorted(wanted - set(supported_operators())):
        raise ValueError(f"rewrite_model: op_types must be among list_custom_ops(), got {', '.join(unknown)}")
    return _Rewriter(model, wanted).rewritten()


def _bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        yield from attribute.graphs
        if attribute.HasField("g"):
            yield attribute.g


class _Rewriter:
    """One model on its way."""

    def __init__(self, model: onnx.ModelProto, wanted: set[str]) -> None:
        import onnx
        from google.protobuf.message import EncodeError  # type: ignore[import-untyped]  # onnx needs it

        self._onnx = onnx
        self._wanted = wanted
        self._opsets: dict[str, int] = {}
        for entry in model.opset_import:
            domain = "" if entry.domain == "ai.onnx" else entry.domain
            self._opsets[domain] = max(entry.version, self._opsets.get(domain, 0))
        self._model = onnx.ModelProto()
        self._model.CopyFrom(model)
        self._shorten(self._model.opset_import)
        self._shorten_nodes(self._model.graph)
        # Where inference fails the types that the model says itself must do.
        with contextlib.suppress(onnx.shape_inference.InferenceError):
            try:
                self._model = onnx.shape_inference.infer_shapes(self._model, data_prop=True)
            except EncodeError as error:
                raise ValueError(
                    "rewrite_model: the model with its weights is larger than 2 GiB, which protobuf cannot serialize; "
                    "load it with onnx.load(path, load_external_data=False)"
                ) from error

    def rewritten(self) -> onnx.ModelProto:
        model = self._model
        is_imported = any(entry.domain == DOMAIN for entry in model.opset_import)
        if self._graph(model.graph, {}) and not is_imported:
            model.opset_import.append(self._onnx.helper.make_opsetid(DOMAIN, 1))
        return model

    def _shorten(self, named: Iterable[onnx.NodeProto | onnx.OperatorSetIdProto]) -> None:
        """Write the domain of ONNX in the short way, the only one that inference knows."""
        for one in named:
            if one.domain == "ai.onnx":
                one.domain = ""

    def _shorten_nodes(self, graph: onnx.GraphProto) -> None:
        self._shorten(graph.node)
        for node in graph.node:
            for body in _bodies(node):
                self._shorten_nodes(body)

    def _graph(self, graph: onnx.GraphProto, outer: dict[str, str]) -> int:
        """Rewrite a graph in place; return how many nodes were rewritten."""
        elements = outer | self._elements(graph)
        count = 0
        for node in graph.node:
            for body in _bodies(node) if node.op_type != "Scan" else ():
                count += self._graph(body, elements)
            if not self._is_supported(node, elements):
                continue
            opset = self._opsets[node.domain]
            node.domain = DOMAIN
            node.attribute.append(self._onnx.helper.make_attribute(OPSET_ATTRIBUTE, opset))
            count += 1
        return count

    def _elements(self, graph: onnx.GraphProto) -> dict[str, str]:
        """Return the element types of the tensors of a graph, by name."""
        elements = {
            value.name: self._name(value.type.tensor_type.elem_type)
            for value in [*graph.input, *graph.value_info, *graph.output]
            if value.type.HasField("tensor_type") and value.type.tensor_type.elem_type
        }
        return elements | {tensor.name: self._name(tensor.data_type) for tensor in graph.initializer}

    def _name(self, element: int) -> str:
        """Return an element type as ONNX's type strings have it."""
        try:
            return str(self._onnx.TensorProto.DataType.Name(element)).lower()
        except ValueError:
            return f"element type {element}"  # this onnx does not know it, hence no kernel's table has it

    def _is_supported(self, node: onnx.NodeProto, elements: dict[str, str]) -> bool:
        if node.op_type not in self._wanted or node.domain not in self._opsets:
            return False
        try:
            schema = self._onnx.defs.get_schema(node.op_type, self._opsets[node.domain], node.domain)
        except self._onnx.defs.SchemaError:
            return False  # ONNX Runtime has some operators earlier than ONNX
        version = supported_operators()[node.op_type].get(schema.since_version)
        if version is None or version.domain != node.domain:
            return False

        def allowed(formals: Any, i: int) -> list[str]:
            # The last one of the schema stands for all arguments of a variadic.
            return version.types.get(formals[min(i, len(formals) - 1)].type_str, [])

        for i, name in enumerate(node.output):  # inference knows few operators of ai.onnx.ml
            if name not in elements and len(known := allowed(schema.outputs, i)) == 1:
                elements[name] = known[0]
        for arguments, formals in ((node.input, schema.inputs), (node.output, schema.outputs)):
            for i, name in enumerate(arguments):
                if name and elements.get(name) not in allowed(formals, i):
                    return False
        if not version.may_decline:
            return True
        attributes: dict[str, Any] = {
            attribute.name: self._onnx.helper.get_attribute_value(attribute) for attribute in node.attribute
        }
        return is_surely_taken(node, schema.since_version, attributes, [elements.get(name) for name in node.input])
