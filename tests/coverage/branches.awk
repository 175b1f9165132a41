# Reads what `gcov -b -c -t` prints, of one object after another, and prints how many branches each
# file of the library has and how many of them were taken. The same line may come in several
# objects, of a header or of the library's second build with its places that fail: one of its
# branches is taken if it was so in any of them. With -v list=1 the lines with branches that nothing
# took are printed instead, and which of their branches these are.
/^ *[-#=0-9]+[*]?: *[0-9]+:/ {
    text = $0
    sub(/^[^:]*: */, "", text)
    number = text + 0
    sub(/^[0-9]+:/, "", text)
    if (number == 0) {
        if (text ~ /^Source:/) {
            source = substr(text, 8)
            sub(/^.*\/tests\/crash\/sites\//, "", source)
            counts = source ~ /^(base|bloom|cache|memtable|sstable|engine)\//
        }
        next
    }
    line = source ":" number
    if (counts) texts[line] = text
    branch = 0
    next
}
/^branch/ && counts {
    place = line ":" branch++
    known[place] = 1
    if ($3 == "taken" && $4 > 0) taken[place] = 1
}
END {
    for (place in known) {
        split(place, part, ":")
        all[part[1]]++
        sum++
        if (place in taken) {
            hits[part[1]]++
            hit++
        } else missed[part[1] ":" part[2]] = missed[part[1] ":" part[2]] " " part[3]
    }
    if (list) {
        for (line in missed) printf "%s:%s:%s\n", line, missed[line], texts[line]
        exit
    }
    for (file in all) printf "%-40s %5d of %5d branches %5.1f %%\n", file, hits[file], all[file], 100 * hits[file] / all[file]
    printf "%-40s %5d of %5d branches %5.1f %%\n", "~ the library", hit, sum, 100 * hit / sum
}
