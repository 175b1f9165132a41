/*
 * bed.h -- the tables that `kv-bench readamp` reads, made anew for each filter, error rate and
 * number of files.
 *
 * The room readamp: the command that counts what reads read, next to what theory expects.
 *
 * NARROW.  Each of the F files has N rows of one cell, all over the same range: N/4 shared rows,
 * which lie in each file with a column of that file's own; N/4 updated rows, which lie in each file
 * with the same column; N/2 rows of the file's own. A first and a last row lie in all files, so
 * that every row asked for is within their range.
 * WIDE.  A few rows, each in every file: of 200 columns each lies in one file, and between each two
 * of them every file has a column that nobody asks for, so that each column's place is in a block
 * of its own.
 * SCAN.  Rows that lie in every file with four columns of a block each; between these the oldest
 * file has a fifth one.
 *
 * Qualifiers are many more than a file records one by one, so that only its filter can tell columns
 * apart. Files are flushed one after the other and never compacted, and the error rate is that of
 * each file; or it is that of the whole store, as families have it by default, and the oldest file
 * may come from a compaction of all that there were.
 */
#ifndef PETAL_TOOLS_BENCH_READAMP_BED_H
#define PETAL_TOOLS_BENCH_READAMP_BED_H

#include "tools/bench/harness/util.h"
#include "tools/bench/readamp/model.h"

#include <stdatomic.h>

enum bed_table { BED_NARROW, BED_WIDE, BED_SCAN, BED_TABLES };

#define BED_WIDE_ROWS   10
#define BED_SCAN_ROWS   100
#define BED_LEAST_ROWS  2000 /* of a narrow file: as many give it more qualifiers than it records */
#define BED_MOST_COLUMN 32   /* bytes of a qualifier */
#define BED_SCANNED     "m"  /* the column of the scan table's oldest file */

enum bed_rate { BED_RATE_PER_FILE, BED_RATE_OF_FLUSHES, BED_RATE_OF_COMPACTION, BED_RATES };

struct bed_shape {
    enum petal_bloom_type filter;
    unsigned files;
    double rate;
    enum bed_rate rate_of;
    uint64_t rows; /* of each narrow file */
    uint32_t block_bytes;
    uint64_t seed;
    bool tables[BED_TABLES]; /* which ones are wanted */
};

struct bed_facts {
    struct readamp_store store;
    double keys; /* of all filters */
    double filter_bytes, data_bytes, raw_data_bytes, blocks;
    double block_bytes; /* as the family has it */
    double most_bits;   /* a key, of the file whose filter has the most */
};

struct bed {
    struct bed_shape shape;
    char directory[512];
    _Atomic(uint64_t) random; /* state of identities and salts */
    petal_db *db;             /* NULL: closed */
    petal_table *tables[BED_TABLES];
    petal_result *result;
    struct bed_facts facts[BED_TABLES];
};

/* Make the tables; the bed is closed then. */
void bed_make(struct bed *bed, const struct bed_shape *shape);
void bed_remove(struct bed *bed);

/* Open the database anew, with nothing cached. */
void bed_open(struct bed *bed, size_t cache_bytes);
void bed_close(struct bed *bed);

/* Narrow rows, by where they lie: in all files, with columns of their own or with the same one; in
 * none; in one, from BED_OWN on, the oldest file's first. */
enum { BED_SHARED = 1, BED_UPDATED = 2, BED_ABSENT = 3, BED_OWN = 16 };

/* How many there are of a kind, and the number of the i-th. */
uint64_t bed_row_count(const struct bed *bed, unsigned kind);
uint64_t bed_row(const struct bed *bed, unsigned kind, uint64_t i);

/* The key of a narrow row; those of the other tables' rows are in order of their numbers. */
petal_slice bed_narrow_key(char key[BENCH_KEY_BYTES + 1], uint64_t row);
petal_slice bed_wide_key(char key[BENCH_KEY_BYTES + 1], const struct bed *bed, uint64_t row);

/* Qualifiers: of the narrow table the file's own column of a row, that of an updated row, and any
 * number of columns that no row has; of the wide table's rows the i-th of the 200. */
petal_slice bed_own_column(char buffer[BED_MOST_COLUMN], unsigned file, uint64_t row);
petal_slice bed_updated_column(void);
petal_slice bed_missing_column(char buffer[BED_MOST_COLUMN], uint64_t i);
petal_slice bed_wide_column(char buffer[BED_MOST_COLUMN], unsigned i);

#endif
