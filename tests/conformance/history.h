/*
 * history.h -- every cell that a case has written, in the order of the writes, none of
 * it ever flushed, compacted or trimmed; and what follows from that alone: which puts a later
 * marker hides, and which live where the order of writes rules.
 *
 * A recorded answer that shows what a later marker hides, or lacks what no marker hides,
 * contradicts the store's own rules: only such differences are let through by the rules that ask
 * here.  Which writes happened is told by the recorded answers.  Times that only the store knows
 * ({latest}, appends and increments) follow from the cells before.
 */
#ifndef PETAL_TESTS_CONFORMANCE_HISTORY_H
#define PETAL_TESTS_CONFORMANCE_HISTORY_H

#include "tests/conformance/list.h"

struct history_cell {
    petal_slice row, qualifier; /* the latter empty for family markers */
    const petal_family_options *family;
    enum petal_cell_type type;
    int64_t timestamp;
    bool has_ttl;
    int64_t ttl_ms;
    size_t operation;   /* which one wrote it */
    bool second_latest; /* not the first {latest} of its column in its mutation */
};

struct history {
    struct arena *arena; /* of the case */
    const struct recorded_case *recorded;
    int64_t now_ms;
    size_t operation; /* number of the one at hand */
    size_t rewritten; /* of the latest flush or compaction; 0: none */
    size_t flushed;   /* of the latest flush; 0: none */
    size_t compacted; /* of the latest flush before the latest compaction of all files */
    struct history_cell *cells;
    size_t count;
};

/* Note what the step wrote, flushed or compacted. */
void history_note(struct history *history, const struct recorded_step *step);

/* Whether what was noted so far can be the reason that the step's answer is `actual`, not the
 * recorded one, by one of the rules RULE_KEPT_MARKER .. RULE_MIN_VERSIONS. */
bool history_explains(const struct history *history, enum difference_rule rule,
                      const struct recorded_step *step, const struct answer *actual);

#endif
