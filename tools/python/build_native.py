"""Builds petal._native: the library and its binding as one extension module, by cffi's API mode.

The declarations are those of engine/petal.h and native/native.h, as the C compiler reads them, so
Python and the library cannot disagree on a layout, a number or a name.

PETAL_BUILD is the folder of the build to take the objects from; `make python` and `make wheel` set
it. Without it setup.py makes a release build.
"""

import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))
# The checkout. PETAL_ROOT: this folder is a copy of the one in there.
ROOT = os.environ.get("PETAL_ROOT") or os.path.dirname(os.path.dirname(HERE))
HEADER = "tools/python/native/native.h"
COMPILER = shlex.split(os.environ.get("CC", "cc"))

# What libpetal stands on.
LIBRARIES = ("lz4", "xxhash", "pcre2-8")

# A macro that is a number: 10, (1u << 20), INT64_MAX.
NUMBER = re.compile(r"#define ((?:PETAL|PY)_\w+) (?:\(?\d.*|U?INT\d*_MAX|SIZE_MAX)$")


def preprocess(*options):
    """The header after the preprocessor, without what the system's headers declare: cffi knows
    their types. The attributes are for compilers that define __GNUC__."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            open(os.path.join(empty, name), "w").close()
        command = COMPILER + ["-E", "-P", "-U__GNUC__", "-nostdinc", "-I" + empty, "-I" + ROOT]
        return subprocess.run(
            command + list(options) + ["-x", "c", os.path.join(ROOT, HEADER)],
            check=True, stdout=subprocess.PIPE, universal_newlines=True,
        ).stdout


def declarations():
    """What cffi is told."""
    numbers = [NUMBER.match(line) for line in preprocess("-dM").splitlines()]
    defines = sorted("#define %s ..." % match.group(1) for match in numbers if match)
    return preprocess() + "\n".join(defines) + "\n"


def archive(name):
    """The archive of that library, or the name to link it by where there is none: then the module
    needs the shared one."""
    found = subprocess.run(
        COMPILER + ["-print-file-name=lib%s.a" % name],
        check=True, stdout=subprocess.PIPE, universal_newlines=True,
    ).stdout.strip()
    return found if os.path.isabs(found) and static() else "-l" + name


def static():
    """Does the module hold the libraries that Petal stands on?  PETAL_SHARED=1: no."""
    return os.environ.get("PETAL_SHARED", "") != "1"


def make_builder(link=("-Wl,--strip-debug",)):
    """cffi's description of the module, linked with these options besides."""
    build = os.environ.get("PETAL_BUILD") or release_build()
    objects = sorted(glob.glob(os.path.join(build, "tools", "python", "native", "*.o")))
    builder = cffi.FFI()
    builder.cdef(declarations())
    builder.set_source(
        "petal._native",
        '#include "%s"' % HEADER,
        include_dirs=[ROOT],
        extra_objects=objects + [os.path.join(build, "libpetal.a")],
        # The library's names stay inside: a program may have another Petal next to this one.
        extra_link_args=[archive(name) for name in LIBRARIES]
        + ["-lm", "-pthread", "-Wl,--exclude-libs,ALL"]
        + list(link),
    )
    return builder


def release_build():
    """Make a release build in the checkout; its folder."""
    folder = os.path.join(ROOT, "build", "release")
    subprocess.run(
        ["make", "-C", ROOT, "RELEASE=1", "BUILD=" + folder, "python-objects"], check=True
    )
    return folder


if __name__ == "__main__":
    # build_native.py FOLDER: compile petal/_native into the folder.
    make_builder(link=()).compile(tmpdir=sys.argv[1])
