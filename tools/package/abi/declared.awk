# Turns preprocessed public headers into a C program that prints their declarations as a list, with
# the compiler's sizes and offsets. Functions are the exported ones. Set OWN to the headers' names,
# "petal.h petal_bloom.h".
#
# A field that this does not understand is noticed: the program compares the beginning of each field
# with the end of the one before.

BEGIN {
    count = split(OWN, names, " ")
    for (i = 1; i <= count; i++) own[names[i]] = 1
}

# Linemarkers name the file of the following lines.
/^# [0-9]+ "/ {
    file = $3
    gsub(/"/, "", file)
    sub(/.*\//, "", file)
    next
}
file in own { text = text " " $0 }

function trimmed(words) {
    gsub(/[ \t]+/, " ", words)
    gsub(/^ | $/, "", words)
    return words
}

# The parameters of a function without their names, on which programs do not depend.
function without_names(words,    part, end, array) {
    gsub(/\(\*[a-z_0-9]+\)/, "(*)", words)
    while (match(words, /[A-Za-z_0-9][ *]+(const )?[ *]*[a-z_][a-z_0-9]*(\[\])?[,)]/)) {
        part = substr(words, RSTART, RLENGTH)
        end = substr(part, length(part))
        array = part ~ /\[\]/ ? "[]" : ""
        if (part ~ /\*/) sub(/[a-z_][a-z_0-9]*(\[\])?[,)]$/, "", part)
        else sub(/ [a-z_][a-z_0-9]*(\[\])?[,)]$/, "", part)
        # A separate closing mark, so that nothing is examined twice.
        words = substr(words, 1, RSTART - 1) part array (end == "," ? "\001" : "\002") substr(words, RSTART + RLENGTH)
    }
    gsub(/\001/, ",", words)
    gsub(/\002/, ")", words)
    return words
}

function quoted(words) {
    gsub(/["\\]/, "\\\\&", words)
    return "\"" words "\""
}

# The names of a function's parameters, in order: nothing else shows that two of one type have
# changed places.
function put_parameters(function_name, words) {
    if (words != "(void)") print "    PARAMETERS(" quoted(function_name) ", " quoted(words) ");"
}

function put_field(struct, name, type) { print "    FIELD(" struct ", " name ", " quoted(type) ");" }

function put_struct(struct, fields,    parts, names, i, j, count, others, name, type, array, pointers, called) {
    print "    STRUCT(" struct ");"
    count = split(fields, parts, ";")
    for (i = 1; i < count; i++) {
        fields = trimmed(parts[i])
        if (fields ~ /[{:]/) print "#error \"struct " struct ": " fields " is not understood\""
        if (match(fields, /\(\*[a-z_0-9]+\)/)) {
            name = substr(fields, RSTART + 2, RLENGTH - 3)
            pointers++
            called[pointers] = name
            called[pointers, "with"] = substr(fields, RSTART + RLENGTH)
            put_field(struct, name, without_names(fields))
            continue
        }
        others = split(fields, names, ",")
        for (j = 1; j <= others; j++) {
            match(names[j], /[a-z_][a-z_0-9]*( *\[[^]]*\])?[ ]*$/)
            name = trimmed(substr(names[j], RSTART))
            if (j == 1) type = trimmed(substr(names[j], 1, RSTART - 1))
            array = ""
            if (match(name, /\[/)) {
                array = " " substr(name, RSTART)
                name = trimmed(substr(name, 1, RSTART - 1))
            }
            put_field(struct, name, type array)
        }
    }
    print "    END_OF_STRUCT(" struct ");"
    for (i = 1; i <= pointers; i++) put_parameters(struct "." called[i], called[i, "with"])
}

function put_enum(name, values,    parts, i, count) {
    print "    ENUM(" name ");"
    count = split(values, parts, ",")
    for (i = 1; i <= count; i++) {
        sub(/=.*/, "", parts[i])
        parts[i] = trimmed(parts[i])
        if (parts[i] != "") print "    VALUE(" parts[i] ");"
    }
}

function put_function(words,    name, result, parameters) {
    match(words, /petal_[a-z_0-9]+ *\(/)
    name = trimmed(substr(words, RSTART, RLENGTH - 1))
    result = trimmed(substr(words, 1, RSTART - 1))
    parameters = substr(words, RSTART + RLENGTH - 1)
    print "    FUNCTION(" name ", " quoted(result " " without_names(parameters)) ");"
    put_parameters(name, parameters)
}

END {
    gsub(/_Bool/, "bool", text)
    gsub(/__attribute__ *\(\(visibility\("default"\)\)\)/, "EXPORTED", text)
    gsub(/__attribute__ *\(\([a-z_]+\)\)/, "", text)
    while (text != "") {
        # One declaration: up to the semicolon outside braces.
        depth = 0
        for (i = 1; i <= length(text); i++) {
            mark = substr(text, i, 1)
            if (mark == "{") depth++
            if (mark == "}") depth--
            if (mark == ";" && depth == 0) break
        }
        one = trimmed(substr(text, 1, i - 1))
        text = substr(text, i + 1)
        open = index(one, "{")
        body = substr(one, open + 1)
        sub(/}[^}]*$/, "", body)
        if (one ~ /^typedef struct petal_[a-z_0-9]+ {/) {
            split(one, words, " ")
            put_struct(words[3], body)
        } else if (one ~ /^enum petal_[a-z_0-9]+ {/) {
            split(one, words, " ")
            put_enum(words[2], body)
        } else if (one ~ /^EXPORTED/) {
            sub(/^EXPORTED */, "", one)
            put_function(one)
        } else if (one ~ /^typedef [A-Za-z_ ]+petal_[a-z_0-9]+\(/) {
            sub(/^typedef */, "", one)
            match(one, /petal_[a-z_0-9]+\(/)
            name = substr(one, RSTART, RLENGTH - 1)
            result = trimmed(substr(one, 1, RSTART - 1))
            parameters = substr(one, RSTART + RLENGTH - 1)
            print "    TYPE(" quoted(name) ", " quoted(result " " without_names(parameters)) ");"
            put_parameters(name, parameters)
        } else if (one !~ /^[a-z].* \**petal_[a-z_0-9]+\(/ && one !~ /^typedef struct petal_[a-z_0-9]+ petal_[a-z_0-9]+$/ && one != "") {
            print "#error \"not understood: " substr(one, 1, 100) "\""
        }
    }
}
