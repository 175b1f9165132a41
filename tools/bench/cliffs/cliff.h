/*
 * cliff.h -- the workloads of `kv-bench cliffs`, and what they are made of.
 *
 * The room cliffs: the command that counts what a unit of work costs at n and at 10 n.
 *
 * A workload does work that grows with its size n, and says of how many units it was. It is run at
 * n and at 10 n; what one unit costs may grow by the factor `most` and no more. Costs are counted
 * by receipts of the reads, and by callgrind, which counts the instructions of bench_cliff_measure
 * (tests/tools/bench/cliffs_test.sh); of flushes the files and their bytes are counted; the time is
 * for people.
 *
 * A workload is one entry of an array in a file of this room, by area;
 * tools/bench/cliffs/cliffs.c has the list of arrays.
 */
#ifndef PETAL_TOOLS_BENCH_CLIFFS_CLIFF_H
#define PETAL_TOOLS_BENCH_CLIFFS_CLIFF_H

#include "tools/bench/harness/util.h"

/* What a workload works with: a database of its own with one table, `t`, of one family, `f`;
 * nothing is compacted by itself. */
struct cliff_bed {
    const struct cliff *cliff;
    char directory[512];
    petal_db *db;
    petal_table *table;
    petal_family *family;
    petal_result *result; /* of cliff_get */
    petal_receipt *receipt;
    bool counted; /* reads have been counted since cliff_forget */
    uint64_t blocks, seeks, cells;
    petal_stats before;       /* at cliff_count_begin */
    petal_snapshot *snapshot; /* of a workload, freed with the database; NULL: none */
    petal_kv *kv;             /* the same; NULL: none */
    petal_db *reader;         /* beside it, closed with it; NULL: none */
    bool flushed;             /* flushes have been counted */
    uint64_t files, file_bytes;
};

#define CLIFF_ALL UINT64_MAX

struct cliff {
    const char *name; /* NULL: after the last of an array */
    const char *shows;
    const char *unit;
    uint64_t n;                   /* 0: 2000 */
    double most;                  /* growth of the cost of a unit from n to 10 n; 0: 1.5 */
    double cells;                 /* that a unit may look at; 0: not judged */
    petal_family_options options; /* of the family, but for its name */
    void (*build)(struct cliff_bed *bed, uint64_t n);
    bool stored; /* what was built is flushed, */
    bool warm;   /* and the work is done once before it is measured */
    uint64_t (*work)(struct cliff_bed *bed, uint64_t n); /* this is measured; returns the units */

    /* What cliff_scans and cliff_gets read. */
    petal_read_options read;
    const char *filter; /* its text; NULL: none */
    const char *column; /* the only one asked for; NULL: all */
    bool reversed, raw; /* of scans */
    unsigned times;     /* how often, each a unit; 0: once, which is n units */
    uint64_t found;     /* cells each time; CLIFF_ALL: n */
};

extern const struct cliff bench_cliffs_filtered_scans[];
extern const struct cliff bench_cliffs_flushes[];
extern const struct cliff bench_cliffs_gets[];
extern const struct cliff bench_cliffs_hidden[];
extern const struct cliff bench_cliffs_records[];
extern const struct cliff bench_cliffs_scans[];
extern const struct cliff bench_cliffs_together[];

/* Make and open the database; remove it. */
void cliff_make(struct cliff_bed *bed, const struct cliff *cliff);
void cliff_remove(struct cliff_bed *bed);

/* Close it and open it anew, with nothing cached; `memtable_bytes` 0: 64 MiB. */
void cliff_reopen(struct cliff_bed *bed, size_t memtable_bytes);

void cliff_forget(struct cliff_bed *bed); /* what was counted */

void cliff_put(struct cliff_bed *bed, petal_slice row, petal_slice qualifier, int64_t timestamp,
               petal_slice value);
void cliff_delete(struct cliff_bed *bed, petal_slice row, petal_slice qualifier, int64_t timestamp,
                  enum petal_cell_type type);
void cliff_flush(struct cliff_bed *bed);

/* Put a cell into the row "row". */
void cliff_put_cell(struct cliff_bed *bed, const char *qualifier, uint64_t timestamp);

/* `number` as 10 decimal digits after `prefix`, in `key`. */
#define CLIFF_KEY_BYTES 32
petal_slice cliff_key(char key[CLIFF_KEY_BYTES], const char *prefix, uint64_t number);

/* Put n cells: rows "row…" of one column "q"; the columns "column…" of the row "row"; the versions
 * 1 .. n of that row's column "q". */
void cliff_put_rows(struct cliff_bed *bed, uint64_t n);
void cliff_put_columns(struct cliff_bed *bed, uint64_t n);
void cliff_put_versions(struct cliff_bed *bed, uint64_t n);

/* Read, counted. The options have no receipt; NULL: the defaults. The cells that were found: of a
 * get they are in `result`. */
uint64_t cliff_get(struct cliff_bed *bed, petal_slice row, const petal_read_options *options);
uint64_t cliff_scan(struct cliff_bed *bed, const petal_scan_options *options);

/* The filter that a text describes. */
petal_filter *cliff_filter(struct cliff_bed *bed, const char *text);

/* Work of which struct cliff says all: scans of the table, gets of the row "row". */
uint64_t cliff_scans(struct cliff_bed *bed, uint64_t n);
uint64_t cliff_gets(struct cliff_bed *bed, uint64_t n);

/* Work that takes no receipt is counted by the database's statistics, between these two. */
void cliff_count_begin(struct cliff_bed *bed);
void cliff_count_end(struct cliff_bed *bed);

/* The same, ended with a message if there are not `wanted` cells. */
void cliff_expect(uint64_t cells, uint64_t wanted);

#endif
