/*
 * orphan_files.h -- store files that the manifest does not name. An interrupted flush or compaction
 * leaves such files. But a table or family is committed to the manifest before any file is written
 * for it: so a file of a table or family that the manifest has never known proves that the manifest
 * was truncated, and may hold the only copy of its cells.
 */
#ifndef PETAL_ENGINE_STORE_ORPHAN_FILES_H
#define PETAL_ENGINE_STORE_ORPHAN_FILES_H

#include "base/directory.h"
#include "engine/manifest/state.h"
#include "sstable/block/format.h"

/*
 * Do the facts of an orphan prove that the manifest was truncated? Then *error, which may be NULL,
 * is PETAL_CORRUPT and says so. A file of another database proves nothing.
 */
bool orphan_tells_of_cut(const struct manifest *manifest, const char *path,
                         const struct file_facts *facts, petal_error *error);

/*
 * The same for the file at `path`. PETAL_OK: it proves nothing; an incomplete file does not. If the
 * file cannot be read, or without memory, that is the error, since the file might be a proof.
 */
enum petal_status orphan_check(const struct directory *directory, const struct manifest *manifest,
                               const char *path, petal_error *error);

#endif
