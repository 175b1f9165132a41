/*
 * fixture.h -- what the tests of reads share: a database with one table, cells written by short
 * calls, and answers as text.
 *
 * ANSWERS.  Each cell is "row/family:qualifier@timestamp=value", a marker
 * "row/family:qualifier@timestamp!type", with one space after; bytes below 0x21 and above 0x7e are
 * written \xx. The text of a walk by pieces has a bar after each piece. An answer's text lives
 * until the next but three.
 */
#ifndef PETAL_TESTS_ENGINE_READ_FIXTURE_H
#define PETAL_TESTS_ENGINE_READ_FIXTURE_H

#include "base/slice.h"
#include "tests/crash/ledger.h"

struct read_fixture {
    struct fixture base;
    petal_table *table;
};

/* A slice of literal bytes, zero bytes included. */
#define BYTES(literal) slice_make(literal, sizeof literal - 1)

/* An open database with a table "t"; its families are those of `letters`, with the attributes of
 * `given` (NULL: defaults). */
void reads_open(struct read_fixture *fixture, const char *letters,
                const petal_family_options *given);
petal_family *reads_family(const struct read_fixture *fixture, const char *name);

void reads_put(const struct read_fixture *fixture, const char *family, petal_slice row,
               petal_slice qualifier, int64_t timestamp, petal_slice value);
void reads_delete(const struct read_fixture *fixture, const char *family, petal_slice row,
                  petal_slice qualifier, int64_t timestamp, enum petal_cell_type type);
void reads_flush(const struct read_fixture *fixture);
void reads_compact(const struct read_fixture *fixture);

petal_filter *reads_filter(const struct read_fixture *fixture, const char *language);
petal_cursor *reads_cursor(const struct read_fixture *fixture, const petal_scan_options *options);
petal_result *reads_result(const struct read_fixture *fixture);

const char *reads_cell_text(const petal_cell *cell);
const char *reads_result_text(const petal_result *result);
const char *reads_get(const struct read_fixture *fixture, petal_slice row,
                      const petal_read_options *options);

/* From where the cursor stands to its end: cell by cell; by pieces. */
const char *reads_rest(petal_cursor *cursor);
const char *reads_rest_by_pieces(const struct read_fixture *fixture, petal_cursor *cursor);

/* A scan, read in both ways, which must agree. */
const char *reads_scan(const struct read_fixture *fixture, const petal_scan_options *options);

/* The next cell; "" at the end. */
const char *reads_next(petal_cursor *cursor);
void reads_seek(petal_cursor *cursor, petal_slice row, const petal_family *family,
                petal_slice qualifier);

#endif
