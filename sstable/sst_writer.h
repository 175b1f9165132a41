/*
 * sst_writer.h -- writes one store file, front to back, from cells in cell order.
 *
 * Data blocks, Bloom chunks and index nodes go out as they fill; sst_writer_finish adds the roots
 * of the indexes, facts and trailer and syncs the file.  The caller syncs the directory and names
 * the file in the manifest. Before finish succeeds every key's hash has been probed against the
 * finished Bloom chunk, so that bad memory does not make a filter that lies.
 *
 * After an error the writer only repeats it: free it.
 *
 * Threads: a writer belongs to one thread.
 */
#ifndef PETAL_SSTABLE_SST_WRITER_H
#define PETAL_SSTABLE_SST_WRITER_H

#include "base/cell.h"
#include "base/directory.h"
#include "sstable/file/sst_options.h"

struct sst_writer;

/* Creates the file at `path` in `directory`, which outlives the writer (it must not exist). */
enum petal_status sst_writer_open(struct sst_writer **writer, const struct directory *directory,
                                  const char *path, const struct sst_options *options,
                                  petal_error *error);

/* `cell` sorts after the previous one: else PETAL_INVALID.  Its bytes are copied. */
enum petal_status sst_writer_add(struct sst_writer *writer, const struct cell *cell,
                                 petal_error *error);

/* Bytes written and buffered so far, about: when to start another file. */
uint64_t sst_writer_bytes(const struct sst_writer *writer);

/* Complete, sync and close the file; PETAL_INVALID without cells.  *facts (may be NULL) points
 * into the writer until sst_writer_free. */
enum petal_status sst_writer_finish(struct sst_writer *writer, const struct file_facts **facts,
                                    petal_error *error);

/*
 * Bytes of memory that the writer has, about; and give back the larger part of them by writing what
 * is buffered and kept back. After a failure the writer has failed.
 */
size_t sst_writer_memory(const struct sst_writer *writer);
enum petal_status sst_writer_spill(struct sst_writer *writer, petal_error *error);

/*
 * Have a finished file's trailer say that its cells' sequences are greater by `shift` than those
 * that stand in it, and sync that. REQUIRES: the writer's origin was FILE_ORIGIN_BULK, nobody has
 * the file open, and no manifest names it.
 */
enum petal_status sst_state_shift(const struct directory *directory, struct file_pool *pool,
                                  const char *path, uint64_t shift, petal_error *error);

/* Releases everything; removes the file if it was not finished.  NULL: no-op. */
void sst_writer_free(struct sst_writer *writer);

#endif
