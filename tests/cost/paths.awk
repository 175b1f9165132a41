# Reads what `gcov -b -t` prints and counts the functions of the library that were called, their files and their lines, from the one
# with the name to the closing brace. A function of a header is in the output of each file that includes it, and counts once.
# With -v list=1 the functions are printed, too.
/^function / { name = $2; called = $4; next }
/^ *[-#=0-9*]+: *[0-9]+:/ {
    split($0, part, ":")
    number = part[2] + 0
    if (part[3] == "Source") source = part[4]
    if (number == 0) { name = inside = ""; next }
    if (name != "") {
        inside = called > 0 && source !~ /^(\/|tests\/)/ ? source ":" name : ""
        name = ""
        if (inside != "" && !(inside in place)) { place[inside] = source ":" number; functions++; files += !(source in has); has[source] = 1 }
    }
    if (inside == "") next
    if (!((source, number) in seen)) { seen[source, number] = 1; lines++; length_of[inside]++ }
    if (substr($0, index($0, ":") + 1) ~ /^ *[0-9]+:}/) inside = ""
}
END {
    for (f in place) if (list) { split(f, part, ":"); printf "%s: %s, %d lines\n", place[f], part[2], length_of[f] }
    if (!list) print functions, files, lines
}
