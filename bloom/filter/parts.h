/*
 * parts.h -- filters that are built once of all keys, RIBBON and FUSE, as they are asked: cut into
 * PARTS by the hashes' highest bits, each built by itself, so that building wants the memory of one
 * part.  A hash h is one of part h * parts / 2^64.
 *
 * Body of a file, and bytes in memory: the parts without their footers, one behind the other; then
 * the footers.  How long a part is follows from its footer.  What reads some bytes behind a part
 * finds the next one's, or the footers.
 */
#ifndef PETAL_BLOOM_FILTER_PARTS_H
#define PETAL_BLOOM_FILTER_PARTS_H

#include "bloom/filter/kind.h"
#include "bloom/filter/part.h"

/* Of a builder: what all that it has in memory may take. */
#define FILTER_PARTS_DEFAULT_MEMORY_BYTES ((size_t)64 << 20)
#define FILTER_PARTS_MIN_MEMORY_BYTES     ((size_t)8 << 20)

/* A head's parameter: how many parts there are. */
#define FILTER_PARTS FILTER_OWN_PARAMETERS

struct filter_part {
    const uint8_t *bytes;
    union filter_part_shape shape;
};

struct filter_parts {
    petal_bloom bloom;
    const struct filter_part_kind *part_kind;
    struct filter_part *parts;
    uint64_t count; /* 0: there are no keys */
    double rate;    /* by theory */
    uint8_t *body;
    uint64_t body_bytes;
    uint64_t memory_bytes; /* of the body that was built; 0: it is the file's */
    struct set_file file;
};

static inline const struct filter_parts *
filter_parts_of(const petal_bloom *bloom)
{
    return (const struct filter_parts *)bloom;
}

static inline uint64_t
filter_part_of(uint64_t hash, uint64_t count)
{
    return (uint64_t)(((unsigned __int128)hash * count) >> 64);
}

/* How many parts so many keys are cut into. */
uint64_t filter_parts_for(const struct filter_part_kind *kind, uint64_t keys, size_t memory_bytes);

/* Can this kind have the rate? PETAL_INVALID: it cannot. */
enum petal_status filter_parts_check(const struct filter_part_kind *kind, double rate,
                                     petal_error *error);

/* The functions `plan` and `open` of struct filter_kind, of this kind of parts. */
enum petal_status filter_parts_plan(const struct filter_part_kind *kind,
                                    const petal_bloom_options *options, petal_bloom_plan *plan,
                                    petal_error *error);
enum petal_status filter_parts_open(const struct filter_part_kind *kind, const char *path,
                                    const petal_bloom *like, struct set_file *file,
                                    petal_bloom **bloom, petal_error *error);

/* Make the filter of a body, every part of which is checked, but for what it has the body from.
 * `like` has what its head says. `path` names the file in texts. */
enum petal_status filter_parts_new(const struct filter_part_kind *kind, const petal_bloom *like,
                                   const char *path, uint8_t *body, uint64_t body_bytes,
                                   uint64_t count, struct filter_parts **parts, petal_error *error);

/* ---- functions of struct filter_kind that both have in common ---- */

void filter_parts_free(petal_bloom *bloom);
void filter_parts_extent(const petal_bloom *bloom, struct filter_extent *extent);
double filter_parts_expected_rate(const petal_bloom *bloom, uint64_t keys);
double filter_parts_present_rate(const petal_bloom *bloom);
uint64_t filter_parts_count(const petal_bloom *bloom);
enum petal_status filter_parts_save(const petal_bloom *bloom, struct set_file_writer *writer,
                                    struct set_file_head *head, petal_error *error);

#endif
