/* line.c -- see tools/bench/readamp/line.h. */
#include "tools/bench/readamp/line.h"

#include <math.h>

static void
set_counts(struct readamp_line *line, const struct lookup_counts *counts)
{
#define PER_GET(name) (LOOKUP_GAIN(counts, name) / counts->gets)
    line->gets = counts->gets;
    line->files_considered = PER_GET(files_considered);
    line->skipped_found_newer = PER_GET(skipped_found_newer);
    line->skipped_row_range = PER_GET(skipped_row_range);
    line->skipped_time_range = PER_GET(skipped_time_range);
    line->skipped_columns = PER_GET(skipped_columns);
    line->skipped_bloom = PER_GET(skipped_bloom);
    line->filter_unasked = PER_GET(filter_unasked);
    line->data_fetched = PER_GET(data_fetched);
    line->index_fetched = PER_GET(index_fetched);
    line->filter_fetched = PER_GET(filter_fetched);
    line->data_wanted = line->data_fetched + PER_GET(data_cached);
    line->index_wanted = line->index_fetched + PER_GET(index_cached);
    line->filter_wanted = line->filter_fetched + PER_GET(filter_cached);
    line->bytes_read_per_get = PER_GET(bytes_fetched);
    line->bytes_returned_per_get = counts->bytes_returned / counts->gets;
    line->bytes_per_useful_byte = counts->bytes_returned > 0
                                      ? LOOKUP_GAIN(counts, bytes_fetched) / counts->bytes_returned
                                      : NAN;
#undef PER_GET
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
    return LOOKUP_GAIN(counts, filter_unasked) <= 0 || expected->negatives == 0 ||
           (cache != CACHE_NONE && cache != CACHE_TENTH && cache < CACHES);
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
    double wrong_expected = expected->negatives * expected->false_rate;

    line->false_positive_rate = line->false_positive_rate_expected = NAN;
    line->false_share = line->false_share_expected = NAN;
    if (expected->negatives > 0) {
        line->false_positive_rate = wrong / (wrong + negatives);
        line->false_positive_rate_expected = expected->false_rate;
        line->false_share = positives > 0 ? wrong / positives : NAN;
        line->false_share_expected = wrong_expected / (wrong_expected + expected->true_positives);
    }
}

/* What the cache leaves to be fetched, where that is certain. */
static void
set_expected_fetches(struct readamp_line *line, enum readamp_cache cache,
                     const struct readamp_expected *expected)
{
    bool none = cache == CACHE_NONE;

    line->expected_data_fetched = line->expected_index_fetched = line->expected_filter_fetched =
        NAN;
    if (cache == CACHE_TENTH || cache >= CACHES ||
        (cache == CACHE_FILTERS && line->index_wanted > 0))
        return;
    line->expected_data_fetched = cache == CACHE_ALL ? 0 : line->data_wanted;
    line->expected_index_fetched = none ? line->index_wanted : 0;
    /* Of a file that has what is asked, some chunks are fetched late, to see whether asking pays by
     * now. */
    if (none || expected->true_positives == 0)
        line->expected_filter_fetched = none ? line->filter_wanted : 0;
}

static bool
differs(double measured, double expected, double standard_error, double grain)
{
    return !isnan(expected) && readamp_is_outside(measured, expected, standard_error, grain);
}

static bool
is_outside(const struct readamp_line *line, const struct readamp_expected *expected)
{
    double error = expected->standard_error, grain = expected->grain;

    return differs(line->data_wanted, line->expected_data, error, grain) ||
           differs(line->skipped_found_newer, line->expected_found_newer, 0, 0) ||
           differs(line->skipped_bloom, line->expected_bloom, error, grain) ||
           differs(line->false_positive_rate, line->false_positive_rate_expected,
                   expected->false_rate_error, expected->false_rate_grain) ||
           differs(line->data_fetched, line->expected_data_fetched, 0, 0) ||
           differs(line->index_fetched, line->expected_index_fetched, 0, 0) ||
           differs(line->filter_fetched, line->expected_filter_fetched, 0, 0);
}

void
readamp_line_fill(struct readamp_line *line, enum readamp_cache cache,
                  const struct readamp_store *store, const struct readamp_reads *reads,
                  const struct lookup_counts *counts, const struct readamp_expected *expected)
{
    bool narrow_get =
        lookup_table(reads->lookup) == BED_NARROW && reads->lookup != READAMP_SCAN_SHORT;

    set_counts(line, counts);
    set_false_positives(line, counts, expected);
    line->expected_data = expected->data;
    line->standard_error = expected->standard_error;
    line->expected_found_newer = narrow_get ? expected->found_newer : NAN;
    line->expected_bloom = narrow_get ? store->files - expected->found_newer - expected->data : NAN;
    set_expected_fetches(line, cache, expected);
    /* What no model tells when questions were left out that would have been answered "absent". */
    if (!is_certain(cache, counts, expected)) {
        line->expected_data = line->standard_error = line->expected_bloom = line->false_share = NAN;
        line->false_positive_rate = line->false_positive_rate_expected = NAN;
        line->false_share_expected = NAN;
    }
    line->outside = is_outside(line, expected);
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
    line->bytes_without_filter = *none;
    line->more_bytes = /* false if *none is not known */
        line->bytes_read_per_get > *none + blocks * block_bytes / counts->gets;
}
