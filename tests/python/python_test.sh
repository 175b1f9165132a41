#!/usr/bin/env bash
# The Python package: its tests by pytest; the wheel's contents; README.md's programs in a fresh
# virtual environment that has the wheel. Usage: python_test.sh KV-SHELL (of its folder the objects
# are taken). PYTHON names the interpreter.
set -eu
build=$(cd "$(dirname "${1:?usage: python_test.sh KV-SHELL}")" && pwd)
if [ -n "${SANITIZE:-}" ]; then
    echo "left out: Python would load a library with sanitizers"
    exit 0
fi
unset MAKEFLAGS MFLAGS MAKELEVEL PYTHONPATH PETAL_SHARED
export PYTHONDONTWRITEBYTECODE=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "python_test: $*"
    exit 1
}

# An interpreter that has what is needed, if possible for the wheel, too.
python= missing=
for candidate in ${PYTHON:-python3 /usr/bin/python3}; do
    command -v "$candidate" >/dev/null || continue
    lacks=$("$candidate" -c '
from importlib.util import find_spec
print(*[name for name in ("cffi", "pytest", "setuptools", "wheel", "ensurepip") if not find_spec(name)])')
    case " $lacks " in *" cffi "* | *" pytest "*) missing=$lacks && continue ;; esac
    if [ -z "$python" ] || [ -z "$lacks" ]; then python=$candidate python_lacks=$lacks; fi
    [ -n "$lacks" ] || break
done
if [ -z "$python" ]; then
    echo "SKIPPED: tests/python (there is no python3 with cffi and pytest: make deps; missing: ${missing:-python3})"
    exit 0
fi

rm -f "$build/python/built"
make --no-print-directory BUILD="$build" PYTHON="$python" python >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log" && fail "make python"; }
PYTHONPATH=$build/python "$python" -X faulthandler -m pytest -q -p no:cacheprovider --basetemp="$scratch/pytest" tests/python >"$scratch/log" 2>&1 ||
    { tail -n 60 "$scratch/log" && fail "pytest"; }
echo "counted: tests/python, $(tail -n 1 "$scratch/log")"

if [ -n "$python_lacks" ]; then
    echo "SKIPPED: the wheel of tests/python ($python lacks $python_lacks: make deps)"
    exit 0
fi
cp -r tools/python "$scratch/source"
root=$PWD
(cd "$scratch/source" && PETAL_ROOT=$root PETAL_BUILD=$build "$python" setup.py -q bdist_wheel -d "$scratch" >"$scratch/log" 2>&1) ||
    { tail -n 40 "$scratch/log" && fail "setup.py bdist_wheel"; }
wheel=$(echo "$scratch"/petal-*-abi3-*.whl)
[ -e "$wheel" ] || fail "there is no wheel"
"$python" -m zipfile -e "$wheel" "$scratch/wheel"
for file in __init__.py py.typed _native.pyi _native.abi3.so; do
    [ -e "$scratch/wheel/petal/$file" ] || fail "the wheel lacks petal/$file"
done
module=$scratch/wheel/petal/_native.abi3.so
needed=$(readelf -d "$module" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|libpthread|ld-linux.*)\.so\.' || true)
[ -z "$needed" ] || fail "the wheel needs $needed"
names=$(nm -D --defined-only "$module" | awk '{ print $NF }')
[ "$names" = PyInit__native ] || fail "the wheel's module gives away $names"

# cffi is the interpreter's own, so no network is needed.
"$python" -m venv --system-site-packages "$scratch/env"
"$scratch/env/bin/python" -m pip install -q --no-index --no-deps --disable-pip-version-check "$wheel" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" && fail "pip install"; }
mkdir "$scratch/here"
"$scratch/env/bin/python" tests/python/readme.py tools/python/README.md "$scratch/here" >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "README.md"; }
grep -q "^README: .*$scratch/env/" "$scratch/log" || { cat "$scratch/log" && fail "another petal than the wheel's"; }
