#!/bin/sh
# loop_memory_test.sh KV-SHELL -- a loop needs the memory of one round, whatever its last statement
# is and however many rounds there are: each runs in an address space that has no room for what its
# rounds would leave behind.
set -u
export LC_ALL=C
shell=${1:?usage: loop_memory_test.sh KV-SHELL}
if [ -n "${SANITIZE:-}" ]; then
    echo "left out: sanitizers need an address space of their own size"
    exit 0
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/loop_memory_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
most=64000 # KB
failed=0

# The loop $2 prints $1 and needs no more than there is.
check() {
    printed=$( (
        ulimit -v $most
        exec "$shell" --no-took "$scratch/db" -e "$2"
    ) 2>&1 </dev/null)
    if [ "$printed" != "$1" ]; then
        echo "$2: expected $1, it said: $printed"
        failed=1
    fi
}

# ---- The last statement's value is a list or a text that grows -----------------------------------

check 3000 "a = []; for i in 1..3000 do a << i end; puts a.size"
check 3000 "a = []; (1..3000).each { |i| a.push(i) }; puts a.size"
check 3000 "a = []; i = 0; while i < 3000 do i += 1; a << i end; puts a.size"
check 3000 "a = []; loop { break if a.size == 3000; a << 1 }; puts a.size"
check 20000 "s = ''; 20000.times { s << 'x' }; puts s.size"
check 20000 "s = ''; 1.upto(20000) { s += 'x' }; puts s.size"
check 3000 "a = []; (1..3000).select { |i| a << i }; puts a.size"
check 3000 "a = []; (1..3000).reject { |i| a << i }; puts a.size"
# ---- The items are many --------------------------------------------------------------------------

long="p = 'k' * 8000; r = (p + 'aaa')..(p + 'zzz'); n = 0"
check 17576 "$long; for t in r do n += 1 end; puts n"
check 17576 "$long; r.each { n += 1 }; puts n"
check 17576 "$long; (p + 'aaa').upto(p + 'zzz') { n += 1 }; puts n"
check 17576 "$long; r.each_slice(2) { |two| n += two.size }; puts n"
check 1 "$long; puts r.select { |t| t.end_with?('bcd') }.size"
check '["b", "zz"]' "puts ('a'..'zzz').select { |t| t == 'b' || t == 'zz' }.inspect"
check '["a", "b"]' "puts ('a'..'zzz').reject { |t| t > 'b' || t.size > 1 }.inspect"
check '[["a", 0], ["b", 1]]' "puts ('a'..'b').each_with_index.map { |t, i| [t, i] }.inspect"
# ---- A range of numbers is counted, not written out ----------------------------------------------

all='(1..9223372036854775807)'
check 9223372036854775807 "puts $all.count"
check 9223372036854775806 "puts (1...9223372036854775807).size"
check 7 "puts (5..1).size + (-3..3).size"
check 5000000050000000 "puts (1..100000000).sum"
check "ArgumentError (petal:1: array size too big)
x = $all.to_a
                             ^" "x = $all.to_a"
check "RangeError (petal:1: integer overflow)
puts (-9..9223372036854775807).size
                               ^" "puts (-9..9223372036854775807).size"
# ---- One statement reads many items of a variable ------------------------------------------------

reads=$(awk 'BEGIN { for (i = 0; i < 400; i++) printf "%sa[%d + 1]", (i > 0 ? "," : ""), i }')
check 400 "a = (1..10000).to_a; puts [$reads].uniq.size"
check '[1, "b", nil, 2, [1, 2], 2]' "a = [1, 2]; h = {'k' => 'b'}; i = 0; puts [a[i], h['k'], h[1], a[-1], a[0, 2], a[i + 1]].inspect"
check '[1, 9]' "a = [1, 2]; puts [a[(a = [8, 9]; 0)], a[1]].inspect"
# ---- What changes a variable needs no copy of it -------------------------------------------------

many() { awk -v "what=$1" 'BEGIN { for (i = 0; i < 400; i++) printf "%s; ", what }'; }
list='a = (1..10000).to_a'
hash='h = {}; (1..10000).each { |i| h[i] = i }'
check 10400 "$list; $(many 'a << 1')puts a.size"
check 10400 "$list; $(many 'a.push(1)')puts a.size"
check 10800 "$list; $(many 'a << 1 << 2')puts a.size"
check 10000 "$list; $(many 'a[1] = 2')puts a.size"
check 10000 "$hash; $(many 'h[1] = h[2]')puts h.size"
check 10001 "$hash; $(many 'if h.has_key?(7) then h[0] = h.size end')puts h.size"
check 10000 "$list; n = 0; $(many 'n += a.last - a.size')puts a.size + n"
check 400400 "s = 'x' * 400000; $(many 's << "y"')puts s.size"
# ---- What a variable has no more leaves nothing behind -------------------------------------------

check 1 "h = {}; 20000.times { h['k'] = 'x' * 8000 }; puts h.size"
check 1 "a = []; 20000.times { a[0] = 'x' * 8000 }; puts a.size"
# ---- Many variables ------------------------------------------------------------------------------

check 350 "$(awk 'BEGIN { for (i = 1; i <= 250; i++) printf "a%d = %d; nil\n", i, i }')
puts [a250].map { |n| n + a100 }.first"
check "SyntaxError (petal:1: there are at most 253 local variables: use \$global ones, or a hash)
a1 = 1; $(awk 'BEGIN { for (i = 2; i <= 300; i++) printf "a%d = %d; ", i, i }')
^
=> 5
5" "a1 = 1; $(awk 'BEGIN { for (i = 2; i <= 300; i++) printf "a%d = %d; ", i, i }')
a = 5
puts a"
[ $failed = 0 ] && echo "loops need the memory of one round"
exit $failed
