/*
 * link.h -- a second name for a store file, or a copy of it where the file system makes none.
 *
 * Store files are written once and never changed, so names may share one. Threads: pure functions.
 */
#ifndef PETAL_ENGINE_TABLE_LINK_H
#define PETAL_ENGINE_TABLE_LINK_H

#include "base/directory.h"

/*
 * Make `to`, which must not exist, a file of the same bytes as `from`, which is written and synced.
 * Its bytes are durable then; its name is when its directory has been synced. A copy that fails is
 * removed again.
 */
enum petal_status file_link_or_copy(const struct directory *from_directory, const char *from,
                                    const struct directory *to_directory, const char *to,
                                    petal_error *error);

#endif
