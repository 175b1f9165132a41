/*
 * model.h -- what `kv-bench readamp` expects: data blocks per read for each class of lookup, from
 * the error rate of each file's filter. Pure: nothing is read or measured here.
 *
 * A file is visited, newest first, until what is asked is settled by what was found. A visit costs
 * one data block for each place sought. Where the file has what is asked, the filter lets it pass;
 * where it has not, and the filter can tell, with the probability p of that file; where the filter
 * cannot tell, always. With F files this gives:
 *
 *   lookup                          NONE   ROW        ROWCOL     ROW_ROWCOL
 *   absent-column                   F      F p        F p        F p
 *   absent-row                      F      F p        F          F p
 *   column-in-none                  F      F          F p        F p
 *   newest                          1      1          1          1
 *   row-in-oldest                   F      1+(F-1)p   1+(F-1)p   1+(F-1)p
 *   column-in-oldest                F      F          1+(F-1)p   1+(F-1)p
 *   whole-row                       F      F          F          F
 *   columns-200, 6 files            696    696        200+496p   200+496p
 *   scan-column, for each row       2F     2F         F+1+(F-1)p F+1+(F-1)p
 *   scan-short                      F + 10 B / rows + B / cells, B the data blocks of all files
 *
 * A scan that names a column finds a file's next row after the last block of the row at hand,
 * which it reads: the F more in its line.
 *
 * THE STANDARD ERROR of a mean of g reads has four parts.
 * 1. Each filter errs or not, per question: p(1-p) for a file; for g questions drawn from N
 *    different ones it is that times 1/g + 1/N, since a filter answers the same question the same
 *    way each time.
 * 2. Filters of files that share a part c of their keys, and are cut alike, err together. Of a
 *    filter of 1-in-2 bits, a bit is set in two files with the probability s = b + (1-b)d^2,
 *    b = 1 - 2^-c by common keys and d = 1 - 2^-(1-c) by own ones; all k = log2(1/p) bits of a key
 *    with s^k. Two files' errors are correlated with (s^k - p^2) / (p - p^2).
 * 3. A filter's own rate is not p but what the hashes of its n keys made it: with lines of 512 bits
 *    its standard deviation is 1.1 |ln p| / sqrt(n) of p, since full lines let much more pass (by
 *    simulation, p from 0.25 to 0.0002). It is the same for all questions, so it does not shrink
 *    with g; files with common keys share part c of it.
 * 4. A filter has whole lines: its rate may be 4 % of p off, and all files' alike, since they are
 *    cut alike: 4 % / sqrt(3).
 * Few errors are not spread evenly about their mean, but have a tail upwards: one error of one
 * question more or less moves the measured mean by a grain, 1/g + 1/N, and four standard errors of
 * what is so skewed are (4^2 - 1) / 6 grains farther away.
 */
#ifndef PETAL_TOOLS_BENCH_READAMP_MODEL_H
#define PETAL_TOOLS_BENCH_READAMP_MODEL_H

#include "engine/petal.h"

#define READAMP_MOST_FILES 16
/* That columns-200 asks for; column i lies in the file that is the (i modulo F)-th newest. */
#define READAMP_COLUMNS   200
#define READAMP_SCAN_ROWS 10 /* of each scan */
#define READAMP_FAR_OFF   4  /* standard errors */

enum readamp_lookup {
    READAMP_ABSENT_COLUMN,
    READAMP_ABSENT_ROW,
    READAMP_COLUMN_IN_NONE,
    READAMP_NEWEST,
    READAMP_ROW_IN_OLDEST,
    READAMP_COLUMN_IN_OLDEST,
    READAMP_WHOLE_ROW,
    READAMP_COLUMNS_200,
    READAMP_SCAN_COLUMN,
    READAMP_SCAN_SHORT,
    READAMP_LOOKUPS
};

/* What the model needs to know of one store. Files newest first. */
struct readamp_store {
    enum petal_bloom_type filter;
    unsigned files;
    double
        rate[READAMP_MOST_FILES]; /* of errors, that the file's filter was built for; 0 with NONE */
    double keys[READAMP_MOST_FILES];        /* of the filter */
    double common;                          /* part of a filter's keys that all files have */
    double blocks_per_row, blocks_per_cell; /* data blocks of all files, by what is in the table */
};

struct readamp_reads {
    enum readamp_lookup lookup;
    double gets, population; /* how many reads, of how many different ones */
};

/* Per read; a scan is one. */
struct readamp_expected {
    double data;           /* blocks */
    double standard_error; /* of their measured mean; 0: the number is exact */
    double grain;          /* by how much one error more moves it */
    double found_newer;    /* files not visited, since the answer was settled; gets only */
    double true_positives; /* questions to filters about what the file has */
    double negatives;      /* questions about what it has not, answered or not as they should .. */
    double false_rate;     /* .. which is the share that is let pass all the same; -1 when there are
                              none */
    double false_rate_error, false_rate_grain;
};

void readamp_expect(const struct readamp_store *store, const struct readamp_reads *reads,
                    struct readamp_expected *expected);

/* Whether what was measured is farther from the expected than four standard errors. */
bool readamp_is_outside(double measured, double expected, double standard_error, double grain);

/* Blocks per read that HBase 2.6 was counted to read with six files, error rate 0.01; -1: not
 * known. */
double readamp_hbase(enum readamp_lookup lookup, enum petal_bloom_type filter, unsigned files,
                     double rate);

/* Where what a lookup asks for lies. */
enum readamp_answer { READAMP_NOWHERE, READAMP_IN_ONE_FILE, READAMP_IN_MORE_FILES };
enum readamp_answer readamp_lookup_answer(enum readamp_lookup lookup);

/* The name of a lookup, as options and programs have it, and as a person would, without a comma. */
const char *readamp_lookup_name(enum readamp_lookup lookup);
const char *readamp_lookup_text(enum readamp_lookup lookup);

#endif
