# SPDX-License-Identifier: Apache-2.0
"""Plain records that the package hands out."""

from __future__ import annotations


class Record:
    """Named fields with a readable form, equal when all fields are."""

    __slots__: tuple[str, ...] = ()

    def __init__(self, *values: object) -> None:
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.asdict() == other.asdict()

    __hash__ = None  # type: ignore[assignment]

    def asdict(self) -> dict[str, object]:
        """Returns the fields as a dictionary, in their order; records inside become dictionaries too."""
        return {name: plain(getattr(self, name)) for name in self.__slots__}


def plain(value: object) -> object:
    """Returns a value with the records in it, also those in lists, as dictionaries."""
    if isinstance(value, Record):
        return value.asdict()
    return [plain(item) for item in value] if isinstance(value, list) else value


class NodeArg(Record):
    """An input or output of a model.

    Attributes
    ----------
    name : str
        Name in the model.
    type : str
        As ONNX writes it, e.g. ``tensor(float)``.
    shape : list of int, str or None
        One entry per dimension: its extent, the name of a symbolic one, None for an unknown one. A scalar has ``[]``.
        None instead of a list when the model says nothing about the shape.
    """

    __slots__ = ("name", "type", "shape")
    name: str
    type: str
    shape: list[int | str | None] | None


class ModelMetadata(Record):
    """What a model says about itself.

    Attributes
    ----------
    producer_name, graph_name, domain, description, graph_description : str
        As in the model; empty where it says nothing.
    version : int
        The model's own version.
    custom_metadata_map : dict of str to str
        The ``metadata_props``.
    """

    __slots__ = (
        "producer_name",
        "graph_name",
        "domain",
        "description",
        "graph_description",
        "version",
        "custom_metadata_map",
    )
    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]


class NodeAssignment(Record):
    """Who runs one node of the graph, and why.

    Attributes
    ----------
    index : int
        Position of the node in the graph.
    name, domain, op_type : str
        Of the node; the ONNX domain is empty.
    provider : str
        The execution provider. Native kernels and custom ops both report ``CPUExecutionProvider``.
    kernel : str
        The kernel, which tells them apart.
    partition : int
        Index of the group that one provider runs as a whole, -1 for a single node.
    reason : str
        Why this kernel was chosen.
    library : str
        Path of the library that brought the kernel, empty for our own.
    graph : str
        Which graph the node is in: empty for the main graph, else the nodes and attributes on the way to a subgraph,
        as ``#3.body/#0.then_branch``.
    inputs, outputs : list of str
        Names of the values it reads and makes, empty where an argument is omitted.
    """

    __slots__ = (
        "index",
        "name",
        "domain",
        "op_type",
        "provider",
        "kernel",
        "partition",
        "reason",
        "library",
        "graph",
        "inputs",
        "outputs",
    )
    index: int
    name: str
    domain: str
    op_type: str
    provider: str
    kernel: str
    partition: int
    reason: str
    library: str
    graph: str
    inputs: list[str]
    outputs: list[str]


class Partition(Record):
    """Nodes that an execution provider compiled and runs as one step.

    Attributes
    ----------
    index : int
        Which one of its graph; the `NodeAssignment.partition` of its nodes.
    name : str
        The name that the provider was given for it.
    provider, library : str
        The execution provider, and the path of its library.
    graph : str
        Which graph it is in, as of `NodeAssignment`.
    nodes : list of int
        Positions of its nodes in the graph.
    inputs, outputs : list of str
        Names of the values that the step receives and makes, in order.
    constants : list of str
        Names of the constants that it was compiled with and does not receive.
    """

    __slots__ = ("index", "name", "provider", "library", "graph", "nodes", "inputs", "outputs", "constants")
    index: int
    name: str
    provider: str
    library: str
    graph: str
    nodes: list[int]
    inputs: list[str]
    outputs: list[str]
    constants: list[str]


class Finding(Record):
    """What a library did against a rule of the interface.

    Attributes
    ----------
    rule : str
        Name of the rule, one of `checked_rules`.
    slot : str
        The function or callback in which it happened, or that made the handle; empty if it is not known.
    sentence : str
        What happened.
    """

    __slots__ = ("rule", "slot", "sentence")
    rule: str
    slot: str
    sentence: str


