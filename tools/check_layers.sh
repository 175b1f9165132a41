#!/usr/bin/env bash
# Checks the includes of files and the references of compiled objects against the table of rooms,
# tools/rooms.txt, which describes its format. Prints the table and each violation, and exits 1 if
# there is any.
# Usage: check_layers.sh BUILD
set -u
cd "$(dirname "$0")/.." || exit 2
build=${1:-build}
sources=$(find base bloom cache memtable sstable engine tools -name '*.[ch]' | sort)
objects=()
for source in $sources; do
    # Built where what it needs is there.
    case $source in tools/hfile/*) [ -e "$build/libpetal-hfile.a" ] || continue ;; esac
    case $source in *.c) objects+=("$build/${source%.c}.o") ;; esac
done

{
    sed -E 's/[[:space:]]*#.*//; /^[[:space:]]*$/d; s/^/R /' tools/rooms.txt
    wc -l $sources | awk '$2 != "total" {print "F", $2, $1}'
    grep -HoE '^#include "[^"]*"' $sources | sed -E 's/^([^:]*):#include "(.*)"/I \1 \2/'
    nm -A -P "${objects[@]}" 2>&1 | sed "s|^$build/|O |; s|\.o: |.c |"
} | awk '
function folder_of(file) { sub(/[^\/]*$/, "", file); return file }
function name_of(file) { sub(/.*\//, "", file); return file }
function say(text) { problems[++bad] = text }

# A room is a folder, or a file by itself. Its parts say which program it belongs to.
function room_of(file) { return file in floor ? file : folder_of(file) in floor ? folder_of(file) : "" }
function may_use(from, to,   i, n, words) {
    n = split(uses[from], words, " ")
    for (i = 1; i <= n; i++)
        if (words[i] == to || (words[i] == "below" && house[to] == house[from] && floor[to] < floor[from]))
            return 1
    return 0
}
function is_put_off(from, to) { if (!((from, to) in put_off)) return 0; put_off[from, to] = "met"; return 1 }
# From a file to another room: fine, put off, or said.
function check_arrow(how, file, from, target, to) {
    if (!may_use(from, to) && !is_put_off(from, to) && !((how, file, target) in said)) {
        said[how, file, target] = 1
        say(file ": " from " may not " how " " target)
    }
}
function is_door(room, file,   i, n, words) {
    n = split(doors[room], words, " ")
    for (i = 1; i <= n; i++) if (words[i] == "*" || words[i] == name_of(file)) return 1
    return 0
}

# Tarjan: circles of files among the arrows of `next_of`; those of more than one file are kept by
# number.
function visit(file,   i, n, targets, other, member) {
    low[file] = order[file] = ++visited; stack[++depth] = file; on_stack[file] = 1
    n = split(next_of[file], targets, " ")
    for (i = 1; i <= n; i++) {
        other = targets[i]
        if (!(other in order)) { visit(other); if (low[other] < low[file]) low[file] = low[other] }
        else if (on_stack[other] && order[other] < low[file]) low[file] = order[other]
    }
    if (low[file] != order[file]) return
    circle_of_one = stack[depth] == file
    if (!circle_of_one) circle_count++
    do {
        member = stack[depth--]; on_stack[member] = 0
        if (!circle_of_one) circle[circle_count] = circle[circle_count] " " member
    } while (member != file)
}
function find_circles(within_rooms,   file, pair, ends) {
    split("", order); split("", low); split("", on_stack); split("", next_of); split("", circle)
    visited = depth = circle_count = 0
    for (pair in call) {
        split(pair, ends, SUBSEP)
        if (!within_rooms || room_of(ends[1]) == room_of(ends[2])) next_of[ends[1]] = next_of[ends[1]] " " ends[2]
    }
    for (file in next_of) if (!(file in order)) visit(file)
}
function check_circle(number,   i, k, n, files, named, room, reason_found) {
    n = split(circle[number], files, " ")
    room = room_of(files[1])
    for (k = 1; k <= named_count; k++) {
        if (named_room[k] != room) continue
        reason_found = 1
        for (i = 1; i <= n; i++) if (index(" " named_files[k] " ", " " name_of(files[i]) " ") == 0) reason_found = 0
        if (reason_found) { named_met[k] = 1; return }
    }
    say("a circle of files that the table does not name:" circle[number])
}

$1 == "R" && $2 == "house" { at_house = $3; next }
$1 == "R" && $2 == "circle" {
    named_count++; named_room[named_count] = $3
    for (i = 4; i <= NF && $i != ":"; i++) named_files[named_count] = named_files[named_count] " " $i
    next
}
$1 == "R" && $2 == "not-yet" { put_off[$3, $4] = "asked"; next }
$1 == "R" {
    room = $3
    if (room in floor) say("tools/rooms.txt: " room " has two lines")
    rooms[++room_count] = room; floor[room] = $2 + 0; house[room] = at_house
    column = 0
    for (i = 4; i <= NF; i++) {
        if ($i == "|") { column++; continue }
        if (column == 1 && $i != "-") doors[room] = doors[room] " " $i
        if (column == 1 && $i != "-" && $i != "*" && system("test -e " room $i) != 0) say("tools/rooms.txt: " room " has no door " $i)
        if (column == 2 && $i != "-") uses[room] = uses[room] " " $i
    }
    next
}
$1 == "F" {
    room = room_of($2)
    if (room == "") say($2 ": stands in no room of tools/rooms.txt")
    files_in[room]++; lines_in[room] += $3
    next
}
$1 == "I" {
    from = room_of($2); to = room_of($3)
    if (from == "" || from == to) next
    if (to == "") { say($2 ": includes " $3 ", which stands in no room"); next }
    check_arrow("include", $2, from, $3, to)
    if (may_use(from, to) && !is_door(to, $3) && !is_put_off(from, $3)) say($2 ": " $3 " is no door of " to)
    next
}
# nm: file, name, kind.
$1 == "O" && $4 == "U" { wanted[$2, $3] = 1; next }
$1 == "O" && $4 ~ /^[A-TV-Z]$/ { owner[house[room_of($2)], $3] = owner["", $3] = $2; next }
$1 == "O" { next }
{ say($0) }

END {
    for (pair in wanted) {
        split(pair, ends, SUBSEP)
        # Programs have names in common.
        from = house[room_of(ends[1])]
        if (!((from, ends[2]) in owner)) from = ("library", ends[2]) in owner ? "library" : ("sets", ends[2]) in owner ? "sets" : ("hfile", ends[2]) in owner ? "hfile" : ""
        if (!((from, ends[2]) in owner) || (target = owner[from, ends[2]]) == ends[1]) continue
        # Rooms that may include petal.h, petal_bloom.h or petal_hfile.h may call what it declares.
        if ((from == "library" || from == "sets") && house[room_of(ends[1])] != from && ends[2] ~ /^petal_/) continue
        if (from == "hfile" && house[room_of(ends[1])] != from && ends[2] ~ /^petal_hfile_/) continue
        call[ends[1], target] = 1; example[ends[1], target] = ends[2]
    }
    for (pair in call) {
        split(pair, ends, SUBSEP)
        from = room_of(ends[1]); to = room_of(ends[2])
        if (from != to && from != "" && to != "") check_arrow("call", ends[1], from, ends[2] " (" example[ends[1], ends[2]] ")", to)
        arrows++
    }
    find_circles(1)
    for (i = 1; i <= circle_count; i++) check_circle(i)
    inside = circle_count
    find_circles(0)
    for (i = 1; i <= circle_count; i++) if ((n = split(circle[i], files, " ")) > largest) largest = n
    for (k = 1; k <= named_count; k++) if (!named_met[k]) print "tools/rooms.txt: no such circle any more: " named_room[k] ":" named_files[k]
    for (pair in put_off) {
        split(pair, ends, SUBSEP)
        if (put_off[pair] == "met") left++; else print "tools/rooms.txt: not needed any more: not-yet " ends[1] " " ends[2]
    }

    printf "%5s  %-22s %5s %6s  %s\n", "floor", "room", "files", "lines", "doors"
    for (i = 1; i <= room_count; i++) {
        room = rooms[i]
        if (i == 1 || house[room] != house[rooms[i - 1]]) print house[room] ":"
        printf "%5d  %-22s %5d %6d %s\n", floor[room], room, files_in[room], lines_in[room], doors[room]
        n = split(uses[room], words, " ")
        for (k = 1; k <= n; k++)
            if (words[k] != "below" && !(words[k] in floor)) say("tools/rooms.txt: " room " may use " words[k] ", which is no room")
            else if (words[k] != "below" && house[words[k]] == house[room] && floor[words[k]] >= floor[room])
                say("tools/rooms.txt: " room " may use " words[k] ", which does not stand below it")
    }
    printf "%d references between files; circles of files inside a room: %d; the largest circle of all: %d files; arrows put off: %d\n",
        arrows, inside, largest, left
    for (i = 1; i <= bad; i++) print problems[i]
    if (!bad) print "layers: every include and every reference points down" (left ? ", but for those put off" : "")
    exit bad > 0
}'
