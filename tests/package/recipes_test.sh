#!/usr/bin/env bash
# The recipes for vcpkg and Conan: the port's own steps, with what is built here in the place of
# vcpkg's call of make, give a package that CMake finds and that a program runs with; Conan reads
# its recipe and takes the sources.
# Usage: recipes_test.sh KV-SHELL
set -eu
build=$(realpath "$(dirname "${1:?usage: recipes_test.sh KV-SHELL}")")
if [ -n "${SANITIZE:-}" ]; then
    echo "left out: a library with sanitizers is not packaged"
    exit 0
fi
unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS CXXFLAGS LDFLAGS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "recipes_test: $*"
    exit 1
}
run() { "$@" >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log" && fail "$*"; }; }
version=$(sed -nE 's/^#define PETAL_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' engine/petal.h | paste -sd.)
grep -q "\"version\": \"$version\"" tools/package/vcpkg/petal/vcpkg.json || fail "vcpkg.json is not of version $version"

if command -v cmake >/dev/null; then
    cat >"$scratch/vcpkg.cmake" <<'END'
function(vcpkg_execute_required_process)
    cmake_parse_arguments(PARSE_ARGV 0 asked "" "WORKING_DIRECTORY;LOGNAME" "COMMAND")
    list(JOIN asked_COMMAND " " words)
    if(NOT words MATCHES "BUILD=([^ ]+).* [^ ]+/libpetal-bloom\\.(so|a) ([^ ]+/libpetal\\.(so|a))$" OR NOT EXISTS "${asked_WORKING_DIRECTORY}/Makefile")
        message(FATAL_ERROR "the port calls ${words} in ${asked_WORKING_DIRECTORY}")
    endif()
    file(GLOB built "${BUILT}/libpetal.${CMAKE_MATCH_2}*" "${BUILT}/libpetal-bloom.${CMAKE_MATCH_2}*")
    file(COPY ${built} DESTINATION "${CMAKE_MATCH_1}")
endfunction()
set(PORT petal)
set(TARGET_TRIPLET x64-linux)
include("${PORTFILE}")
END
    for linkage in dynamic static; do
        run cmake -DBUILT="$build" -DPORTFILE="$PWD/tools/package/vcpkg/petal/portfile.cmake" -DVCPKG_LIBRARY_LINKAGE=$linkage \
            -DCURRENT_BUILDTREES_DIR="$scratch/trees-$linkage" -DCURRENT_INSTALLED_DIR="$scratch/installed" \
            -DCURRENT_PACKAGES_DIR="$scratch/$linkage" -P "$scratch/vcpkg.cmake"
        mkdir "$scratch/project"
        cat >"$scratch/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(store C CXX)
find_package(petal CONFIG REQUIRED)
add_executable(store $PWD/tests/package/projects/store.c)
target_link_libraries(store PRIVATE Petal::petal)
set(CMAKE_CXX_STANDARD 17)
add_executable(seen $PWD/tests/package/projects/seen.cpp)
target_link_libraries(seen PRIVATE Petal::bloom)
END
        run cmake -S "$scratch/project" -B "$scratch/project/build" -Dpetal_DIR="$scratch/$linkage/share/petal"
        run cmake --build "$scratch/project/build"
        [ "$("$scratch/project/build/store" "$scratch/db-$linkage")" = "name = Ada" ] || fail "a program with the $linkage package does not run"
        [ "$("$scratch/project/build/seen")" = "Ada: seen" ] || fail "a program with the $linkage package's sets does not run"
        [ -s "$scratch/$linkage/share/petal/copyright" ] && [ -e "$scratch/$linkage/debug/lib" ] || fail "the $linkage package is not whole"
        rm -rf "$scratch/project"
    done
else
    echo "SKIPPED: vcpkg's port (there is no cmake, which runs it)"
fi

if command -v conan >/dev/null; then
    export CONAN_HOME=$scratch/conan
    run conan profile detect
    run conan export tools/package/conan
    grep -q "petal/$version" "$scratch/log" || { cat "$scratch/log" && fail "Conan exports another version than $version"; }
else
    echo "SKIPPED: Conan's recipe (there is no conan)"
fi
echo "vcpkg's port and Conan's recipe are of version $version"
