"""Starts the mock service and offers what the scripts of all clients need."""

import contextlib
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = "Hello from the mock"
ARGUMENTS = {"path": "notes 你好.txt", "limit": 5}
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["path"],
}


@contextlib.contextmanager
def service():
    """The address of a running service; at the end, no request may have been refused."""
    command = ["cargo", "run", "--quiet", "--example", "mock_llm"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process.stdout.readline().strip()
        rest, _ = process.communicate("")
        assert not rest, rest


def same(what, found, expected):
    assert found == expected, f"{what}: {found!r} is not {expected!r}"
    print(f"  {what}: ok")
