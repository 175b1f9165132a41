# Explains the changes from one list of a binary interface to another, and their effect on programs
# compiled with the former. Changes that the compiler cannot judge, another name of a parameter or
# another text of the same constant, are reported as "perhaps" and ask for nothing.
# Usage: awk -f compare.awk FORMER PRESENT. The last line is `asks for KIND`, the strongest of
#
#   nothing     nothing has changed
#   addition    nothing old has changed; programs that use the additions need the new library
#   extension   a struct that begins with its size has more fields at its end: programs that give
#               its size still run; those that leave it 0 are read by the size that the library
#               knows, past their struct, until they are recompiled
#   breaking    old programs do not run, or run wrongly

# Structs in which the fields after an embedded struct begin where its size field says: there,
# growth moves nothing.
BEGIN { follows["petal_scan_options", "read"] = 1 }

function says(kind, words,    rank) {
    print kind ": " words
    rank = kind == "breaking" ? 3 : kind == "extension" ? 2 : kind == "addition" ? 1 : 0
    if (rank > worst) worst = rank
}
# The text after the first ": " of a line.
function behind(line) { return substr(line, index(line, ": ") + 2) }

{ which = FILENAME == ARGV[1] ? 1 : 2 }
/^#/ || /^$/ || /^version / { next }
/^(function|type|names|constant|parameters|macro) / {
    name = $2
    sub(/:$/, "", name)
    kind = $1
    key = kind == "names" ? "names" : kind " " name
    # As text: awk cannot distinguish numbers beyond 2^53.
    what[which, key] = (kind == "constant" ? $4 : kind == "names" ? name : behind($0)) ""
    keys[which, ++count[which]] = key
    next
}
/^(struct|enum) / {
    kind = $1
    around = $2
    sub(/:$/, "", around)
    key = kind " " around
    bytes[which, key] = $3
    what[which, key] = $3
    keys[which, ++count[which]] = key
    fields = 0
    next
}
kind == "enum" {
    key = "value " $1
    what[which, key] = $3 ""
    keys[which, ++count[which]] = key
    next
}
kind == "struct" {
    name = $3
    sub(/:$/, "", name)
    key = "field " around "." name
    what[which, key] = behind($0)
    offset[which, key] = $1
    bytes[which, key] = $2
    if (fields++ == 0) sized[which, around] = name == "size" && behind($0) == "size_t"
    keys[which, ++count[which]] = key
}

# The distance by which the fields after a growing struct have moved.
function moved_by(struct,    i, key, name, by) {
    for (i = 1; i <= count[2]; i++) {
        key = keys[2, i]
        if (index(key, "field " struct ".") != 1) continue
        name = substr(key, length("field " struct ".") + 1)
        if ((struct, name) in follows && (1, key) in what) by = bytes[2, key] - bytes[1, key]
    }
    return by + 0
}

# Does another, changed line on this name already report a change of this kind?
function is_told_of(kind, name,    other) {
    other = "constant " name
    if (kind == "parameters") {
        other = "function " name
        if (!((1, other) in what)) other = "type " name
        if (!((1, other) in what)) other = "field " name
        # If parameters have lost or gained all names, the type has changed.
        if (!((1, "parameters " name) in what) || !((2, "parameters " name) in what)) return 1
    }
    if (!((1, other) in what) || !((2, other) in what)) return ((1, other) in what) != ((2, other) in what)
    return what[1, other] != what[2, other]
}
function says_perhaps(kind, name) {
    says("perhaps", (kind == "macro" ? name " is written " : "the parameters of " name " are ") what[2, kind " " name] " instead of " what[1, kind " " name] ": the meaning may have changed; if it is only " (kind == "macro" ? "the text" : "a name") ", `make abi-accept` keeps it")
}

function field_vanished(key) {
    says("breaking", "field " substr(key, 7) " is gone")
}
function field_is_new(key,    struct, name) {
    name = substr(key, 7)
    struct = name
    sub(/\..*/, "", struct)
    if (!((1, "struct " struct) in what)) return
    if (offset[2, key] - moved_by(struct) < bytes[1, "struct " struct])
        says("breaking", "field " name " is new, at " offset[2, key] ", where programs of before have another field or padding")
    else if (sized[1, struct])
        says("extension", "field " name " is new, at the end of a struct that begins with its size")
    else
        says("breaking", "field " name " is new: struct " struct ", which does not begin with its size, grows from " bytes[1, "struct " struct] " to " bytes[2, "struct " struct] " bytes")
}
function field_changed(key,    struct, name, by) {
    name = substr(key, 7)
    struct = name
    sub(/\..*/, "", struct)
    by = moved_by(struct)
    if (offset[1, key] != offset[2, key] && !(by > 0 && offset[2, key] == offset[1, key] + by))
        says("breaking", "field " name " moves from " offset[1, key] " to " offset[2, key])
    if (bytes[1, key] != bytes[2, key] && !((struct, substr(name, length(struct) + 2)) in follows))
        says("breaking", "field " name " takes " bytes[2, key] " bytes instead of " bytes[1, key])
    if (what[1, key] != what[2, key])
        says("breaking", "field " name " is " what[2, key] " instead of " what[1, key])
}

END {
    for (i = 1; i <= count[1]; i++) {
        key = keys[1, i]
        kind = key
        sub(/ .*/, "", kind)
        name = substr(key, length(kind) + 2)
        if ((kind == "parameters" || kind == "macro") && is_told_of(kind, name)) continue
        if (!((2, key) in what)) {
            if (kind == "function") says("breaking", "function " name " is gone: programs that call it do not start")
            else if (kind == "field") field_vanished(key)
            else if (kind == "value") says("breaking", name " is gone")
            else says("breaking", key " is gone")
        } else if (kind == "field") field_changed(key)
        else if (what[1, key] != what[2, key]) {
            if (kind == "function") says("breaking", "function " name " is " what[2, key] " instead of " what[1, key])
            else if (kind == "names") says("breaking", "names carry " what[2, key] " instead of " what[1, key] ": programs of before do not start")
            else if (kind == "value" || kind == "constant") says("breaking", name " is " what[2, key] " instead of " what[1, key] ": programs of before have the former in them")
            else if (kind == "parameters" || (kind == "macro" && (1, "constant " name) in what)) says_perhaps(kind, name)
            else if (kind == "macro") says("breaking", "macro " name " is " what[2, key] " instead of " what[1, key] ": programs of before have the former in them")
            else if (kind == "type" || kind == "enum") says("breaking", key " is " what[2, key] " instead of " what[1, key])
        }
    }
    for (i = 1; i <= count[2]; i++) {
        key = keys[2, i]
        if ((1, key) in what) continue
        kind = key
        sub(/ .*/, "", kind)
        if ((kind == "parameters" || kind == "macro") && is_told_of(kind, substr(key, length(kind) + 2))) continue
        if (kind == "field") field_is_new(key)
        else if (kind == "value") says("addition", substr(key, 7) " is new")
        else says("addition", key " is new")
    }
    print "asks for " (worst == 3 ? "breaking" : worst == 2 ? "extension" : worst == 1 ? "addition" : "nothing")
}
