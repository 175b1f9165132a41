/* sample.h -- gets to ask for advice with: those of the session, or of rows at random. */
#ifndef PETAL_TOOLS_SHELL_STUDY_SAMPLE_H
#define PETAL_TOOLS_SHELL_STUDY_SAMPLE_H

#include "tools/shell/session/session.h"

struct sample {
    struct past_get **gets; /* owned when `drawn`, else the history's */
    size_t count, capacity;
    bool drawn;
};

/* The latest gets of the table in this session. */
void sample_past(struct session *session, const petal_table *table, struct sample *sample);

/*
 * Three gets for each of `count` rows at random, the same ones for the same data: of a column that the row has, of the whole row,
 * and of that column in a row that is not there.
 */
enum shell_status sample_draw(struct session *session, petal_table *table, uint64_t count,
                              struct sample *sample);
void sample_free(struct sample *sample);

#endif
