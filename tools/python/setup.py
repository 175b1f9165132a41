"""Builds the wheel; build_native.py makes its extension module, README.md tells how."""

import glob
import os
import re
import shutil
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import build_native  # noqa: E402


def version():
    with open(os.path.join(build_native.ROOT, "engine", "petal.h")) as header:
        numbers = dict(re.findall(r"#define PETAL_VERSION_(\w+) (\d+)", header.read()))
    return "%(MAJOR)s.%(MINOR)s.%(PATCH)s" % numbers


class build_with_licenses(build_py):
    """Adds the licenses of what the extension module holds, where the system has them."""

    def run(self):
        super().run()
        folder = os.path.join(self.build_lib, "petal", "licenses")
        self.mkpath(folder)
        shutil.copyfile(os.path.join(build_native.ROOT, "LICENSE"), os.path.join(folder, "petal"))
        for name in build_native.LIBRARIES if build_native.static() else ():
            for text in glob.glob("/usr/share/doc/lib%s-dev/copyright" % name.replace("-8", "")):
                shutil.copyfile(text, os.path.join(folder, name))


setup(
    version=version(),
    cffi_modules=["build_native.py:make_builder"],
    cmdclass={"build_py": build_with_licenses},
    # cffi's module uses the limited API: one wheel serves all later versions.
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
    zip_safe=False,
)
