/* line.c -- see tools/bench/readamp/line.h. */
#include "tools/bench/readamp/line.h"

#include <math.h>

#define PER_GET(name) (LOOKUP_GAIN(counts, name) / counts->gets)

static void
set_counts(struct readamp_line *line, const struct lookup_counts *counts)
{
    line->gets = counts->gets;
    line->data_fetched = PER_GET(data_fetched);
    line->index_fetched = PER_GET(index_fetched);
    line->filter_fetched = PER_GET(filter_fetched);
    line->data_wanted = line->data_fetched + PER_GET(data_cached);
    line->bytes_read_per_get = PER_GET(bytes_fetched);
    line->bytes_returned_per_get = counts->bytes_returned / counts->gets;
    line->bytes_per_useful_byte = counts->bytes_returned > 0
                                      ? LOOKUP_GAIN(counts, bytes_fetched) / counts->bytes_returned
                                      : NAN;
}

/*
 * Files do not ask where it does not pay (petal_receipt_source.filter_unasked). As long as chunks
 * stay in the cache, that is left out only for what a file has. Where they do not, it may be for
 * what is absent, as often as the file is close to a loss: no number is expected.
 */
static bool
is_certain(enum readamp_cache cache, const struct lookup_counts *counts,
           const struct readamp_expected *expected)
{
    return LOOKUP_GAIN(counts, filter_unasked) <= 0 || expected->negatives == 0 || cache < CACHES;
}

/* What filters were asked about and let pass. */
static void
set_false_positives(struct readamp_line *line, const struct lookup_counts *counts,
                    const struct readamp_expected *expected)
{
    double negatives = LOOKUP_GAIN(counts, filter_negatives);
    double positives = LOOKUP_GAIN(counts, filter_probes) - negatives;
    double wrong =
        positives + LOOKUP_GAIN(counts, filter_unasked) - expected->true_positives * counts->gets;

    line->false_positive_rate = line->false_positive_rate_expected = NAN;
    if (expected->negatives > 0) {
        line->false_positive_rate = wrong / (wrong + negatives);
        line->false_positive_rate_expected = expected->false_rate;
    }
}

/* Is what the cache leaves to be fetched not what it has to be?  Not known where its size is given.
 */
static bool
fetches_are_outside(const struct readamp_line *line, enum readamp_cache cache,
                    const struct readamp_expected *expected)
{
    if (cache >= CACHES)
        return false;
    /* Of a file that has what is asked, some chunks are fetched late, to see whether asking pays by
     * now. */
    return readamp_is_outside(line->data_fetched, cache == CACHE_ALL ? 0 : line->data_wanted, 0,
                              0) ||
           line->index_fetched > 0 || (expected->true_positives == 0 && line->filter_fetched > 0);
}

void
readamp_line_fill(struct readamp_line *line, enum readamp_cache cache,
                  const struct readamp_store *store, const struct readamp_reads *reads,
                  const struct lookup_counts *counts, const struct readamp_expected *expected)
{
    bool narrow_get =
        lookup_table(reads->lookup) == BED_NARROW && reads->lookup != READAMP_SCAN_SHORT;
    bool certain = is_certain(cache, counts, expected);
    double error = expected->standard_error, grain = expected->grain;
    double skipped = store->files - expected->found_newer - expected->data;

    set_counts(line, counts);
    set_false_positives(line, counts, expected);
    line->expected_data = expected->data;
    line->standard_error = expected->standard_error;
    line->outside =
        fetches_are_outside(line, cache, expected) ||
        (narrow_get &&
         readamp_is_outside(PER_GET(skipped_found_newer), expected->found_newer, 0, 0)) ||
        (certain &&
         (readamp_is_outside(line->data_wanted, expected->data, error, grain) ||
          (narrow_get && readamp_is_outside(PER_GET(skipped_bloom), skipped, error, grain)) ||
          (expected->negatives > 0 &&
           readamp_is_outside(line->false_positive_rate, line->false_positive_rate_expected,
                              expected->false_rate_error, expected->false_rate_grain))));
    /* What no model tells when questions were left out that would have been answered "absent". */
    if (!certain) {
        line->expected_data = line->standard_error = NAN;
        line->false_positive_rate = line->false_positive_rate_expected = NAN;
    }
}

/*
 * A filter must not make a lookup read more bytes than none does. What is allowed for: each open
 * file may spend so many blocks to find out that asking its filter does not pay, and asks one
 * question in 1024 after that (sstable/filter/bloom_account.h).
 */
#define ACCOUNT_BLOCKS   24
#define ACCOUNT_INTERVAL 1024

void
readamp_line_compare_bytes(struct readamp_line *line, const struct bed_facts *facts,
                           const struct lookup_counts *counts, double *none)
{
    double questions = LOOKUP_GAIN(counts, filter_probes) + LOOKUP_GAIN(counts, filter_unasked);
    double blocks = ACCOUNT_BLOCKS * facts->store.files + questions / ACCOUNT_INTERVAL;
    double block_bytes = facts->data_bytes / facts->blocks;

    if (facts->store.filter == PETAL_BLOOM_NONE)
        *none = line->bytes_read_per_get;
    line->more_bytes = /* false if *none is not known */
        line->bytes_read_per_get > *none + blocks * block_bytes / counts->gets;
}
