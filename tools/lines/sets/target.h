/*
 * target.h -- the file that a command writes a set to. The library replaces it as a whole, and
 * gives it to its owner alone; a command gives it the permissions that its outputs have: those of
 * the file that it replaces, or of a new one of the user.
 */
#ifndef PETAL_TOOLS_LINES_SETS_TARGET_H
#define PETAL_TOOLS_LINES_SETS_TARGET_H

#include "tools/lines/job/job.h"

#include <sys/types.h>

struct target {
    char *path; /* where the set is to be saved: through a link, what that names */
    mode_t mode;
};

/* What is there and holds no set is refused, but an empty file: it would be gone. On failure there
 * is nothing to close. */
bool target_open(struct job *job, const char *path, struct target *target);

/* `saved`: the set is there. */
bool target_close(struct job *job, struct target *target, bool saved);

#endif
