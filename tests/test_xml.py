"""Reading files and XML: what is refused, and where."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from urdf_texts import GOOD, refusal

from tautology.harness.errors import ReadError
from tautology.harness.importers.urdf import read_urdf

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"", 0, "empty"),
        (b" \n\n\t", 0, "empty"),
        (b"solid part\nfacet normal 0 0 1", 1, "XML"),
        (bytes(range(256)), 1, "XML"),
        (GOOD[: GOOD.index("0.03 0.05")].encode(), 5, "ends inside a tag"),
        (GOOD[: GOOD.index("    <mass")].encode(), 6, "ends before"),
        (GOOD.replace("</inertial>", "</inertia>").encode(), 8, "mismatched tag"),
        (GOOD.replace(' type="revolute"', ' type="revolute" type="fixed"').encode(), 11, "duplicate attribute"),
        ((GOOD + GOOD).encode(), 24, "follows the root"),
        (GOOD.replace('"piece"', '"&piece;"').encode(), 10, "undefined entity"),
        (GOOD.encode().replace(b"good", b"g\xf6\xf6d"), 1, "character"),
        (GOOD.encode().replace(b"good", b"g\x00d"), 1, "character"),
        (b'<?xml version="1.0" encoding="klingon"?>' + GOOD.encode(), 1, "klingon UTF-8"),
        (b'<?xml version="1.0" encoding="gb18030"?>' + GOOD.encode(), 1, "encoding UTF-8"),
        (b'<?xml version="1.0" encoding="hex"?>' + GOOD.encode(), 1, "hex UTF-8"),
    ],
    ids=[
        *(
            "empty",
            "blank",
            "a mesh",
            "all bytes",
            "cut inside a tag",
            "cut between tags",
            "crossed tags",
            "attribute twice",
        ),
        *("two roots", "entity", "wrong encoding", "zero byte", "unknown encoding", "multi-byte encoding", "codec"),
    ],
)
def test_what_is_no_xml_is_refused_with_its_line(data: bytes, line: int, words: str) -> None:
    """Empty, truncated, crossed, in an encoding that nobody reads."""
    error = refusal(data)
    assert (error.source.line, error.where, error.kind) == (line, None, "refused.malformed")
    for word in words.split():
        assert word in str(error)


BOMB = "".join(f'<!ENTITY a{i + 1} "{10 * f"&a{i};"}">' for i in range(9))


@pytest.mark.parametrize(
    "declaration",
    [
        "<!DOCTYPE robot>",
        f'<!DOCTYPE robot [<!ENTITY a0 "plinth">{BOMB}]>',
        '<!DOCTYPE robot [<!ENTITY a9 SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE robot SYSTEM "http://localhost:1/robot.dtd">',
        '<!DOCTYPE robot [<!ENTITY % more SYSTEM "http://localhost:1/more"> %more;]>',
    ],
    ids=["bare", "bomb", "external entity", "external type", "parameter entity"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
def test_document_types_are_refused_before_anything_is_expanded(declaration: str, encoding: str) -> None:
    """In every encoding that is read, in text and in attributes; nothing is expanded, opened or fetched."""
    text = f"<!-- first -->\n\n{declaration}\n" + GOOD.replace('"good"', '"&a9;"')
    error = refusal(text.encode(encoding))
    assert (error.source.line, error.kind) == (3, "refused.malformed")
    assert "DOCTYPE" in str(error)
    assert "plinth" not in str(error)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gone.urdf", "no such file"),
        (".", "directory"),
        ("broken link.urdf", "no such file"),
        ("pipe.urdf", "no regular file"),
        ("file.txt/robot.urdf", "Not a directory"),
        ("zero\0.urdf", "null"),
    ],
)
def test_what_is_no_file_is_refused(tmp_path: Path, name: str, words: str) -> None:
    """Missing, a directory, a pipe that would wait for ever; the message begins with the path as it was given."""
    (tmp_path / "broken link.urdf").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file.txt").touch()
    os.mkfifo(tmp_path / "pipe.urdf")
    path = f"{tmp_path}/{name}"
    with pytest.raises(ReadError, match=words) as caught:
        read_urdf(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert caught.value.source.file == path


def test_unreadable_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is the system's; the superuser may read everything, so the refusal is played."""
    path = tmp_path / "locked.urdf"
    path.write_text(GOOD)

    def locked(*_arguments: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", locked)
    with pytest.raises(ReadError, match=r"locked\.urdf: the file cannot be read: Permission denied"):
        read_urdf(path)
