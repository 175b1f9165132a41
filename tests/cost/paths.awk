# Reads what `gcov -t` prints and counts the functions of the library that were called, their files
# and their lines, from the one with the name to the closing brace. A definition is a name in the
# first column that was come to. A function of a header is in the output of each file that includes
# it, and counts once. With -v list=1 the functions are printed, too.
{
    mark = $0; sub(/:.*/, "", mark); gsub(/[ *]/, "", mark)
    text = $0; sub(/^[^:]*: */, "", text)
    number = text + 0; sub(/^[0-9]+:/, "", text)
    if (number == 0) {
        if (text ~ /^Source:/) source = substr(text, 8)
        inside = ""
        next
    }
    if (text ~ /^[a-z_][a-z0-9_]*\(/) {
        inside = mark ~ /^[1-9]/ && source !~ /^(\/|tests\/)/ ? source ":" number ": " substr(text, 1, index(text, "(") - 1) : ""
        if (inside != "" && !(inside in lines_of)) { functions++; files += !(source in has); has[source] = 1; lines_of[inside] = 0 }
    }
    if (inside == "") next
    if (!((source, number) in seen)) { seen[source, number] = 1; lines++; lines_of[inside]++ }
    if (text ~ /^}/) inside = ""
}
END {
    for (f in lines_of) if (list) print f ", " lines_of[f] " lines"
    if (!list) print functions, files, lines
}
