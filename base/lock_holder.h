/*
 * lock_holder.h -- which process holds the lock of a file, as far as Linux tells it in /proc.
 *
 * The kernel knows no process of a lock that belongs to an open file, but it shows the lock with
 * the descriptor of each process that has the file open.  So what is named holds the lock, or held
 * it a moment ago; who cannot be looked at, since it is another user's process, or of another
 * container or machine, is not named.
 *
 * Looks at up to 100,000 descriptors, so it is for the way to an error message.  Allocates by
 * opendir alone.  Threads: any.
 */
#ifndef PETAL_BASE_LOCK_HOLDER_H
#define PETAL_BASE_LOCK_HOLDER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Who holds a lock on the file that `descriptor` has open: "this process", "process 17 (kv-shell)",
 * or, of several, "process 17 (kv-shell) and 2 more".  False: nobody whom one can see from here.
 */
bool lock_holder_describe(int descriptor, char *text, size_t text_bytes);

#endif
