/*
 * link.h -- a second name for a store file, or a copy if the file system makes no links.
 *
 * Store files are written once and never changed, so names may share one. Threads: pure functions.
 */
#ifndef PETAL_ENGINE_TABLE_LINK_H
#define PETAL_ENGINE_TABLE_LINK_H

#include "base/directory.h"

/* Asked after each piece of a copy, of so many bytes; false: it ends with PETAL_BUSY. */
struct file_watch {
    bool (*go_on)(void *argument, uint64_t bytes);
    void *argument;
};

/* The two ways of file_link_or_copy, each alone. *made false: the file system makes no such link,
 * and nothing was done. `watch` may be NULL. */
enum petal_status file_link(const struct directory *from_directory, const char *from,
                            const struct directory *to_directory, const char *to, bool *made,
                            petal_error *error);
enum petal_status file_copy(const struct directory *from_directory, const char *from,
                            const struct directory *to_directory, const char *to,
                            const struct file_watch *watch, petal_error *error);

/* Make `to`, which must not exist, a file with the bytes of `from`, which is synced. Then its bytes
 * are durable; its name is once the directory has been synced. A copy that fails is removed. */
enum petal_status file_link_or_copy(const struct directory *from_directory, const char *from,
                                    const struct directory *to_directory, const char *to,
                                    petal_error *error);

#endif
