"""Petal as a Conan 2 package, built from this tree: see README.md one folder above."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, load

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")


class Petal(ConanFile):
    name = "petal"
    description = "Embedded store with HBase's data model"
    topics = ("database", "embedded", "key-value", "bloom-filter", "hbase")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        # LZ4, xxHash and PCRE2 of the system, instead of Conan's packages.
        "system_libraries": [True, False],
    }
    default_options = {"shared": False, "system_libraries": False}

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, ROOT, "engine", "petal.h"))
        numbers = re.findall(r"#define PETAL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        self.version = ".".join(numbers)

    def export_sources(self):
        for folder in ("base", "bloom", "cache", "engine", "memtable", "sstable", "tools"):
            copy(self, folder + "/*", src=ROOT, dst=self.export_sources_folder)
        for file in ("Makefile", "LICENSE", "README.md"):
            copy(self, file, src=ROOT, dst=self.export_sources_folder)
        # The Makefile searches tests/ when it is read.
        os.makedirs(os.path.join(self.export_sources_folder, "tests"), exist_ok=True)

    def configure(self):
        self.settings.rm_safe("compiler.libcxx")
        self.settings.rm_safe("compiler.cppstd")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Petal runs on Linux")
        if self.settings.get_safe("arch") in ("x86", "armv7", "armv7hf"):
            raise ConanInvalidConfiguration("Petal wants a 64-bit system")

    def requirements(self):
        if not self.options.system_libraries:
            self.requires("lz4/[>=1.9 <2]")
            self.requires("xxhash/[>=0.8 <1]")
            self.requires("pcre2/[>=10.32 <11]")

    def _paths(self, member, flag):
        return " ".join(
            flag + place
            for dependency in self.dependencies.host.values()
            for place in getattr(dependency.cpp_info.aggregated_components(), member)
        )

    def _make(self, target):
        settings = {
            "RELEASE": "1",
            "CPPFLAGS": self._paths("includedirs", "-I"),
            "LDFLAGS": self._paths("libdirs", "-L"),
        }
        compiler = self.conf.get("tools.build:compiler_executables", default={}).get("c")
        if compiler:
            settings["CC"] = compiler
        # In the environment, so that the Makefile can extend them.
        environment = " ".join("%s='%s'" % pair for pair in settings.items() if pair[1])
        self.run("%s make BUILD=build -j%d %s" % (environment, os.cpu_count() or 1, target), cwd=self.build_folder)

    def build(self):
        form = "so" if self.options.shared else "a"
        self._make("build/libpetal.%s build/libpetal-bloom.%s" % (form, form))

    def package(self):
        for header in ("engine/petal.h", "bloom/petal_bloom.h"):
            copy(self, os.path.basename(header), src=os.path.join(self.build_folder, os.path.dirname(header)),
                 dst=os.path.join(self.package_folder, "include"))
        for library in ("libpetal", "libpetal-bloom"):
            copy(self, library + (".so*" if self.options.shared else ".a"), src=os.path.join(self.build_folder, "build"),
                 dst=os.path.join(self.package_folder, "lib"))
        copy(self, "LICENSE", src=self.build_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "petal")
        needs = {"petal": ["lz4", "xxhash", "pcre2"], "bloom": ["xxhash"]}
        for name, library in (("petal", "petal"), ("bloom", "petal-bloom")):
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", "Petal::" + name)
            component.set_property("pkg_config_name", library)
            component.libs = [library]
            component.system_libs = ["m", "pthread"]
            if not self.options.system_libraries:
                component.requires = ["%s::%s" % (need, need) for need in needs[name]]
            elif not self.options.shared:
                component.system_libs += [need.replace("pcre2", "pcre2-8") for need in needs[name]]
