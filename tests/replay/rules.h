/*
 * rules.h -- when what kv-shell printed is as good as what was recorded.
 *
 * Three files of one folder say it: masks.txt (what cannot repeat is replaced, on both sides),
 * loose.txt (recorded messages in whose place any message will do) and DIFFERENCES (where kv-shell
 * answers otherwise on purpose).  tests/replay/sessions/README.md has their forms.
 */
#ifndef PETAL_TESTS_REPLAY_RULES_H
#define PETAL_TESTS_REPLAY_RULES_H

#include "tests/replay/session.h"

struct rewriting {
    regex_t pattern;
    char *replacement; /* NULL: a line that matches is left out */
};

struct pattern_list {
    regex_t *items;
    size_t count;
};

/* An entry of DIFFERENCES.  All conditions that it gives must hold. */
struct difference_entry {
    char *name;
    size_t line;
    char *session, *mode; /* patterns of file names, NULL: any */
    struct pattern_list note, command, expected, actual;
    bool unwraps; /* lines that a terminal wrapped are joined before anything is rewritten */
    struct rewriting *rewritings; /* none, and nothing joined: the whole output may differ */
    size_t rewriting_count;
    bool has_reason;
    _Atomic(bool) used;
};

struct rules {
    struct rewriting *masks;
    size_t mask_count;
    struct pattern_list loose;
    struct difference_entry *entries;
    size_t entry_count;
};

/* Read the three files of `folder`; false, after telling stderr why, if they cannot be used. */
bool rules_read(const char *folder, struct rules *rules);
void rules_free(struct rules *rules);

/* One command's output on both sides, or anything else that is compared, such as the exit
 * status. */
struct comparison {
    const struct recorded_session *session;
    const char *command; /* as typed, lines parted by blanks */
    struct lines expected, actual;
};

enum verdict {
    EQUAL,
    DELIBERATE, /* an entry allows the difference */
    DIFFERENT
};

/* Masks both sides, then compares them.  *entry receives the entry after DELIBERATE. */
enum verdict compare(struct rules *rules, struct comparison *comparison,
                     const struct difference_entry **entry);

/* What diff -u shows of the lines that differ: " same", "-expected", "+actual". */
void add_difference(struct text *text, const struct lines *expected, const struct lines *actual);

#endif
