# SPDX-License-Identifier: Apache-2.0
"""What one run is made with."""

from __future__ import annotations

from .absent import RUN_OPTIONS, absent_methods
from .arguments import Option, flag, integer_within, text
from .errors import Fail, InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_KEY = 1024  # in bytes, as of a session's entry
LONGEST_VALUE = 8192


class RunOptions(absent_methods("AbsentRunOptions", RUN_OPTIONS)):  # type: ignore[misc]
    """What one run is made with: the third argument of ``InferenceSession.run``.

    Attributes
    ----------
    terminate : bool
        True refuses the run before its first node. A run that is under way is not stopped by it.
    log_severity_level, log_verbosity_level : int
        Accepted for scripts written for ONNX Runtime, without effect: lines of a run follow the session's severity.
    logid : str
        Accepted likewise.
    only_execute_path_to_fetches : bool
        Accepted likewise: all nodes run.

    Notes
    -----
    Run config entries are meant for execution providers, which are told of a run's start and end; custom operators have
    no way to read them. ``disable_synchronize_execution_providers`` set to ``1`` tells them not to wait at the end.
    """

    __slots__ = ("_entries", "_values")

    log_severity_level = Option(integer_within(-1, 4), -1)
    log_verbosity_level = Option(integer_within(0, 2**31 - 1), 0)
    logid = Option(text, "")
    only_execute_path_to_fetches = Option(flag, False)
    terminate = Option(flag, False)

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._entries: dict[str, str] = {}

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Sets an entry that execution providers may read.

        Parameters
        ----------
        key : str
            Its name, at most 1024 bytes.
        value : str
            At most 8192 bytes.

        Raises
        ------
        InvalidArgument
            If one is too long, or the name is empty.
        """
        key, value = text("add_run_config_entry: key", key), text("add_run_config_entry: value", value)
        if not 1 <= len(key.encode()) <= LONGEST_KEY:
            raise InvalidArgument(f"config key: 1 to {LONGEST_KEY} bytes are allowed, got {len(key.encode())}")
        if len(value.encode()) > LONGEST_VALUE:
            raise InvalidArgument(
                f"config value of {key!r}: at most {LONGEST_VALUE} bytes are allowed, got {len(value.encode())}"
            )
        self._entries[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """Returns an entry.

        Parameters
        ----------
        key : str
            Its name.

        Returns
        -------
        str
            The value.

        Raises
        ------
        InvalidArgument
            If no such entry was added.
        """
        if text("get_run_config_entry: key", key) not in self._entries:
            raise InvalidArgument(f"get_run_config_entry: expected a key that was added, got {key!r}")
        return self._entries[key]


def check_run_options(run_options: object) -> dict[str, str]:
    """Returns the config entries; raises what keeps a run with these options from being started."""
    if not isinstance(run_options, RunOptions):
        raise TypeError(f"run: expected RunOptions, got {type(run_options).__name__}")
    if run_options.terminate:
        raise Fail("run: expected run options without the terminate flag, got terminate=True")
    return run_options._entries
