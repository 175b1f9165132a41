#!/bin/sh
# first_steps_test.sh KV-SHELL -- the program at the beginning of petal.h compiles as C11 and as
# C++17, and prints the value it put; the contents after it name each section of the header in
# order. libpetal.a is in the folder of kv-shell.
set -u
build=$(dirname "$(realpath "${1:?usage: first_steps_test.sh KV-SHELL}")")
root=$(realpath "$(dirname "$0")/../..")
. "$root/tests/support/expect.sh"
cd "$scratch" || exit 1

sed -n '/ FIRST STEPS\./,/ CONTENTS\./s/^ \*     //p' "$root/engine/petal.h" >first.c
libraries="$build/libpetal.a -llz4 -lxxhash -lpcre2-8 -lm -pthread ${SANITIZE:-}"
# shellcheck disable=SC2086
expect 'as C' 0 '^0$' sh -c "${CC:-cc} -std=c11 -Wall -Wextra -Werror -I'$root/engine' first.c $libraries -o first; echo \$?"
for run in first second; do
    expect "the $run run" 0 '^blue$' ./first
done
expect 'as C++' 0 '^0$' sh -c "${CXX:-g++} -std=c++17 -Wall -Wextra -Werror -I'$root/engine' -fsyntax-only -x c++ first.c; echo \$?"
sed -n 's,^/\* ---- \(.*[^-]\) -----*- \*/$,\1,p' "$root/engine/petal.h" | sed 's/:.*//' >sections
sed -n '/ CONTENTS\./,/ THE MODEL\./s/^ \*     \(.*[^ ]\)   *petal_.*$/\1/p; / CONTENTS\./,/ THE MODEL\./s/^ \*     \(Version\|Status\|Caveats\).*/&/p' "$root/engine/petal.h" |
    sed 's/^ \*     //; s/   .*//' >listed
same 'the contents' listed <sections
expect_end
