/*
 * words_of_values.h -- values of attributes: numbers, sizes, booleans, times and words, as the
 * shell's users write them.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_WORDS_OF_VALUES_H
#define PETAL_TOOLS_SHELL_SESSION_WORDS_OF_VALUES_H

#include "tools/shell/session/session.h"

/* A list of them ends with a NULL name. */
struct word {
    const char *name;
    int value;
};

bool equals_ignoring_case(petal_slice bytes, const char *word);

/* "1 DAY 2 HOURS", "90 MINUTES", in seconds; 0 for what is no time, as in HBase. */
int64_t parse_interval(petal_slice text);

/* A whole number, given as such or as text; a number of bytes, whose text may have a unit. */
bool value_read_number(const struct value *value, int64_t *number);
bool value_read_size(const struct value *value, int64_t *number);

/* As in Java: what is not "true" is false. */
bool value_read_boolean(struct session *session, const struct value *value);

/* One of the words, whatever its case; fails with their list. */
enum shell_status value_read_word(struct session *session, petal_slice key,
                                  const struct value *value, const struct word *words, int *number);

/* Fail: the attribute cannot have the value; `wanted` says what it can have. */
enum shell_status value_fail(struct session *session, petal_slice attribute,
                             const struct value *value, const char *wanted);

#endif
