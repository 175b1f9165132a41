/*
 * copy_fixture.h -- what the tests of checkpoints and table snapshots share: a table of two
 * families whose content can be told as one line of text, and a count of the files that a manifest
 * names.
 */
#ifndef PETAL_TESTS_ENGINE_TABLE_COPY_FIXTURE_H
#define PETAL_TESTS_ENGINE_TABLE_COPY_FIXTURE_H

#include "tests/crash/ledger.h"

/* A new table of families f (3 versions, ROWCOL) and g, with an attribute of its own. */
enum petal_status copy_fixture_create(petal_db *db, const char *name, petal_table **table,
                                      petal_error *error);
petal_table *copy_fixture_open(petal_db *db, const char *name);

enum petal_status copy_fixture_put(petal_table *table, const char *family, const char *row,
                                   const char *value, enum petal_durability durability,
                                   petal_error *error);
void copy_fixture_must_put(petal_table *table, const char *family, const char *row,
                           const char *value);

/* All cells of one version, as "row/family=value " each, in a caller's buffer; `snapshot` may be
 * NULL. */
#define COPY_BED_TEXT_BYTES 4096
const char *copy_fixture_text(petal_table *table, const petal_snapshot *snapshot,
                              char text[COPY_BED_TEXT_BYTES]);

/* As a test: the content is `text`, and the files are sound. */
void copy_fixture_expect(petal_table *table, const char *text);

/* The names of the living table snapshots, a blank after each. */
const char *copy_fixture_snapshots(petal_db *db, char text[COPY_BED_TEXT_BYTES]);

/* Store files that the manifest in the fixture's directory names; each of them must be there. */
size_t copy_fixture_named_files(struct fixture *fixture);

/* As a test: the directory has those store files and no others. */
void copy_fixture_expect_no_stray(struct fixture *fixture);

#endif