class SupportRow(Record):
    """One slot of the ABI, or one callback of a plug-in.

    Attributes
    ----------
    table, name : str
        As ``OrtApi`` and ``CreateStatus``.
    index : int
        Position in the table.
    since : int
        Version of the ABI that added it.
    profile : str
        Profiles that it belongs to, joined by commas.
    status : str
        ``supported`` or ``not_implemented``; for a callback, when it is invoked.
    limit : str
        What a supported slot does not do; empty if nothing is missing.
    """

    __slots__ = ("table", "name", "index", "since", "profile", "status", "limit")
    table: str
    name: str
    index: int
    since: int
    profile: str
    status: str
    limit: str


class TestedLibrary(Record):
    """A published library that the tests run.

    Attributes
    ----------
    name, version : str
        The package that it comes from.
    file_name : str
        The file in the package.
    bytes : int
        Size of the file.
    sha256 : str
        Hash of the file, in hexadecimal digits.
    profile : str
        Profiles that it needs, joined by commas.
    api_version : int
        Version of the C API that it asks for.
    broken_groups : str
        What ``SessionOptions.broken_groups`` is for it where that is ``auto``.
    """

    __slots__ = ("name", "version", "file_name", "bytes", "sha256", "profile", "api_version", "broken_groups")
    name: str
    version: str
    file_name: str
    bytes: int
    sha256: str
    profile: str
    api_version: int
    broken_groups: str


class LoadPolicy(Record):
    """Where libraries may come from; checked before anything of a library is run.

    Parameters
    ----------
    allowed_roots : sequence of path, optional
        Directories; a library elsewhere is refused. Compared after links are resolved. A relative one starts at the
        working directory of the moment when the policy is set. None, the default: anywhere. An empty sequence: nowhere.
    follow_links : bool, optional
        False refuses a path with a symbolic link in it.
    require_owner : bool, optional
        True insists that the library, the libraries it needs and the folders they are in belong to this user or to root
        and that nobody else may write them. (A folder with the sticky bit, as ``/tmp``, may be written by others.)
    audited_only : bool, optional
        True refuses a library that is not on the list of tested ones.
    unload : bool, optional
        True really closes a library when the last session that uses it is gone, unless the process has gained threads
        by then. For tests and authors of libraries.
    provide_api_base : bool, optional
        True accepts libraries that import ``OrtGetApiBase``, as those do that were built for linking with ONNX Runtime:
        a small library of this package that exports it is opened, for the whole process and until its end, before the
        first of them. Refused while ONNX Runtime is in the process.
    """

    __slots__ = ("allowed_roots", "follow_links", "require_owner", "audited_only", "unload", "provide_api_base")
    allowed_roots: tuple[str, ...] | None
    follow_links: bool
    require_owner: bool
    audited_only: bool
    unload: bool
    provide_api_base: bool

    def __init__(
        self,
        allowed_roots: object = None,
        follow_links: bool = True,
        require_owner: bool = False,
        audited_only: bool = False,
        unload: bool = False,
        provide_api_base: bool = False,
    ) -> None:
        from os import PathLike, fsdecode

        # The letters of a path are paths too, and "/" allows everything.
        roots = None
        if allowed_roots is not None:
            if isinstance(allowed_roots, (str, bytes, PathLike)) or not hasattr(allowed_roots, "__iter__"):
                raise TypeError(f"LoadPolicy: allowed_roots must be a sequence of paths, got {allowed_roots!r}")
            roots = []
            for root in allowed_roots:
                if not isinstance(root, (str, bytes, PathLike)):
                    raise TypeError(f"LoadPolicy: allowed_roots must be paths, got {root!r}")
                roots.append(fsdecode(root))
        flags = {
            "follow_links": follow_links,
            "require_owner": require_owner,
            "audited_only": audited_only,
            "unload": unload,
            "provide_api_base": provide_api_base,
        }
        for name, value in flags.items():
            if not isinstance(value, bool):  # "no" would count as yes
                raise TypeError(f"LoadPolicy: {name} must be True or False, got {value!r}")
        super().__init__(None if roots is None else tuple(roots), *flags.values())
