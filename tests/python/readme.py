"""Runs the Python of README.md, in a folder of its own: readme.py README FOLDER. A comment after
`print(...)` is what it prints."""

import contextlib
import io
import os
import re
import sys

with open(sys.argv[1], encoding="utf-8") as readme:
    program = "\n".join(re.findall(r"```python\n(.*?)```", readme.read(), re.S))
expected = re.findall(r"^ *print\(.*\)  # (.*)$", program, re.M)
assert len(expected) > 10
assert len(expected) == len(re.findall(r"\bprint\(", program)), "a print without its answer"
os.chdir(sys.argv[2])
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    exec(compile(program, sys.argv[1], "exec"), {})
if printed.getvalue().splitlines() != expected:
    sys.exit("README prints:\n%sand says:\n%s" % (printed.getvalue(), "\n".join(expected)))
import petal  # noqa: E402

print("README: %d answers by %s" % (len(expected), petal.__file__))
