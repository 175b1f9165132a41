/*
 * names.h -- the names of a database's files, made and parsed here only.
 *
 *   000123.log    log 123            MANIFEST      what files and tables there are
 *   000123.sst    store file 123     MANIFEST.tmp  the next manifest, not yet valid
 *   LOCK          held by the one writer
 *   READERS       what the readers next to it use (engine/state/readers.h)
 *
 * Logs and store files share one number space.  A number has at least six digits and no more than
 * it needs beyond them, so each number has one name.  No name ever comes from the contents of a
 * file.
 *
 * Threads: pure functions.
 */
#ifndef PETAL_ENGINE_MANIFEST_NAMES_H
#define PETAL_ENGINE_MANIFEST_NAMES_H

#include "base/directory.h"

enum filename_kind {
    FILENAME_OTHER, /* not ours: leave it alone */
    FILENAME_WAL,
    FILENAME_STORE_FILE,
    FILENAME_MANIFEST,
    FILENAME_MANIFEST_TEMPORARY,
    FILENAME_LOCK,
    FILENAME_READERS
};

/* Whether every path below `directory` fits.  Asked once, when a database is opened. */
bool filename_directory_fits(const char *directory);

/* REQUIRES: filename_directory_fits(directory). */
void filename_wal(char path[PETAL_PATH_BYTES], const char *directory, uint64_t number);
void filename_store_file(char path[PETAL_PATH_BYTES], const char *directory, uint64_t number);
void filename_manifest(char path[PETAL_PATH_BYTES], const char *directory);
void filename_manifest_temporary(char path[PETAL_PATH_BYTES], const char *directory);
void filename_lock(char path[PETAL_PATH_BYTES], const char *directory);
void filename_readers(char path[PETAL_PATH_BYTES], const char *directory);

/* What the directory entry `name` is; *number is set for logs and store files, else 0. */
enum filename_kind filename_parse(const char *name, uint64_t *number);

#endif
