# Lists the places of C files at which a change should make a test fail, one a line: FILE, LINE,
# KIND, the column, what stands there and what takes its place, between tabs. Comments, preprocessor
# lines, strings and assertions are passed over; so are columns that a table begins with,
# declarations and prototypes, which begin in the first column.
function offer(kind, column, old, new) { printf "%s\t%d\t%s\t%d\t%s\t%s\n", FILENAME, FNR, kind, column, old, new }

# What is in strings, characters and comments behind the code becomes blank, so that columns stay.
function blank(text,   out, i, c, quote) {
    out = ""
    quote = ""
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (in_comment) {
            if (substr(text, i, 2) == "*/") { in_comment = 0; out = out " "; i++ }
            out = out " "
        } else if (quote != "") {
            if (c == "\\") { out = out " "; i++ }
            else if (c == quote) quote = ""
            out = out " "
        } else if (substr(text, i, 2) == "/*") { in_comment = 1; out = out "  "; i++ }
        else if (c == "\"" || c == "'") { quote = c; out = out " " }
        else out = out c
    }
    return out
}

# Every place of the operator `old`, which stands between blanks as the format has it.
function operators(code, old, new, kind,   from, at, text) {
    text = code
    from = 0
    while ((at = index(text, " " old " ")) > 0 || (at = match_end(text, old)) > 0) {
        offer(kind, from + at + 1, old, new)
        from += at + length(old)
        text = substr(text, at + length(old) + 1)
    }
}

# An operator at the end of a line, where the expression goes on in the next.
function match_end(text, old) { return substr(text, length(text) - length(old)) == " " old ? length(text) - length(old) : 0 }

FNR == 1 { in_comment = in_assert = in_macro = 0 }
{
    code = blank($0)
    if (in_macro || code ~ /^#/) { in_macro = code ~ /\\$/; next }
    if (code ~ /(^|[^a-z_])assert\(/ || code ~ /ASSERT/) in_assert = 1
    if (in_assert) { if (code ~ /;[ ]*$/) in_assert = 0; next }
    if (code !~ /^[ ]/ || code ~ /^ +(static |extern |typedef )/) next

    operators(code, "<", "<=", "bound")
    operators(code, "<=", "<", "bound")
    operators(code, ">", ">=", "bound")
    operators(code, ">=", ">", "bound")
    operators(code, "==", "!=", "equal")
    operators(code, "!=", "==", "equal")
    operators(code, "&&", "||", "logic")
    operators(code, "||", "&&", "logic")
    operators(code, "+", "-", "sum")
    operators(code, "-", "+", "sum")
    operators(code, "+=", "-=", "sum")
    operators(code, "-=", "+=", "sum")
    if (match(code, /if \(!/)) offer("negation", RSTART + 4, "!", "")
    else if (match(code, /if \([a-z_]+\(.*\)$/) || match(code, /if \([a-z_>.-]+\)$/)) offer("negation", RSTART + 4, "", "!")
    rest = code
    from = 0
    while (match(rest, /[^A-Za-z0-9_.][0-9]+[^0-9A-Za-z_.]/)) {
        number = substr(rest, RSTART + 1, RLENGTH - 2)
        offer("constant", from + RSTART + 1, number, number + 1)
        from += RSTART + RLENGTH - 2
        rest = substr(rest, RSTART + RLENGTH - 1)
    }
    if (match(code, /[ (]true[;),]/)) offer("constant", RSTART + 1, "true", "false")
    if (match(code, /[ (]false[;),]/)) offer("constant", RSTART + 1, "false", "true")
    if (match(code, /^ +[a-z][a-z0-9_]*\(.*\);$/) && code !~ /^ +(return|sizeof|free|mem_free)/) offer("call", match(code, /[a-z]/), substr(code, RSTART), ";")
}
