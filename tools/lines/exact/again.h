/*
 * again.h -- records that are read once more, or more often, in their order and with numbers from 0
 * on: of a file where they are, of a stream from a temporary file. To each belongs a flag.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_AGAIN_H
#define PETAL_TOOLS_LINES_EXACT_AGAIN_H

#include "tools/lines/records/reader.h"
#include "tools/lines/records/writer.h"

#define FLAGS_PIECE_BYTES ((size_t)4096)

/* A yes or no for each record, put and read in order. The bits wait in a temporary file. */
struct flags {
    struct job *job;
    int descriptor; /* -1: nothing is in a file */
    bool has_any;   /* a yes */
    uint64_t count;
    uint64_t piece; /* which piece of the file `bits` is */
    unsigned char bits[FLAGS_PIECE_BYTES];
};

struct again {
    struct job *job;
    struct reader *reader; /* that they come from first; of a file its descriptor is read again */
    bool has_spool;
    struct writer spool;
    struct flags flags;
    uint64_t from, to; /* of the file, or of the spool */
    uint64_t numbers;  /* of records */
};

/* The reader is at the first record, or, of a file, has passed it: then it stands at `from`. */
bool again_open(struct again *again, struct reader *reader, uint64_t from);
/* Of zeros: nothing. */
void again_close(struct again *again);

/* The reader's next record, with its delimiter after it. Of a file each one has to be put. */
bool again_put(struct again *again, petal_slice record, bool flag);

/* All are put; of a file the reader has come to its end. */
bool again_seal(struct again *again);

/* As reader_each, with hashes and flags, from the record with this number on, which stands there.
 * It fails if the file is not what it was. */
bool again_each(struct again *again, uint64_t from, uint64_t number, batch_taker take,
                void *argument);

#endif
