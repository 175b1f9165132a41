/* memory_sink.h -- a sink whose bytes lie in memory, and which fails when it is told to. */
#ifndef PETAL_TESTS_HFILE_MEMORY_SINK_H
#define PETAL_TESTS_HFILE_MEMORY_SINK_H

#include "tools/hfile/format/buffer.h"
#include "tools/hfile/petal_hfile.h"

struct memory_sink {
    struct hfile_buffer bytes;
    bool forgets;         /* only counts them */
    uint64_t writes_left; /* then it fails */
    uint64_t writes;
};

/* Empty, and never failing. What it returns points at `memory`. */
petal_hfile_sink memory_sink_begin(struct memory_sink *memory);
void memory_sink_free(struct memory_sink *memory);

#endif
