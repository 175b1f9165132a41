#!/usr/bin/env bash
# Vets the Go module (tools/go), runs its tests and examples, and README.md's program from a module of its own.
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

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sed -n '/^```go$/,/^```$/{/^```/!p}' README.md >"$scratch/main.go"
printf 'module example\n\ngo 1.19\n\nrequire petal v0.0.0\n\nreplace petal => %s\n' "$PWD" >"$scratch/go.mod"
cd "$scratch"
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "gofmt would change the program of README.md"; exit 1; }
go vet -tags petal_given .
go build -tags petal_given -o program . 2>"$scratch/log" || { cat "$scratch/log" && exit 1; } # gcc warns of Go's own code
expected=$'too little\nann 10\nbob 190\nlog to bob 30'
for turn in new again; do
    printed=$(./program)
    [ "$printed" = "$expected" ] || { echo "README.md's program prints, $turn: $printed"; exit 1; }
done
