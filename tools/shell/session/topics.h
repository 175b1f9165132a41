/*
 * topics.h -- what help knows besides commands: topics, and the filters of the filter language.
 *
 * Lines of a text that begin with two blanks are examples: each can be typed as it stands, for a
 * table t with a family f; tests/tools/shell/help_test.sh does that.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_TOPICS_H
#define PETAL_TOOLS_SHELL_SESSION_TOPICS_H

#include <stddef.h>

struct topic {
    const char *name, *title, *text;
};

/* By number; NULL after the last. */
const struct topic *help_topic(size_t index);

/* A filter's arguments are its name's in the filter language; `java` is its constructor. */
struct filter_topic {
    const char *name, *arguments, *meaning, *example, *java;
};

const struct filter_topic *help_filter(size_t index);

#endif
