#!/usr/bin/env bash
# Installs the files of a build as they are, whatever build it is, without root and without
# ldconfig; what installing writes into its build goes elsewhere.
# Usage: put_build.sh BUILD PREFIX SCRATCH
set -eu
build=$(realpath "$1") prefix=$2 scratch=$3
mkdir -p "$scratch/installed"
for file in "$build"/*; do
    # These it makes itself.
    case ${file##*/} in *.pc | *.cmake | installed-directories) continue ;; esac
    ln -sfn "$file" "$scratch/installed/${file##*/}"
done
version=$(sed -nE 's/^#define PETAL_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' engine/petal.h | paste -sd.)
BUILD=$scratch/installed VERSION=$version SONAME=libpetal.so.${version%%.*} LDCONFIG=true PREFIX=$prefix BINDIR=$prefix/bin \
    LIBDIR=$prefix/lib INCLUDEDIR=$prefix/include MANDIR=$prefix/share/man HFILE_NEEDS=${HFILE_NEEDS:-} STRIP=true \
    tools/package/install.sh install >"$scratch/install.log" 2>&1 || { cat "$scratch/install.log" && exit 1; }
