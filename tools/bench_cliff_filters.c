/* bench_cliff_filters.c -- workloads of `kv-bench cliffs`: what filters and raw scans do for each cell. */
#include "tools/bench_cliff.h"

/* A column of n versions. */
static void
build_versions(struct cliff_bed *bed, uint64_t n)
{
    for (uint64_t i = 1; i <= n; i++)
        cliff_put(bed, bench_text("row"), bench_text("q"), (int64_t)i, bench_text("value"));
}

static uint64_t
scan_filtered(struct cliff_bed *bed, petal_filter *filter)
{
    uint64_t cells = cliff_scan(
        bed, &(petal_scan_options){.read = {.versions = PETAL_ALL_VERSIONS, .filter = filter}});

    petal_filter_free(filter);
    return cells;
}

static uint64_t
scan_dependent(struct cliff_bed *bed, uint64_t n)
{
    petal_filter *filter;
    petal_error error;

    bench_check(petal_filter_parse(bed->db, bench_text("DependentColumnFilter('f', 'q', false)"),
                                   &filter, &error),
                &error, "make a filter");
    cliff_expect(scan_filtered(bed, filter), n);
    return n;
}

/* n writes at one timestamp, of one column and of the whole family, by turns of both kinds. */
static void
build_writes(struct cliff_bed *bed, uint64_t n)
{
    static const enum petal_cell_type types[] = {PETAL_PUT, PETAL_DELETE_FAMILY, PETAL_DELETE,
                                                 PETAL_DELETE_FAMILY_VERSION};
    petal_error error;

    for (uint64_t i = 0; i < n; i++) {
        enum petal_cell_type type = types[i % 4];

        if (type == PETAL_PUT)
            cliff_put(bed, bench_text("row"), bench_text("q"), 1, bench_text("value"));
        else
            bench_check(petal_delete(bed->family, bench_text("row"),
                                     bench_text(type == PETAL_DELETE ? "q" : ""), 1, type, NULL,
                                     &error),
                        &error, "delete");
    }
}

static uint64_t
scan_raw(struct cliff_bed *bed, uint64_t n)
{
    /* The latest of each kind. */
    cliff_expect(cliff_scan(bed, &(petal_scan_options){.read = {.versions = PETAL_ALL_VERSIONS},
                                                       .raw = true}),
                 4);
    return n;
}

const struct cliff bench_cliffs_filters[] = {
    {.name = "dependent-column",
     .shows = "DependentColumnFilter over n versions of its column",
     .unit = "cell",
     .n = 2000,
     .most = 1.5,
     .options = {.versions = INT32_MAX},
     .build = build_versions,
     .work = scan_dependent},
    {.name = "raw-writes",
     .shows = "raw scan of n writes at one timestamp",
     .unit = "write",
     .n = 2000,
     .most = 1.5,
     .options = {.versions = INT32_MAX},
     .build = build_writes,
     .work = scan_raw},
    {.name = NULL},
};
