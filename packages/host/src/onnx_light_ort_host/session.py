# SPDX-License-Identifier: Apache-2.0
"""Sessions."""

from __future__ import annotations

from . import _host
from .errors import InvalidArgument
from .errors import NotImplemented as NotImplementedByHost
from .options import SessionOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

CPU_PROVIDER = "CPUExecutionProvider"


class InferenceSession(_host.Session):
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
        Options of the providers, one each.

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
    ) -> None:
        options = SessionOptions() if sess_options is None else sess_options
        if not isinstance(options, SessionOptions):
            raise TypeError(f"InferenceSession: expected SessionOptions, got {type(options).__name__}")
        check_providers(providers, provider_options)
        if isinstance(path_or_bytes, str) or hasattr(path_or_bytes, "__fspath__"):
            self._open_file(path_or_bytes, options)
        elif isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            self._open_bytes(path_or_bytes, options)
        else:
            raise TypeError(f"InferenceSession: expected a path or bytes, got {type(path_or_bytes).__name__}")

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

    def io_binding(self) -> object:
        """Binds inputs and outputs to memory. Not in this version.

        Raises
        ------
        NotImplemented
            Always.
        """
        raise NotImplementedByHost("io_binding: I/O binding (profile io_binding) is not in this version")

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


def check_providers(
    providers: Sequence[str | tuple[str, Mapping[str, object]]] | None,
    provider_options: Sequence[Mapping[str, object]] | None,
) -> None:
    """Refuses providers that are not available, rather than running on others without a word."""
    if provider_options is not None and (providers is None or len(provider_options) != len(providers)):
        count = 0 if providers is None else len(providers)
        raise InvalidArgument(
            f"provider_options: expected one entry per provider ({count}), got {len(provider_options)}"
        )
    if isinstance(providers, str):
        raise InvalidArgument(f"providers: expected a list of names, got {providers!r}")
    for provider in providers or ():
        name = provider[0] if isinstance(provider, tuple) and len(provider) == 2 else provider
        if name != CPU_PROVIDER:
            raise InvalidArgument(f"providers: expected names of {[CPU_PROVIDER]}, got {name!r}")
