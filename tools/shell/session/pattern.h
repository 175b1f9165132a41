/*
 * pattern.h -- regular expressions for names, as list and the snapshot commands take them: PCRE2's,
 * which here are those of Java, and must match the whole name.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_PATTERN_H
#define PETAL_TOOLS_SHELL_SESSION_PATTERN_H

#include "tools/shell/session/session.h"

struct pattern {
    void *compiled; /* NULL: nothing matches */
    void *matching; /* what PCRE2 works in */
};

/* Compile an argument; fails with what is wrong in it.  pattern_free follows, also when it
 * failed. */
enum shell_status pattern_read(struct session *session, const struct value *argument,
                               struct pattern *pattern);
bool pattern_matches(const struct pattern *pattern, petal_slice name);
void pattern_free(struct pattern *pattern);

#endif
