/*
 * flags.h -- a yes or no for each record of a sequence, put in order and read in order. The bits
 * wait in a temporary file.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_FLAGS_H
#define PETAL_TOOLS_LINES_EXACT_FLAGS_H

#include "tools/lines/job/job.h"

#define FLAGS_PIECE_BYTES ((size_t)4096)

struct flags {
    struct job *job;
    int descriptor; /* -1: nothing is in a file */
    bool has_any;   /* a yes */
    uint64_t count;
    uint64_t piece; /* which piece of the file `bits` is */
    unsigned char bits[FLAGS_PIECE_BYTES];
};

void flags_open(struct flags *flags, struct job *job);
void flags_close(struct flags *flags);

bool flags_put(struct flags *flags, bool flag);
/* All are put. */
bool flags_seal(struct flags *flags);

/* answers[i]: that of record first + i; false for what was not put. Calls may go back. */
bool flags_ask(struct flags *flags, uint64_t first, size_t count, bool *answers);

#endif
