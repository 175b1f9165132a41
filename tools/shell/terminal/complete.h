/*
 * complete.h -- what a person may mean to type next: commands, names of tables, snapshots, families
 * and files, keys of hashes and their values.
 */
#ifndef PETAL_TOOLS_SHELL_TERMINAL_COMPLETE_H
#define PETAL_TOOLS_SHELL_TERMINAL_COMPLETE_H

#include "tools/shell/session/session.h"

struct completion_word {
    struct text text;   /* that stands in place of what was typed */
    const char *behind; /* what follows it, if it is the only one */
};

struct completion {
    size_t begin; /* where the typed word begins in the line */
    struct completion_word *words;
    size_t count, capacity;
};

/* Find the words that go on with the line up to its end, the cursor.  completion_free follows. */
void complete_line(struct session *session, petal_slice line, struct completion *completion);
void completion_free(struct completion *completion);

/* How many letters all words share. */
size_t completion_common(const struct completion *completion);

/* ---- Where words come from (tools/shell/terminal/words.c) ------------------------------------ */

enum word_kind {
    WORD_NONE,
    WORD_COMMAND,
    WORD_HELP, /* commands and groups */
    WORD_TABLE,
    WORD_SNAPSHOT,
    WORD_FAMILY,
    WORD_COLUMN, /* a family and its colon */
    WORD_FILE,
    WORD_METHOD, /* of a table in a variable */
    WORD_NAMESPACE,
    WORD_FILTER
};

/* What was typed, and how the words stand: after `before`, which was not typed, followed by
 * `after`. */
struct typed {
    petal_slice word;
    const char *before, *behind;
};

void completion_add(struct completion *completion, const struct typed *typed, petal_slice word);
void completion_add_kind(struct session *session, struct completion *completion,
                         const struct typed *typed, enum word_kind kind, petal_slice table);

/* What the argument of a command is, counted from 0. */
enum word_kind completion_argument(const struct session *session, petal_slice name,
                                   size_t argument);

/* Keys of the command's hash, and the values of a key; lists end with NULL. */
const char *const *completion_keys(petal_slice command);
const char *const *completion_values(petal_slice key);

#endif
