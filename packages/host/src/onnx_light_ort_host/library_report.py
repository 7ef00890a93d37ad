# SPDX-License-Identifier: Apache-2.0
"""What the inspection of a library tells."""

from __future__ import annotations

from .records import Record


class ArgumentReport(Record):
    """One input or output that a custom operator declares.

    Attributes
    ----------
    type : str
        As ONNX writes it, e.g. ``tensor(float)``; ``any tensor`` where the operator takes every type.
    characteristic : str
        ``required``, ``optional`` or ``variadic``.
    memory : str
        Where an input is wanted: ``default``, ``cpu_input`` or ``cpu_output``.
    min_arity : int
        Fewest values of a variadic one.
    is_homogeneous : bool
        Whether the values of a variadic one share a type.
    """

    __slots__ = ("type", "characteristic", "memory", "min_arity", "is_homogeneous")
    type: str
    characteristic: str
    memory: str
    min_arity: int
    is_homogeneous: bool

    def __str__(self) -> str:
        text = self.type.removeprefix("tensor(").removesuffix(")").removesuffix(" tensor")
        if self.characteristic == "optional":
            text += "?"
        elif self.characteristic == "variadic":
            text = f"...{text} (at least {self.min_arity}{'' if self.is_homogeneous else ', of any types'})"
        return text if self.memory == "default" else f"{text} in {self.memory}"


class OperatorReport(Record):
    """One custom operator, or one overload of it, as a library describes it.

    Attributes
    ----------
    domain, name : str
        Of the operator.
    position : int
        Of the descriptor in its domain.
    since_version, end_version : int
        Versions of the domain that it serves; None for the last if there is none.
    inputs, outputs : list of ArgumentReport
        In their order.
    provider : str
        The execution provider that it is for.
    api_version : int
        Of the descriptor.
    has_inference : bool
        Whether it infers the shapes of its outputs.
    may_inplace : list of tuple of int
        Inputs and the outputs that may take their memory.
    aliases : list of tuple of int
        Inputs and the outputs that must be the same memory.
    problem : str
        Which rule the descriptor breaks; a session with it fails. Empty if none. What comes after the fault was not
        read: name, inputs and outputs may be missing.
    """

    __slots__ = (
        "domain",
        "name",
        "position",
        "since_version",
        "end_version",
        "inputs",
        "outputs",
        "provider",
        "api_version",
        "has_inference",
        "may_inplace",
        "aliases",
        "problem",
    )
    domain: str
    name: str
    position: int
    since_version: int
    end_version: int | None
    inputs: list[ArgumentReport]
    outputs: list[ArgumentReport]
    provider: str
    api_version: int
    has_inference: bool
    may_inplace: list[tuple[int, int]]
    aliases: list[tuple[int, int]]
    problem: str


class KernelReport(Record):
    """One kernel that an execution provider registers.

    Attributes
    ----------
    domain, op_type : str
        Its operator.
    since_version, end_version : int
        Versions of the operator's schema that it is for. Without an end, None, it is for the first alone.
    types : dict of str to str
        What each type parameter may be, as ``tensor(float), tensor(double)``; one that is missing may be anything.
    provider : str
        The execution provider that it names.
    may_inplace, aliases : list of tuple of int
        Inputs and the outputs that may overwrite them, or share them as they are.
    """

    __slots__ = (
        "domain",
        "op_type",
        "since_version",
        "end_version",
        "types",
        "provider",
        "may_inplace",
        "aliases",
    )
    domain: str
    op_type: str
    since_version: int
    end_version: int | None
    types: dict[str, str]
    provider: str
    may_inplace: list[tuple[int, int]]
    aliases: list[tuple[int, int]]


class ProviderReport(Record):
    """One execution provider that a library offers.

    Attributes
    ----------
    name, vendor, version : str
        As the library says; only the name is known of one that offers no device.
    devices : list of str
        What it can use of this machine; a synthetic device is marked.
    options : dict of str to str
        Its options and their defaults.
    kernels : list of KernelReport
        Those that it registers one by one, in their order. One that compiles groups of nodes may have none.
    problem : str
        Why no provider could be created; empty if one was, or if it offers no device.
    """

    __slots__ = ("name", "vendor", "version", "devices", "options", "kernels", "problem")
    name: str
    vendor: str
    version: str
    devices: list[str]
    options: dict[str, str]
    kernels: list[KernelReport]
    problem: str


class RegistrationReport(Record):
    """What a library registers.

    Attributes
    ----------
    api_versions : list of int
        The versions of the interface that it has asked for in this process, while it was loaded and registered.
    operators : list of OperatorReport
        In the order in which they were added; those of an execution provider's domains too.
    providers : list of ProviderReport
        Its execution providers.
    failed_because : str
        What its ``RegisterCustomOps`` or ``CreateEpFactories`` reported, or which rule it broke; empty if neither.
    """

    __slots__ = ("api_versions", "operators", "providers", "failed_because")
    api_versions: list[int]
    operators: list[OperatorReport]
    providers: list[ProviderReport]
    failed_because: str


class LibraryReport(Record):
    """What a library says about itself.

    Attributes
    ----------
    path : str
        Absolute, links resolved.
    exports : list of str
        Which of the entry points of a plug-in it has.
    needed : list of str
        Its direct dependencies, as written.
    closure : list of str
        Paths of all dependencies; ``name => not found`` where there is none.
    refused_because : str
        Why it will not be loaded; empty if it may be.
    audited_as : str
        Name and version on the list of tested libraries; empty if it is not there.
    hints : list of str
        What its author may want to look at: names that come near an entry point, functions that are hidden, symbols
        that are better hidden.
    registration : RegistrationReport or None
        What it registers; None if it was not loaded.
    """

    __slots__ = (
        "path",
        "exports",
        "needed",
        "closure",
        "refused_because",
        "audited_as",
        "hints",
        "registration",
    )
    path: str
    exports: list[str]
    needed: list[str]
    closure: list[str]
    refused_because: str
    audited_as: str
    hints: list[str]
    registration: RegistrationReport | None

    @property
    def verdict(self) -> str:
        """One of ``refused because ...``, ``audited as ...`` and ``loadable, slots unknown until run``."""
        if self.refused_because:
            return f"refused because {self.refused_because}"
        return f"audited as {self.audited_as}" if self.audited_as else "loadable, slots unknown until run"

    def with_registration(self, registration: RegistrationReport) -> LibraryReport:
        """Returns the same report with what the library registers."""
        return LibraryReport(*(getattr(self, name) for name in self.__slots__[:-1]), registration)
