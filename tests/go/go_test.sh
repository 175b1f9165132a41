#!/usr/bin/env bash
# Vets the Go module (tools/go) and runs its tests and examples.
# Usage: go_test.sh BUILD/kv-shell [FLAG..]   the library is the one next to the tool; flags are go test's, such as -race
set -eu
build=$(cd "$(dirname "$1")" && pwd)
shift
if ! command -v go >/dev/null; then echo "SKIPPED: go is not installed"; exit 0; fi
if [ -n "${SANITIZE:-}" ]; then echo "SKIPPED: Go links no library built with $SANITIZE"; exit 0; fi
cd "$(dirname "$0")/../../tools/go"
# Go does not see that an archive has changed; a flag with its checksum makes it link anew.
export GOCACHE=$build/go-cache GOFLAGS=-buildvcs=false GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=1 \
    CGO_CFLAGS="-O2 -I$PWD/../../engine -DLIBRARY=$(cksum <"$build/libpetal.a" | tr ' ' _)" \
    CGO_LDFLAGS="$build/libpetal.a -llz4 -lxxhash -lpcre2-8 -lm -pthread"
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted"; exit 1; }
go vet -tags petal_given .
go test -tags petal_given "$@" .
