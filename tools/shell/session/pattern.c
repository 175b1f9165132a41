/* pattern.c -- see tools/shell/session/pattern.h. */
#include "tools/shell/session/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum shell_status
pattern_read(struct session *session, const struct value *argument, struct pattern *pattern)
{
    petal_slice bytes;
    PCRE2_UCHAR message[128];
    PCRE2_SIZE offset;
    int error;

    *pattern = (struct pattern){NULL, NULL};
    if (argument->kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "A regular expression must be text in quotes");
    bytes = argument->as.bytes;
    pattern->compiled =
        pcre2_compile(bytes.size > 0 ? bytes.data : "", bytes.size,
                      PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_NEVER_UTF, &error, &offset, NULL);
    if (pattern->compiled != NULL)
        pattern->matching = pcre2_match_data_create(1, NULL);
    if (pattern->matching != NULL)
        return SHELL_FINE;
    if (pattern->compiled != NULL)
        error = PCRE2_ERROR_NOMEMORY;
    (void)pcre2_get_error_message(error, message, sizeof message);
    return session_fail(session, SHELL_USAGE, "%s: %.*s", (const char *)message,
                        SLICE_UP_TO(200, bytes));
}

bool
pattern_matches(const struct pattern *pattern, petal_slice name)
{
    return pattern->matching != NULL &&
           pcre2_match(pattern->compiled, name.size > 0 ? name.data : "", name.size, 0, 0,
                       pattern->matching, NULL) >= 0;
}

void
pattern_free(struct pattern *pattern)
{
    pcre2_match_data_free(pattern->matching);
    pcre2_code_free(pattern->compiled);
    *pattern = (struct pattern){NULL, NULL};
}
