/*
 * stray.h -- a store file that the manifest does not name. A flush or compaction that was cut off
 * leaves such; but a table or family is made, for good, before anything is written for it, so a
 * file of one that the manifest has never known tells that the manifest was cut short, and may be
 * the only copy of its cells.
 */
#ifndef PETAL_ENGINE_STORE_STRAY_H
#define PETAL_ENGINE_STORE_STRAY_H

#include "base/directory.h"
#include "engine/manifest/state.h"
#include "sstable/format.h"

/*
 * Whether the facts of a stray tell that the manifest was cut short: then *error, which may be
 * NULL, is PETAL_CORRUPT and says so. Those of a file of another database do not.
 */
bool stray_tells_of_cut(const struct manifest *manifest, const char *path,
                        const struct file_facts *facts, petal_error *error);

/*
 * The same of the file at `path`. PETAL_OK: it tells nothing, as one that is not whole. Where it
 * cannot be read, or there is no memory, that is the error: nobody knows what it tells.
 */
enum petal_status stray_check(const struct directory *directory, const struct manifest *manifest,
                              const char *path, petal_error *error);

#endif
