"""Run the blocks of one page in the present folder, in order: `python page_runner.py PAGE`.

- Python blocks share one namespace, as in a session.
- A block after a line that begins with a name of a file in backquotes is that file.
- `sh` blocks are commands. They end with 0, or as a comment on their line says: `# exit 1`.
- `console` blocks are commands behind `$ `, and what they print; `...` on a line of its own stands for any lines.
  Numbers are not compared: they are those of one machine. Without a comment they end with 0 or 1, as what they print
  says: that all agree, or that something differs.
- `<!-- not run: REASON -->` on the line before a block leaves it out.
"""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(
    r"^(?P<fence>```+)(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL
)
REASON = re.compile(r"<!-- not run: (.*?) -->\s*\Z", re.DOTALL)
NAME = re.compile(r"^`([\w./-]+\.\w+)`[^\n]*:\s*\Z", re.MULTILINE)
EXIT = re.compile(r"#.*\bexit (\d)")
RUN = ("python", "sh", "bash", "console")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Attributes:
        line: of its fence.
        language: after the fence.
        text: inside.
        file: that it is written to; "" for one that is run.
        reason: why it is not run; None for one that is.
    """

    line: int
    language: str
    text: str
    file: str
    reason: str | None


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found = []
    for match in BLOCK.finditer(page):
        before = page[: match.start()]
        reason, name = REASON.search(before), NAME.search(before)
        found.append(
            Block(
                before.count("\n") + 1,
                match["language"],
                match["text"],
                name[1] if name else "",
                reason[1].strip() if reason else None,
            )
        )
    return found


def run(page: str) -> int:
    """Run all blocks that can run; return how many did.

    Raises:
        AssertionError: a command ended otherwise, or printed something else.
    """
    done, names = 0, {"__name__": "__main__"}
    for block in blocks(page):
        if block.reason is not None:
            continue
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            # The empty lines in front make the line numbers of a traceback those of the page.
            exec(compile("\n" * block.line + block.text, "page", "exec"), names)  # noqa: S102  a page of ours
        elif block.language == "console":
            _console(block)
        elif block.language in RUN:
            for line in block.text.replace("\\\n", "").splitlines():
                _command(line)
        else:
            continue
        done += 1
    return done


def _command(line: str, otherwise: tuple[int, ...] = (0,)) -> str:
    """Run a command that ends as its comment says, or else with one of some codes; return what it prints on stdout."""
    ran = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    match = EXIT.search(line)
    expected = (int(match[1]),) if match else otherwise
    assert ran.returncode in expected, f"{line}\nended with {ran.returncode}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def _console(block: Block) -> None:
    """Compare what the commands of a block print with what is shown."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        told, rest = _words(_command(command, (0, 1))), 0
        for piece in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE):
            words = _words(piece)
            place = next((i for i in range(rest, len(told) + 1) if told[i : i + len(words)] == words), None)
            assert place is not None, f"line {block.line}: {command} prints no\n{piece}\nafter word {rest} of\n{told}"
            rest = place + len(words)


def _words(text: str) -> list[str]:
    return re.sub(r"\d[\d.]*(e[+-]?\d+)?", "#", text).split()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    warnings.simplefilter("error")
    sys.stdout.write(f"{run(Path(sys.argv[1]).read_text(encoding='utf-8'))}\n")
