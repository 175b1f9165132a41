#!/usr/bin/env bash
# Shows that a release build is hardened as engine/SECURITY.md says: how its programs and its shared
# library are linked, and what the library takes from the system.
# Usage: hardening.sh BIN-DIRECTORY SHARED-LIBRARY. Exits 1 when a line of the checklist does not
# hold.
set -u
bin=$1 library=$2
failed=0
check() { # what, whether it holds
    if [ "$2" = yes ]; then
        echo "ok    $1"
    else
        echo "FAIL  $1"
        failed=1
    fi
}
has() { if readelf -W "$2" "$3" 2>/dev/null | grep -qE "$1"; then echo yes; else echo no; fi; }
lacks() { if [ "$(has "$@")" = no ]; then echo yes; else echo no; fi; }

for file in "$bin"/kv-shell "$bin"/kv-bench "$library"; do
    name=$(basename "$file")
    case $file in
    "$library") check "$name: at any address" "$(has 'Type: +DYN' -h "$file")" ;;
    *) check "$name: at any address (PIE)" "$(has 'FLAGS_1.* PIE' -d "$file")" ;;
    esac
    check "$name: relocations are read-only (RELRO)" "$(has 'GNU_RELRO' -l "$file")"
    check "$name: and made before it runs (BIND_NOW)" "$(has 'FLAGS.* NOW|BIND_NOW' -d "$file")"
    check "$name: no code on the stack" "$(has 'GNU_STACK .* RW +0x' -l "$file")"
    check "$name: no memory that is written and executed" "$(lacks ' (LOAD|GNU_STACK) .* RWE ' -l "$file")"
    check "$name: no relocations in code" "$(lacks 'TEXTREL' -d "$file")"
    check "$name: libraries from the system's places alone" "$(lacks 'RPATH|RUNPATH' -d "$file")"
    check "$name: stack protector" "$(has 'UND +__stack_chk_fail' --dyn-syms "$file")"
    check "$name: checked functions (FORTIFY)" "$(has 'UND +__[a-z]+_chk@' --dyn-syms "$file")"
done

# What the library never calls: the environment, other programs, functions without a bound, output
# and ends of the process.
for group in "environment:getenv|secure_getenv|environ|setenv|putenv" "other programs:system|popen|exec[lv][a-z]*|fork|vfork|posix_spawn[a-z]*|dlopen" \
    "names that others foresee:mktemp|tmpnam|tempnam|tmpfile" "no bound:gets|strcpy|strcat|sprintf|vsprintf|(__)?isoc99_[a-z]*scanf|alloca" \
    "prints:printf|__printf_chk|puts|putchar|fprintf|__fprintf_chk|perror|syslog|stdout|stderr" "ends the process:exit|_exit|_Exit|quick_exit|__assert_fail" \
    "makes a file readable to others:umask|chmod|fchmod|chown|fchown"; do
    found=$(readelf -W --dyn-syms "$library" | grep -oE " UND (${group#*:})@[^ ]*" | sort -u | tr -d '\n')
    check "$(basename "$library"): ${group%%:*}: nothing${found:+ but$found}" "$([ -z "$found" ] && echo yes || echo no)"
done
exit $failed
