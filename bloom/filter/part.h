/*
 * part.h -- a part of a filter that is built once of all keys: what RIBBON and FUSE do in their own
 * way (bloom/ribbon.h, bloom/fuse.h).  A part is a filter of those, its footer kept elsewhere.
 */
#ifndef PETAL_BLOOM_FILTER_PART_H
#define PETAL_BLOOM_FILTER_PART_H

#include "bloom/fuse.h"
#include "bloom/petal_bloom.h"
#include "bloom/ribbon.h"

#define FILTER_FOOTER_BYTES 16

_Static_assert(BLOOM_FUSE_FOOTER_BYTES == FILTER_FOOTER_BYTES, "of FUSE");
_Static_assert(BLOOM_RIBBON_FOOTER_BYTES == FILTER_FOOTER_BYTES, "of RIBBON");

/* No part has more keys; those of evenly spread hashes have far fewer. */
#define FILTER_PART_MOST_KEYS (UINT32_C(1) << 30)

union filter_part_shape {
    struct bloom_ribbon ribbon;
    struct bloom_fuse fuse;
};

struct filter_part_kind {
    enum petal_bloom_kind kind;
    /* The number of keys to cut parts at where building has so many bytes of memory. */
    uint64_t (*keys_in)(size_t memory_bytes);
    /* The lowest rate that it can have. */
    double least_rate;
    /* Shapes that are tried one after the other until one can be built. */
    unsigned sizes;
    union filter_part_shape (*shape)(uint64_t keys, double rate, unsigned size);
    /* Of a shape: footer included. */
    size_t (*bytes)(const union filter_part_shape *shape);
    size_t (*work_bytes)(const union filter_part_shape *shape);
    double (*rate)(const union filter_part_shape *shape);
    /* hashes[0..count) are ascending, each is there once. `bytes` end in the footer. False: no seed
     * of this shape fits. */
    bool (*build)(union filter_part_shape *shape, const uint64_t *hashes, size_t count, void *work,
                  uint8_t *bytes);
    /* False: nobody can have built that. */
    bool (*read_footer)(union filter_part_shape *shape, const uint8_t *footer);
};

extern const struct filter_part_kind filter_part_ribbon, filter_part_fuse;

#endif
