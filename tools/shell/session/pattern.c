/* pattern.c -- see tools/shell/session/pattern.h. */
#include "tools/shell/session/pattern.h"

#include <string.h>

enum shell_status
pattern_read(struct session *session, const struct value *argument, struct pattern *pattern)
{
    struct text whole = {0};
    char message[128];
    int code;

    pattern->valid = false;
    if (argument->kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "A regular expression in quotes is wanted");
    text_add_string(&whole, "^(");
    text_add_slice(&whole, argument->as.bytes);
    text_add_string(&whole, ")$");
    code = regcomp(&pattern->compiled, text_string(&whole), REG_EXTENDED | REG_NOSUB);
    text_free(&whole);
    pattern->valid = code == 0;
    if (code == 0)
        return SHELL_FINE;
    (void)regerror(code, &pattern->compiled, message, sizeof(message));
    return session_fail(session, SHELL_USAGE, "%s: %.*s", message,
                        SLICE_UP_TO(200, argument->as.bytes));
}

bool
pattern_matches(const struct pattern *pattern, petal_slice name)
{
    struct text copy = {0};
    bool matches;

    text_add_slice(&copy, name);
    matches = pattern->valid && regexec(&pattern->compiled, text_string(&copy), 0, NULL, 0) == 0;
    text_free(&copy);
    return matches;
}

void
pattern_free(struct pattern *pattern)
{
    if (pattern->valid)
        regfree(&pattern->compiled);
    pattern->valid = false;
}
