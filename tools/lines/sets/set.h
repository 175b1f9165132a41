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

/* Whether it is a path, not the "-" of a stream, which job_fail tells of. */
bool set_path_is_file(struct job *job, const char *path);

/* Reads and checks the whole file, through links. `map`: it is not copied; it can be asked only. */
bool set_load(struct job *job, const char *path, bool map, struct set *set);
void set_free(struct set *set);

/* The set as if all of the other had been added to it. */
bool set_unite(struct job *job, struct set *set, const struct set *other);

bool set_save(struct job *job, const struct set *set, const char *path);

#endif
