# SPDX-License-Identifier: Apache-2.0
"""Sessions."""

from __future__ import annotations

from . import _host
from .absent import SESSION, absent_methods
from .errors import NotImplemented as NotImplementedByHost
from .options import SessionOptions
from .providers import CPU_PROVIDER, check_providers

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
        Execution providers in the order in which they are asked. Only ``CPUExecutionProvider`` is in this version.
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
        check_providers(providers, provider_options, disabled_optimizers)
        if isinstance(path_or_bytes, str) or hasattr(path_or_bytes, "__fspath__"):
            self._open_file(path_or_bytes, options)
        elif isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            self._open_bytes(path_or_bytes, options)
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
        return [CPU_PROVIDER]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Returns the options of each execution provider.

        Returns
        -------
        dict of str to dict
            By provider.
        """
        return {CPU_PROVIDER: {}}

    def set_providers(
        self,
        providers: Sequence[str | tuple[str, Mapping[str, object]]] | None = None,
        provider_options: Sequence[Mapping[str, object]] | None = None,
    ) -> None:
        """Checks that the session has these execution providers: there are no others.

        Parameters
        ----------
        providers : sequence of str or of (str, dict), optional
            As of the session.
        provider_options : sequence of dict, optional
            Likewise.

        Raises
        ------
        InvalidArgument
            If a provider is not available.
        """
        check_providers(providers, provider_options)

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
        """Changes options of an execution provider between runs. Not in this version.

        Parameters
        ----------
        options : mapping of str to str
            Option values.

        Raises
        ------
        NotImplemented
            Always; the message names the keys.
        """
        raise NotImplementedByHost(
            "set_ep_dynamic_options: plugin EPs (profile ep_factory_device) are not in this version, "
            f"got {list(options)}"
        )
