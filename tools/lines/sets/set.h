/*
 * set.h -- what a file of petal_bloom.h holds, whichever it is: a filter, a bitmap, a map of
 * doubles, a count of distinct keys.
 *
 * What fails is told by job_fail, and names the file. Belongs to one thread.
 */
#ifndef PETAL_TOOLS_LINES_SETS_SET_H
#define PETAL_TOOLS_LINES_SETS_SET_H

#include "bloom/petal_bloom.h"
#include "tools/lines/job/job.h"

#include <sys/types.h>

struct set {
    const char *path; /* lives as long */
    enum petal_bloom_file_type type;
    /* The one of its type: */
    petal_bloom *filter;
    petal_bitmap *bitmap;
    petal_bitmap2 *doubles;
    petal_distinct *distinct;
};

/* "a filter", "a bitmap" and so on. */
const char *set_type_name(enum petal_bloom_file_type type);

/* Reads and checks the whole file, through links. `map`: it is not copied; it can be asked only. */
bool set_load(struct job *job, const char *path, bool map, struct set *set);
void set_free(struct set *set);

/* The set as if all of the other had been added to it. */
bool set_unite(struct job *job, struct set *set, const struct set *other);

bool set_save(struct job *job, const struct set *set, const char *path);

/* The file that a command writes a set to. The library replaces it as a whole, and gives it to its
 * owner alone; a command gives it the permissions that its outputs have: those of the file that it
 * replaces, or of a new one of the user. */
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
