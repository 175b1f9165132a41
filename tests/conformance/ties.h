/*
 * ties.h -- where a case puts a cell after a delete marker of equal timestamp that could match it.
 *
 * Only there may Petal, where the later write wins, and HBase, where the marker does, give
 * different answers.  The ledger follows the script, operation by operation, and answers by the
 * recorded answers which writes happened.  Times that only HBase knows (of the version that
 * {latest} found, of the cell that an append or a condition read) are taken as any that the
 * script's earlier puts make possible.
 */
#ifndef PETAL_TESTS_CONFORMANCE_TIES_H
#define PETAL_TESTS_CONFORMANCE_TIES_H

#include "tests/conformance/case.h"

struct tie_cell {
    petal_slice row, family, qualifier;
    bool any_family, any_qualifier; /* of markers */
    int64_t timestamp;
    size_t operation; /* of markers: which one wrote it */
    bool inside;      /* of ties: marker and put are of one operation */
};

struct tie_list {
    struct tie_cell *cells;
    size_t count;
};

struct tie_ledger {
    struct arena *arena; /* of the case */
    int64_t now_ms;
    size_t operation; /* number of the one at hand */
    struct tie_list puts, markers;
    struct tie_list ties; /* row and family of each, any_family: the whole row */
};

/* Note what the step wrote. */
void ties_note(struct tie_ledger *ledger, const struct recorded_step *step);

/* Whether ties noted so far, or only those inside one operation, can be the reason that the step's
 * answer is `actual`, not the recorded one. */
bool ties_explain(struct tie_ledger *ledger, bool only_inside, const struct recorded_step *step,
                  const struct answer *actual);

#endif
