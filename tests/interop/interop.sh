#!/usr/bin/env bash
# Petal and a real HBase give the same answers from the same tables, whoever wrote their files and
# how.
# Usage: interop.sh BUILD. Needs Java 11 or newer and Maven, which fetches HBase; prints SKIPPED
# without them. INTEROP_CASES=60 is the number of tables that each side writes, INTEROP_LIVE=6 that
# of a whole HBase, PETAL_SEED their choice. The results stay in BUILD/interop.
#
# (a) Petal writes tables under every codec, encoding and Bloom type; HBase bulk-loads them, with
#     every check it has, and both are asked the same.
# (b) HBase writes, flushes and compacts; Petal imports the files, and a snapshot.
# (c) Petal imports the result of HBase's major compaction of Petal's files.
# (d) Tables of a whole HBase split, merge, delete, compact, and are cloned; Petal imports snapshots
#     with split regions, and the tables' folders, and HBase's clone gives the same answers.
# Finally both read and write INTEROP_CELLS=500000 cells (0: none) of rows of 16 and values of 100
# bytes, LZ4 and ROW.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=$(cd "$1" && pwd)
for tool in java javac mvn; do
    command -v $tool >/dev/null || { echo "SKIPPED: interop: there is no $tool"; exit 0; }
done
work=$build/interop
seed=${PETAL_SEED:-$(date +%s)}
cases=${INTEROP_CASES:-60}
live=${INTEROP_LIVE:-6}
jars=$work/jars
rm -rf "$work/cases" "$work/classes"
mkdir -p "$work/classes" "$work/cases" "$jars"
if [ ! -f "$jars/complete" ]; then
    mvn -q -B -f tests/interop/pom.xml dependency:copy-dependencies -DoutputDirectory="$jars" >"$work/maven.log" 2>&1 ||
        { tail -n 5 "$work/maven.log"; echo "SKIPPED: interop: Maven could not bring HBase"; exit 0; }
    touch "$jars/complete"
fi
javac -cp "$jars/*" -d "$work/classes" tests/interop/*.java || exit 1
options=(-Xmx1g -Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true --add-modules jdk.unsupported)
for package in java.nio sun.nio.ch java.lang jdk.internal.ref java.lang.reflect java.util java.util.concurrent java.io java.net; do
    options+=(--add-opens "java.base/$package=ALL-UNNAMED")
done
options+=(--add-exports java.base/jdk.internal.misc=ALL-UNNAMED --add-exports java.security.jgss/sun.security.krb5=ALL-UNNAMED)
hbase() { java "${options[@]}" -cp "$work/classes:tests/interop:$jars/*" Interop "$@" 2>>"$work/hbase.log"; }

failed=0
# Each case has the same two files.
compare() {
    local one=$1 other=$2 name different=0 questions=0
    shift 2
    for name in "$@"; do
        questions=$((questions + $(wc -l <"$name/questions")))
        cmp -s "$name/$one" "$name/$other" && continue
        different=$((different + 1))
        echo "FAIL  $name: $one and $other differ:"
        diff "$name/$one" "$name/$other" | head -n 5
    done
    echo "$one and $other: $# tables, $questions questions, $different differ"
    failed=$((failed + different))
}
names() { for ((i = 1; i <= $2; i++)); do echo "$work/cases/$1$i"; done; }
run() { "$@" || { echo "FAIL  $1 $2"; failed=$((failed + 1)); }; }

: >"$work/hbase.log"
mapfile -t ours < <(names petal "$cases")
mapfile -t theirs < <(names hbase "$cases")
mapfile -t lives < <(names live "$live")
run "$build/interop/petal" make "$seed" "${ours[@]}"
run hbase load "${ours[@]}"
compare petal.answers hbase.answers "${ours[@]}"
run "$build/interop/petal" answer compacted petal.compacted "${ours[@]}"
compare petal.compacted hbase.compacted "${ours[@]}"
run hbase write "$seed" "${theirs[@]}"
run "$build/interop/petal" answer hfiles petal.answers "${theirs[@]}"
compare petal.answers hbase.answers "${theirs[@]}"
run "$build/interop/petal" answer snapshot petal.snapshot "${theirs[@]}"
compare petal.snapshot hbase.answers "${theirs[@]}"
if [ "$live" != 0 ]; then
    run hbase live "$seed" "${lives[@]}"
    for place in snapshot settled; do
        run "$build/interop/petal" answer $place petal.$place "${lives[@]}"
        compare petal.$place hbase.answers "${lives[@]}"
    done
fi
if [ "${INTEROP_CELLS:-500000}" != 0 ]; then
    run "$build/interop/petal" speed "${INTEROP_CELLS:-500000}" "$work/cases/speed"
    run hbase speed "$work"/cases/speed/hfiles0/f/*
    rm -rf "$work/cases/speed"
fi
warned=$(grep -c -i checksum "$work/hbase.log")
echo "counted: interop, seed $seed: $((2 * cases + live)) tables; $warned warnings of checksums"
[ "$failed" = 0 ] && [ "$warned" = 0 ]
