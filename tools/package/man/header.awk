# Manual pages from a public header: a page for each function, struct and enumeration, made from its
# comment, so that the reference cannot differ from the header.
# Usage: awk -v HEADER=petal.h -v PLACE=DIRECTORY -v DATE="November 1, 2026" -v GUIDE=petal
# [-v INTRODUCTION=NAME] -f header.awk FILE. INTRODUCTION names the page made from the header's
# opening comment; GUIDE is the page that all others refer to. Consecutive functions without a blank
# line or a comment between them share a page; the names of the others lead there.
#
# Rules for the header: a comment comes before its declaration, or after it on the same line;
# `/* ---- Title ---- */` begins a section; a comment followed by a blank line is its section's;
# lines of a comment indented by two or more columns are a table or an example.

# ---- text ----

function trimmed(words) {
    gsub(/[ \t]+/, " ", words)
    gsub(/^ | $/, "", words)
    return words
}

# The text of a comment line, without the comment marks.
function bare(line) {
    sub(/^[ \t]*\/\*+/, "", line)
    sub(/\*\/[ \t]*$/, "", line)
    sub(/^[ \t]*\*( |$)/, "", line)
    sub(/^ /, "", line)
    sub(/[ \t]+$/, "", line)
    return line
}

# Appends text to a page, one sentence a line, long ones broken; names of the library in bold.
function put_words(file, words,    count, parts, i, line, sentence) {
    gsub(/\\/, "\\e", words)
    count = split(trimmed(words), parts, " ")
    line = ""
    for (i = 1; i <= count; i++) {
        if (line != "" && (width(line) + width(parts[i]) > 76 || sentence)) {
            put_line(file, line)
            line = ""
        }
        line = line (line == "" ? "" : " ") parts[i]
        sentence = parts[i] ~ /[.!?:][")]*$/
    }
    if (line != "") put_line(file, line)
}
# Width of a line in a page, with the marks of bold names.
function width(line,    marked) {
    marked = gsub(/(petal|kv)_[a-z0-9_]+/, "&", line)
    return length(line) + 6 * marked
}
function put_line(file, line,    done) {
    done = ""
    while (match(line, /(petal|kv)_[a-z0-9_]+/)) {
        done = done substr(line, 1, RSTART - 1) "\\fB" substr(line, RSTART, RLENGTH) "\\fR"
        line = substr(line, RSTART + RLENGTH)
    }
    line = done line
    gsub(/\(\)/, "\\\\\\&()", line)
    if (line ~ /^[.']/) line = "\\&" line
    print line > file
}

# Appends the paragraphs and items of a comment; indented lines are kept line by line. `lead`: this
# is the first text of the page.
function put_comment(file, text, lead,    lines, count, i, words, item, kept) {
    count = split(text, lines, "\n")
    words = ""
    item = 0
    for (i = 1; i <= count + 1; i++) {
        kept = i <= count && lines[i] ~ /^  /
        if (i > count || lines[i] == "" || lines[i] ~ /^- / || kept) {
            if (words != "") {
                if (!lead && !item) print ".Pp" > file
                put_words(file, words)
                lead = 0
            }
            words = ""
        }
        if (i > count) break
        if (kept) {
            i = put_kept(file, lines, count, i)
            lead = i < count && lines[i + 1] != ""
        } else if (lines[i] ~ /^- /) {
            if (!item) print ".Bl -dash" > file
            item = 1
            print ".It" > file
            words = substr(lines[i], 3)
        } else if (lines[i] == "") {
            if (item) print ".El" > file
            item = 0
        } else words = words " " lines[i]
    }
    if (item) print ".El" > file
}

# Appends the indented lines from line `first` on, without their common indentation; returns the
# last of them.
function put_kept(file, lines, count, first,    i, last, least) {
    least = 1000
    for (last = first; last <= count && lines[last] ~ /^  /; last++) {
        match(lines[last], /^ +/)
        if (RLENGTH < least) least = RLENGTH
    }
    print ".Bd -literal" > file
    for (i = first; i < last; i++) {
        gsub(/\\/, "\\e", lines[i])
        put_line(file, substr(lines[i], least + 1))
    }
    print ".Ed" > file
    return last - 1
}

# The first words of a comment, for a list of pages.
function brief(text, otherwise,    at) {
    text = trimmed(in_one_line(text))
    at = match(text, /([.:;](  ?|$)| \()/)
    if (at > 0) text = substr(text, 1, at - 1)
    while (length(text) > 70) text = shortened(text)
    sub(/[,;]$/, "", text)
    sub(/[?!]$/, "", text)
    if (text == "" || text ~ /^([^A-Za-z]|NULL|False|Likewise|The same)/) return otherwise
    if (substr(text, 2, 1) !~ /[A-Z_]/) text = tolower(substr(text, 1, 1)) substr(text, 2)
    return text
}
# Cuts the text before its last clause that leaves enough.
function shortened(text,    at, best, i, count, words) {
    count = split(", | which | and | as | into | from | if | in | so that | that |  ", words, "|")
    for (i = 1; i <= count; i++)
        for (at = 68; at > 24 && at > best; at--)
            if (substr(text, at, length(words[i])) == words[i] && at > best) best = at
    for (at = 70; !best && at > 24; at--)
        if (substr(text, at, 1) == " ") best = at
    return best ? substr(text, 1, best - 1) : substr(text, 1, 70)
}
function in_one_line(text) {
    gsub(/\n/, " ", text)
    return text
}

# ---- pages ----

function begin_page(name,    file) {
    file = PLACE "/" name ".3"
    print ".\\\" Generated from " HEADER " at installation; correct mistakes there." > file
    print ".Dd " DATE > file
    print ".Dt " toupper(name) " 3" > file
    print ".Os Petal" > file
    print ".Sh NAME" > file
    return file
}
function end_page(file, refers,    count, names, i, j, swap) {
    print ".Sh SEE ALSO" > file
    count = split(refers, names, " ")
    for (i = 2; i <= count; i++)
        for (j = i; j > 1 && names[j] < names[j - 1]; j--) { swap = names[j]; names[j] = names[j - 1]; names[j - 1] = swap }
    for (i = 1; i <= count; i++) print ".Xr " names[i] " 3" (i < count ? " ," : "") > file
    close(file)
}
# A name that leads to another's page.
function link(name, to,    file) {
    file = PLACE "/" name ".3"
    print ".so man3/" to ".3" > file
    close(file)
}
# Adds to the names in `refers` the types in `words` that have a page, or will have one.
function refer(refers, words, but,    name) {
    while (match(words, /petal_[a-z0-9_]+/)) {
        name = substr(words, RSTART, RLENGTH)
        words = substr(words, RSTART + RLENGTH)
        if ((name in has_page) && name != but && name != GUIDE && index(refers_not, " " name " ") == 0 && index(" " refers " ", " " name " ") == 0) refers = refers " " name
    }
    return refers
}

function put_function(file, prototype,    name, type, parameters, i, depth, mark, one) {
    match(prototype, /petal_[a-z0-9_]+\(/)
    name = substr(prototype, RSTART, RLENGTH - 1)
    type = trimmed(substr(prototype, 1, RSTART - 1))
    sub(/^PETAL_API /, "", type)
    sub(/^PETAL_MUST_CHECK /, "", type)
    parameters = substr(prototype, RSTART + RLENGTH)
    sub(/\);?$/, "", parameters)
    print ".Ft \"" type "\"" > file
    print ".Fo " name > file
    depth = 0
    one = ""
    for (i = 1; i <= length(parameters) + 1; i++) {
        mark = substr(parameters, i, 1)
        if (mark == "(") depth++
        if (mark == ")") depth--
        if ((mark == "," && depth == 0) || i > length(parameters)) {
            print ".Fa \"" trimmed(one) "\"" > file
            one = ""
        } else one = one mark
    }
    print ".Fc" > file
}

# The section RETURN VALUES, by the header's general rules.
function put_returns(file, prototypes, count,    i, prototype, status, out, results, others, plain, plain_names, words) {
    for (i = 1; i <= count; i++) {
        prototype = prototypes[i]
        if (prototype ~ /enum petal_status *petal_[a-z0-9_]+\(/ && prototype ~ /petal_error \*error\)/) {
            status = 1
            if (prototype ~ /[a-z] \*\*[a-z]/) out = 1
            if (prototype ~ /petal_result \*/ && prototype !~ /petal_result_/) results = 1
            if (gives_more(prototype)) others = 1
        } else plain_names[++plain] = name_of(prototype)
    }
    print ".Sh RETURN VALUES" > file
    if (status) {
        print ".Dv PETAL_OK ," > file
        print "or the status of the failure; then" > file
        print ".Fa error ," > file
        print "unless" > file
        print ".Dv NULL ," > file
        print "has the details" > file
        print ".Pq Xr petal_error 3" (out || results ? " ," : " .") > file
        if (out && results) print "out pointers are NULL, and results are empty." > file
        else if (out) print "and out pointers are NULL." > file
        else if (results) print "and results are empty." > file
        if (others) print "Other results are set only where the description says so." > file
        print "The statuses and their meanings are in" > file
        print ".Xr " GUIDE_OF_STATUS " 3 ." > file
    }
    if (plain > 0) {
        if (status) print ".Pp" > file
        words = plain_names[1]
        for (i = 2; i <= plain; i++) words = words (i < plain ? ", " : " and ") plain_names[i]
        if (status || count > 1) put_words(file, words " cannot fail.")
        else print "The call cannot fail" (prototypes[1] ~ /^PETAL_API void / ? ", and returns nothing." : ".") > file
    }
}
# Whether the call has other outputs than out pointers and results: a number, a slice or a struct.
function gives_more(prototype,    count, parts, i, type) {
    count = split(substr(prototype, index(prototype, "(") + 1), parts, ",")
    for (i = 1; i <= count; i++) {
        if (parts[i] ~ /const / || parts[i] !~ /[a-z] \*[a-z]/) continue
        type = trimmed(parts[i])
        sub(/ \*.*/, "", type)
        if (type != "petal_error" && type != "void" && !(type in opaque)) return 1
    }
    return 0
}
function name_of(prototype) {
    match(prototype, /petal_[a-z0-9_]+\(/)
    return substr(prototype, RSTART, RLENGTH - 1)
}

# The opaque type of a function, by its name: petal_batch for petal_batch_put; "" if none.
function type_of(name,    type, best) {
    best = ""
    for (type in opaque)
        if (index(name, type "_") == 1 && length(type) > length(best)) best = type
    return best
}

function function_page(i,    first, file, j, count, prototypes, text, type, refers, own) {
    first = name_of(functions[i])
    count = 0
    text = ""
    type = type_of(first)
    text = comments[i]
    own = ""
    for (j = i; j <= function_count && (j == i || joins[j]); j++) {
        prototypes[++count] = functions[j]
        if (notes[j] != "") own = own "\n\n" (notes[j] ~ /^NULL: no-op/ ? "NULL does nothing" substr(notes[j], 12) : notes[j]) (notes[j] ~ /\.$/ ? "" : ".")
    }
    file = begin_page(first)
    for (j = 1; j <= count; j++) print ".Nm " name_of(prototypes[j]) (j < count ? " ," : "") > file
    print ".Nd " brief(comments[i], type != "" && opaque[type] != "" ? brief(opaque[type], "call on " type) : tolower(section_of[i])) > file
    print ".Sh SYNOPSIS" > file
    print ".In " HEADER > file
    for (j = 1; j <= count; j++) put_function(file, prototypes[j])
    print ".Sh DESCRIPTION" > file
    if (text == "" && type != "" && (type in has_page)) text = "A call on " type "; see its page."
    if (text == "") text = section_text[section_of[i]]
    if (text == "" && own == "") {
        print HEADER ": " first " has no comment, nor has its section" > "/dev/stderr"
        failed = 1
    }
    if (text == "") sub(/^\n+/, "", own)
    put_comment(file, text own, 1)
    if (first in declaration) {
        # An enumeration has the name of the call that gives it.
        print ".Bd -literal" > file
        print declaration[first] > file
        print ".Ed" > file
        if (type_text[first] != "") put_comment(file, type_text[first], 0)
        put_members(file, first)
    }
    put_returns(file, prototypes, count)
    refers = GUIDE
    refers_not = " "
    for (j = 1; j <= count; j++) refers_not = refers_not name_of(prototypes[j]) " "
    for (j = 1; j <= count; j++) {
        refers = refer(refers, substr(prototypes[j], index(prototypes[j], "(")), first)
        if (j > 1) link(name_of(prototypes[j]), first)
    }
    if (type != "" && (type in has_page)) refers = refer(refers, type, first)
    refers = refer(refers, text, first)
    end_page(file, refers)
}

# The purpose of a type without a comment: the first call that takes or returns it.
function used_as(name,    i, words) {
    for (i = 1; i <= function_count; i++) {
        words = functions[i]
        if (words ~ name "[ *]" && words !~ name "_") return (name ~ /_options$/ ? "options of " : "used by ") name_of(words)
    }
    for (i = 1; i <= type_count; i++)
        if (declaration[types[i]] ~ name "[ *]" && types[i] != name) return "part of " types[i]
    return tolower(type_section[name])
}

function put_members(file, name,    i) {
    if (member_count[name] == 0) return
    print ".Bl -tag -width Ds" > file
    for (i = 1; i <= member_count[name]; i++) {
        print ".It " (is_enum[name] ? "Dv " : "Va ") "\"" member[name, i] "\"" > file
        if (member[name, i] == "size_t size" && i == 1 && member_text[name, i] == "")
            member_text[name, i] = "sizeof this struct, or 0: the size that the library knows."
        put_comment(file, member_text[name, i], 1)
    }
    print ".El" > file
}

function type_page(name,    file, count, lines, i, refers) {
    file = begin_page(name)
    print ".Nm " name > file
    print ".Nd " brief(type_text[name], used_as(name)) > file
    print ".Sh SYNOPSIS" > file
    print ".In " HEADER > file
    print ".Bd -literal" > file
    count = split(declaration[name], lines, "\n")
    for (i = 1; i <= count; i++) {
        gsub(/\\/, "\\e", lines[i])
        print lines[i] > file
    }
    print ".Ed" > file
    print ".Sh DESCRIPTION" > file
    if (type_text[name] != "") put_comment(file, type_text[name], 1)
    else if (!(name in opaque)) print "The members are:" > file
    put_members(file, name)
    refers_not = " "
    refers = refer(refer(GUIDE, type_text[name], name), declaration[name], name)
    end_page(file, refers)
}

# ---- reading the header ----

# Adds a member to the current struct or enumeration, with the comment before it.
function add_member(line, text,    one) {
    one = trimmed(line)
    sub(/[,;]$/, "", one)
    member[at_type, ++member_count[at_type]] = one
    member_text[at_type, member_count[at_type]] = text
    declaration[at_type] = declaration[at_type] "\n" wrapped("    " trimmed(line))
}
# A declaration, broken if it has more than 78 columns.
function wrapped(line,    at) {
    if (length(line) <= 76) return line
    for (at = 76; at > 20 && substr(line, at, 1) != " "; at--) ;
    return substr(line, 1, at - 1) "\n" wrapped("        " substr(line, at + 1))
}

# Adds the entries of a list as members: X(name, "text") or X(NAME, value, "text").
function add_entries(list, is_field,    one, name, value, text) {
    while (match(list, /X\([A-Za-z0-9_]+, *([0-9]+, *)?"[^"]*"\)/)) {
        one = substr(list, RSTART + 2, RLENGTH - 3)
        list = substr(list, RSTART + RLENGTH)
        name = one
        sub(/,.*/, "", name)
        text = one
        sub(/^[^"]*"/, "", text)
        sub(/"$/, "", text)
        value = one
        sub(/^[^,]*, */, "", value)
        sub(/,.*/, "", value)
        if (is_field) add_member("uint64_t " name ";", toupper(substr(text, 1, 1)) substr(text, 2) ".")
        else add_member("PETAL_" name " = " value ",", toupper(substr(text, 1, 1)) substr(text, 2) ".")
    }
}

BEGIN {
    if (GUIDE_OF_STATUS == "") GUIDE_OF_STATUS = "petal"
    state = "top"
}

# Long definitions: the entries of lists are kept.
in_define {
    defined[define_name] = defined[define_name] " " $0
    sub(/\\$/, "", defined[define_name])
    if ($0 !~ /\\$/) in_define = 0
    next
}
/^#define [A-Z_]+_MAP\(X\)/ {
    define_name = $2
    sub(/\(.*/, "", define_name)
    in_define = 1
    pending = ""
    next
}
/^#define PETAL_LATEST / { latest = pending }
/^#/ { if (state == "top") pending = ""; next }
/clang-format/ { next }

# The lines of a comment, wherever it begins.
in_comment {
    comment = comment "\n" bare($0)
    if ($0 ~ /\*\//) {
        in_comment = 0
        end_of_comment()
    }
    next
}
function end_of_comment() {
    sub(/^\n+/, "", comment)
    sub(/\n+$/, "", comment)
    if (comment_is_behind == "member") member_text[at_type, member_count[at_type]] = (member_text[at_type, member_count[at_type]] == "" ? "" : member_text[at_type, member_count[at_type]] "\n") comment
    else if (comment_is_behind == "function") notes[function_count] = comment
    else if (comment_is_behind == "opaque") opaque[at_opaque] = opaque[at_opaque] (opaque[at_opaque] == "" ? "" : "\n") sentence(comment)
    else if (!opened) {
        opened = 1
        opening = comment
    } else pending = pending (pending == "" ? "" : "\n\n") comment
}
function sentence(words) {
    return toupper(substr(words, 1, 1)) substr(words, 2) (words ~ /[.:]$/ ? "" : ".")
}
# Takes a comment off the end of a line and returns the rest; `behind` is the kind of thing before
# it.
function take_comment(line, behind,    at) {
    at = index(line, "/*")
    if (at == 0) return line
    comment = bare(substr(line, at))
    comment_is_behind = behind
    if (substr(line, at) ~ /\*\//) end_of_comment()
    else in_comment = 1
    return substr(line, 1, at - 1)
}

/^\/\* ---- / {
    section = $0
    sub(/^\/\* -+ /, "", section)
    sub(/ -+ \*\/$/, "", section)
    pending = ""
    last_was = ""
    next
}
/^[ \t]*\/\*/ { take_comment($0, ""); next }

state == "top" && /^$/ {
    if (pending != "") section_text[section] = section_text[section] (section_text[section] == "" ? "" : "\n\n") pending
    pending = ""
    last_was = ""
    next
}
state == "top" && /^typedef struct petal_[a-z0-9_]+ petal_[a-z0-9_]+;/ {
    at_opaque = $3
    opaque[at_opaque] = pending
    pending = ""
    take_comment($0, "opaque")
    declaration[at_opaque] = "typedef struct " at_opaque " " at_opaque ";"
    type_section[at_opaque] = section
    types[++type_count] = at_opaque
    last_was = ""
    next
}
state == "top" && /^(typedef struct|enum) petal_[a-z0-9_]+ \{/ {
    at_type = $1 == "enum" ? $2 : $3
    is_enum[at_type] = $1 == "enum"
    types[++type_count] = at_type
    type_text[at_type] = pending
    type_section[at_type] = section
    pending = ""
    declaration[at_type] = is_enum[at_type] ? "enum " at_type " {" : "typedef struct " at_type " {"
    rest = $0
    sub(/^[^{]*\{/, "", rest)
    if (rest ~ /}/) {
        # All in one line.
        sub(/}.*/, "", rest)
        parts_count = split(rest, parts, ",")
        for (i = 1; i <= parts_count; i++) add_member(parts[i] (i < parts_count ? "," : ""), "")
        declaration[at_type] = declaration[at_type] "\n};"
        next
    }
    state = "type"
    if (rest ~ /[^ ]/) {
        # A comment after the brace is the type's.
        comment_is_behind = ""
        take_comment(rest, "")
        if (!in_comment) { type_text[at_type] = type_text[at_type] (type_text[at_type] == "" ? "" : "\n\n") pending; pending = "" }
    }
    next
}
state == "type" && /^}/ {
    declaration[at_type] = declaration[at_type] "\n" $0
    state = "top"
    pending = ""
    last_was = ""
    next
}
state == "type" && /_MAP\(/ {
    name = $1
    sub(/\(.*/, "", name)
    add_entries(defined[name], !is_enum[at_type])
    pending = ""
    next
}
state == "type" && /^$/ { next }
state == "type" {
    line = $0
    # A declaration that continues on the next line.
    at = index(line, "/*")
    words = at ? substr(line, 1, at - 1) : line
    held = held (held == "" ? "" : " ") trimmed(words)
    if (held !~ /[;,]$/ && !is_enum[at_type]) next
    if (held !~ /;$/ && !is_enum[at_type]) next
    add_member(held, pending)
    pending = ""
    held = ""
    if (at) take_comment(line, "member")
    next
}
state == "top" && /^(PETAL_API|typedef [a-z_ ]+petal_[a-z0-9_]+\()/ {
    state = "function"
    prototype = ""
}
state == "function" {
    at = index($0, "/*")
    prototype = prototype " " (at ? substr($0, 1, at - 1) : $0)
    if (trimmed(prototype) !~ /;$/) next
    prototype = trimmed(prototype)
    sub(/;$/, "", prototype)
    state = "top"
    if (prototype ~ /^typedef /) {
        match(prototype, /petal_[a-z0-9_]+\(/)
        at_opaque = substr(prototype, RSTART, RLENGTH - 1)
        opaque[at_opaque] = pending
        declaration[at_opaque] = wrapped(prototype ";")
        type_section[at_opaque] = section
        types[++type_count] = at_opaque
        pending = ""
        next
    }
    functions[++function_count] = prototype
    section_of[function_count] = section
    comments[function_count] = pending
    joins[function_count] = pending == "" && last_was == "function" && !at
    pending = ""
    last_was = "function"
    if (at) take_comment($0, "function")
    next
}

END {
    for (i = 1; i <= type_count; i++)
        if (!(types[i] in opaque) || opaque[types[i]] != "") has_page[types[i]] = 1
    for (i = 1; i <= function_count; i++) has_page[name_of(functions[i])] = is_function[name_of(functions[i])] = 1
    for (i = 1; i <= function_count; i++) if (!joins[i]) function_page(i)
    for (i = 1; i <= type_count; i++) {
        name = types[i]
        if (!(name in has_page) || (name in is_function)) continue
        if (name in opaque) type_text[name] = opaque[name]
        type_page(name)
    }
    if (INTRODUCTION != "") introduction()
    exit failed
}

# The page of the opening comment, without the contents of the header, and with the comments of
# PETAL_LATEST and of the section of caveats at its end: the first sentence, then paragraphs; one that
# begins with words in capitals gets them as a heading.
function introduction(    file, count, lines, i, about, text, heading, rest) {
    file = begin_page(INTRODUCTION)
    if (latest != "") opening = opening "\n\nTIMESTAMPS.  " latest
    if ("Caveats" in section_text) opening = opening "\n\nCAVEATS.  " section_text["Caveats"]
    sub(/Below the first steps stand[^.]*\. */, "", opening)
    sub(/CONTENTS\.  .*\n\nTHE MODEL\./, "THE MODEL.", opening)
    count = split(opening, lines, "\n")
    about = ""
    for (i = 1; i <= count && lines[i] != ""; i++) about = about " " lines[i]
    sub(/^ *[a-z_.]+ -- /, "", about)
    print ".Nm " INTRODUCTION > file
    print ".Nd " brief(about, HEADER) > file
    print ".Sh SYNOPSIS" > file
    print ".In " HEADER > file
    print ".Sh DESCRIPTION" > file
    put_words(file, toupper(substr(trimmed(about), 1, 1)) substr(trimmed(about), 2))
    text = ""
    for (; i <= count + 1; i++) {
        if (i > count || (lines[i - 1] == "" && match(lines[i], /^[A-Z][A-Z ,-]*[A-Z]([.:,]| [a-z])/))) {
            if (text != "") put_comment(file, text, rest == "")
            if (i > count) break
            match(lines[i], /^[A-Z][A-Z ,-]*[A-Z]/)
            heading = substr(lines[i], 1, RLENGTH)
            rest = ""
            print ".Ss \\&" substr(heading, 1, 1) tolower(substr(heading, 2)) > file
            text = lines[i]
            if (substr(text, length(heading) + 1, 1) ~ /[.:,]/) {
                # The heading was no part of the sentence.
                text = substr(text, length(heading) + 2)
                sub(/^ +/, "", text)
                text = toupper(substr(text, 1, 1)) substr(text, 2)
            }
            continue
        }
        text = text "\n" lines[i]
    }
    end_page(file, "petal petal_error")
}
