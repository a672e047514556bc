"""What goes between this process and that of an engine: plain values, arrays, and the records of this package.

A message is one frame: its sizes, a JSON text, then the bytes of every array as they lie in memory. Nothing is pickled,
so that interpreters and numpy versions may differ, and neither side runs what the other sends.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import struct
import time
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any, Final

import numpy as np

_PACKAGE: Final = __name__.rpartition(".harness.")[0]
_HEAD: Final = struct.Struct("<QI")  # bytes of JSON, number of arrays
_SIZE: Final = struct.Struct("<Q")
_CHUNK: Final = 1 << 20


class Closed(Exception):
    """The other side has gone."""


class Late(Exception):
    """Nothing came in time."""


def encode(value: Any) -> list[bytes | memoryview]:
    """Return the pieces of one frame.

    Raises:
        TypeError: the value holds something that is no plain value, array or record of this package.
    """
    arrays: list[np.ndarray[Any, Any]] = []
    text = json.dumps(_packed(value, arrays)).encode()
    buffers = [array.reshape(-1).view(np.uint8).data if array.size else b"" for array in arrays]
    sizes = b"".join(_SIZE.pack(len(buffer)) for buffer in buffers)
    return [_HEAD.pack(len(text), len(buffers)) + sizes + text, *buffers]


def decode(text: bytes, buffers: list[memoryview]) -> Any:
    """Return the value of a frame.

    Raises:
        ValueError: it names something that is no record of this package.
    """
    return _unpacked(json.loads(text), buffers)


def send(descriptor: int, value: Any, deadline: float | None = None) -> None:
    """Write one frame.

    Args:
        descriptor: to write to.
        value: see `encode`.
        deadline: on the clock of `time.monotonic`, or None to wait forever.

    Raises:
        Closed: nobody reads any more.
        Late: nobody read in time.
    """
    pieces = encode(value)
    if sum(map(len, pieces)) <= _CHUNK:
        pieces = [b"".join(pieces)]  # one write for most questions
    for piece in pieces:
        view = memoryview(piece)
        while view:
            _wait(descriptor, deadline, write=True)
            try:
                view = view[os.write(descriptor, view[:_CHUNK]) :]
            except BrokenPipeError:
                raise Closed from None


def receive(descriptor: int, deadline: float | None = None) -> Any:
    """Read one frame; arguments and errors as for `send`."""
    length, count = _HEAD.unpack(_read(descriptor, _HEAD.size, deadline))
    head = _read(descriptor, count * _SIZE.size + length, deadline)
    sizes = [_SIZE.unpack_from(head, k * _SIZE.size)[0] for k in range(count)]
    whole = memoryview(_read(descriptor, sum(sizes), deadline))
    ends = np.cumsum([0, *sizes]).tolist()
    buffers = [whole[a:b] for a, b in itertools.pairwise(ends)]
    return decode(bytes(head[count * _SIZE.size :]), buffers)


def _read(descriptor: int, size: int, deadline: float | None) -> bytearray:
    """Return exactly so many bytes."""
    buffer = bytearray(size)
    view = memoryview(buffer)
    while view:
        _wait(descriptor, deadline, write=False)
        count = os.readv(descriptor, [view[:_CHUNK]])
        if not count:
            raise Closed
        view = view[count:]
    return buffer


def _wait(descriptor: int, deadline: float | None, *, write: bool) -> None:
    """Wait until the descriptor is ready."""
    if deadline is None:
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT if write else select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1e3):
        raise Late


def _packed(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """Return a value in the types of JSON; what JSON has not is an object with one key that begins with $."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Enum):
        return {"$enum": [_name(type(value)), value.value]}
    if isinstance(value, np.ndarray):
        arrays.append(np.ascontiguousarray(value))
        return {"$array": [len(arrays) - 1, value.dtype.str, list(value.shape)]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list):
        return [_packed(item, arrays) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [_packed(item, arrays) for item in value]}
    if isinstance(value, Mapping):
        return {"$map": [[_packed(k, arrays), _packed(v, arrays)] for k, v in value.items()]}
    if is_dataclass(value) and not isinstance(value, type):
        held = {f.name: _packed(getattr(value, f.name), arrays) for f in fields(value) if f.init}
        return {"$record": [_name(type(value)), held]}
    raise TypeError(f"a {type(value).__name__} cannot be sent to another process")


def _name(cls: type[Any]) -> str:
    """Return module and name of a class of this package, the package's own name left out."""
    module = cls.__module__
    if not module.startswith(_PACKAGE + "."):
        raise TypeError(f"a {cls.__name__} of {module} cannot be sent to another process")
    return f"{module[len(_PACKAGE) :]}:{cls.__name__}"


def _class(name: str) -> Any:
    """Return a record or an enumeration of this package by its name."""
    module, _, attribute = name.partition(":")
    if not module.startswith((".harness.", ".adapters.")):
        raise ValueError(f"{name!r} is no record of this package")
    found = getattr(import_module(_PACKAGE + module), attribute)
    if not (is_dataclass(found) or (isinstance(found, type) and issubclass(found, Enum))):
        raise ValueError(f"{name!r} is no record of this package")
    return found


def _unpacked(value: Any, buffers: list[memoryview]) -> Any:
    """Return the value that `_packed` was given."""
    if isinstance(value, list):
        return [_unpacked(item, buffers) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, held),) = value.items()
    if tag == "$array":
        index, dtype, shape = held
        return np.frombuffer(buffers[index], np.dtype(dtype)).reshape(shape)
    if tag == "$tuple":
        return tuple(_unpacked(item, buffers) for item in held)
    if tag == "$map":
        return {_unpacked(k, buffers): _unpacked(v, buffers) for k, v in held}
    if tag == "$enum":
        return _class(held[0])(held[1])
    name, parts = held
    return _class(name)(**{key: _unpacked(part, buffers) for key, part in parts.items()})
