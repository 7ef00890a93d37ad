# SPDX-License-Identifier: Apache-2.0
"""Exceptions, named as ONNX Runtime names them: one for each code of ``OrtErrorCode``."""


class OrtHostError(Exception):
    """Base of all errors of this package.

    Attributes
    ----------
    code : int
        The ``OrtErrorCode``. An instance of the base class itself carries a code that the ABI does not list.
    """

    code = 0


class Fail(OrtHostError):
    """The operation could not be done; the message says why."""

    code = 1


class InvalidArgument(OrtHostError, ValueError):
    """The caller gave something wrong: a feed, a name, an option."""

    code = 2


class NoSuchFile(OrtHostError):
    """A model or a library does not exist or cannot be read."""

    code = 3


class NoModel(OrtHostError):
    """There is no model where one was expected."""

    code = 4


class EngineError(OrtHostError):
    """A library reported an error of its engine."""

    code = 5


class RuntimeException(OrtHostError):
    """A kernel or a library failed while it ran."""

    code = 6


class InvalidProtobuf(OrtHostError):
    """The bytes are not a model."""

    code = 7


class ModelLoaded(OrtHostError):
    """A library reported that a model is loaded already."""

    code = 8


class NotImplemented(OrtHostError):
    """Valid, and not supported in this version; the message names what is missing."""

    code = 9


class InvalidGraph(OrtHostError):
    """The model can be read and breaks a rule of ONNX."""

    code = 10


class EPFail(OrtHostError):
    """An execution provider failed."""

    code = 11


class ModelLoadCanceled(OrtHostError):
    """A library reported that loading was cancelled."""

    code = 12


class ModelRequiresCompilation(OrtHostError):
    """A library reported that the model has to be compiled first."""

    code = 13


class NotFound(OrtHostError):
    """Something that was asked for by name does not exist."""

    code = 14


class DeviceReset(OrtHostError):
    """A library reported that its device was reset."""

    code = 15


BY_CODE = {error.code: error for error in OrtHostError.__subclasses__()}
