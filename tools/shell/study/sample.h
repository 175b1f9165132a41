/* sample.h -- gets to ask for advice with: those of the session, of a file, or of rows at
 * random. */
#ifndef PETAL_TOOLS_SHELL_STUDY_SAMPLE_H
#define PETAL_TOOLS_SHELL_STUDY_SAMPLE_H

#include "tools/shell/session/session.h"

struct sample {
    struct past_get **gets; /* the session's history has them, unless they are `owned` */
    size_t count, capacity;
    bool owned;
    const char *what; /* they are, in words */
};

/* The latest gets of the table in this session. */
void sample_past(struct session *session, const petal_table *table, struct sample *sample);

/* A get for each line of a file: a row, or a row, a tabulator and family:qualifier. */
enum shell_status sample_read(struct session *session, petal_table *table, const char *path,
                              struct sample *sample);

/*
 * Three gets for each of `count` rows at random, the same ones for the same data: of a column that
 * the row has, of the whole row, and of that column in a row that is not there.
 */
enum shell_status sample_draw(struct session *session, petal_table *table, uint64_t count,
                              struct sample *sample);
void sample_free(struct sample *sample);

#endif
