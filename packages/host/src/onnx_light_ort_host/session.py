# SPDX-License-Identifier: Apache-2.0
"""Sessions."""

from __future__ import annotations

from . import _host
from .absent import SESSION, absent_methods
from .errors import InvalidArgument
from .errors import NotImplemented as NotImplementedByHost
from .options import SessionOptions
from .providers import CPU_PROVIDER, is_list, named_providers, select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike


class InferenceSession(_host.Session, absent_methods("AbsentSession", SESSION)):  # type: ignore[misc]
    """A model that is ready to run.

    Parameters
    ----------
    path_or_bytes : path or bytes
        The model. Tensors outside the model are looked for beside its file, hence only with a path.
    sess_options : SessionOptions, optional
        Defaults without it.
    providers : sequence of str or of (str, dict), optional
        Execution providers in the order in which they are asked: names of registered libraries' providers, and
        ``CPUExecutionProvider``, our own, which is always the last. Without it those of the session options.
    provider_options : sequence of dict, optional
        Options of the providers, one each. ``CPUExecutionProvider`` has none.
    disabled_optimizers : sequence of str, optional
        Accepted for scripts written for ONNX Runtime, without effect: none of its optimizers is here.

    Raises
    ------
    NoSuchFile, InvalidProtobuf, InvalidGraph
        If the model cannot be read or breaks a rule of ONNX.
    NotImplemented
        If nobody runs one of its nodes; the message names it.
    Fail
        If the model uses an operator of a domain that no library has brought.
    InvalidArgument
        If a provider is not available.
    EPFail, Fail, RuntimeException
        What an execution provider reports, or which rule it breaks; the message names it and its library.

    Examples
    --------
    >>> session = InferenceSession("model.onnx")  # doctest: +SKIP
    >>> (y,) = session.run(None, {"x": x})  # doctest: +SKIP
    """

    def __init__(
        self,
        path_or_bytes: str | PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[str | tuple[str, Mapping[str, object]]] | None = None,
        provider_options: Sequence[Mapping[str, object]] | None = None,
        disabled_optimizers: Sequence[str] | None = None,
    ) -> None:
        options = SessionOptions() if sess_options is None else sess_options
        if not isinstance(options, SessionOptions):
            raise TypeError(f"InferenceSession: expected SessionOptions, got {type(options).__name__}")
        if not (disabled_optimizers is None or isinstance(disabled_optimizers, set) or is_list(disabled_optimizers)):
            raise TypeError(f"disabled_optimizers: expected a list of names, got {disabled_optimizers!r}")
        native = select(options, providers, provider_options)
        if isinstance(path_or_bytes, str) or hasattr(path_or_bytes, "__fspath__"):
            self._open_file(path_or_bytes, native)
        elif isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            self._open_bytes(path_or_bytes, native)
        else:
            raise TypeError(f"InferenceSession: expected a path or bytes, got {type(path_or_bytes).__name__}")
        self._options = options

    def get_providers(self) -> list[str]:
        """Returns the execution providers of the session.

        Returns
        -------
        list of str
            In the order in which they are asked.
        """
        return [provider.name for provider in self._providers()]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Returns the options of each execution provider.

        Returns
        -------
        dict of str to dict
            By provider.
        """
        return {provider.name: provider.options for provider in self._providers()}

    def set_providers(
        self,
        providers: Sequence[str | tuple[str, Mapping[str, object]]] | None = None,
        provider_options: Sequence[Mapping[str, object]] | None = None,
    ) -> None:
        """Checks that the session asks these execution providers: a session keeps those that it was made with.

        Parameters
        ----------
        providers : sequence of str or of (str, dict), optional
            As of the session.
        provider_options : sequence of dict, optional
            Likewise.

        Raises
        ------
        InvalidArgument
            If they are others, or have other options.
        """
        has = {provider.name: provider.options for provider in self._providers()}
        named = named_providers(providers, provider_options)
        asked = {CPU_PROVIDER: {}, **dict(named)} if named else has
        if list(has)[:-1] != [name for name, _ in named if name != CPU_PROVIDER] and named:
            raise InvalidArgument(f"set_providers: expected {list(has)}, which the session keeps, got {list(asked)}")
        for name, options in asked.items():
            if not options.items() <= has[name].items():
                raise InvalidArgument(f"set_providers: {name}: expected options of {has[name]}, got {options}")

    def disable_fallback(self) -> None:
        """Does nothing: a run that failed is never tried again with other execution providers."""

    def get_session_options(self) -> SessionOptions:
        """Returns what the session was made with.

        Returns
        -------
        SessionOptions
            The object that was given; what is changed in it counts for other sessions only.
        """
        return self._options

    def set_ep_dynamic_options(self, options: Mapping[str, str]) -> None:
        """Changes options of execution providers between runs. Not in this version.

        Parameters
        ----------
        options : mapping of str to str
            Option values.

        Raises
        ------
        NotImplemented
            Always; the message names providers and keys.
        """
        names = [provider.name for provider in self._providers()][:-1] or [CPU_PROVIDER]
        raise NotImplementedByHost(
            f"set_ep_dynamic_options: options that change between runs are not in this version, "
            f"got {list(options)} for {names}"
        )
