/*
 * read.h -- the options of a recorded get or scan, parsed.
 *
 * What HBase's client does with them is done here, because the answers were recorded after it:
 * - A read that names a family after columns of it reads all of it; one that names a column after
 *   the family reads that column only.  A column named twice is named once.
 * - Of two time ranges of a read, or of one family in a read, the later counts; so does the later
 *   of start and prefix.
 */
#ifndef PETAL_TESTS_CONFORMANCE_READ_H
#define PETAL_TESTS_CONFORMANCE_READ_H

#include "tests/conformance/filter.h"

struct time_range {
    bool given;
    int64_t min, limit;
};

struct recorded_column {
    petal_slice family, qualifier;
    bool whole_family;
};

struct recorded_family_time_range {
    petal_slice family;
    struct time_range range;
};

struct recorded_read {
    struct recorded_column *columns;
    size_t column_count;
    int64_t versions; /* INT64_MAX: all */
    struct time_range time_range;
    struct recorded_family_time_range *family_time_ranges;
    size_t family_time_range_count;
    bool has_store_limit;
    int64_t store_limit, store_offset;
    struct recorded_filter filter;
    petal_slice start, stop; /* the rest is of scans only */
    bool start_exclusive, stop_inclusive, reversed, raw;
    int64_t limit, batch;
};

/* `A,B` after `timerange=`, A being `first`. */
bool time_range_read(struct reader *reader, petal_slice first, struct time_range *range);

/* Parse the options of a get or scan, to the end of the line. */
bool read_options_read(struct reader *reader, bool scan, struct recorded_read *read);

/* `filter=` or `filterx=` and its string. */
bool recorded_filter_read(struct reader *reader, petal_slice name, struct recorded_filter *filter);

#endif
