/*
 * bloom_share.h -- the share of a family's error rate that a new store file may use, and the kind
 * of its filter.
 *
 * The rate bounds the cost of a get of an absent row in the whole store: the sum over runs of their
 * files' rates (only one file of a run can hold the row). The output of an all-files compaction
 * gets half of it, because it holds most keys; each other file an equal share of the other half
 * among the most other runs (after Monkey, Dayan et al., SIGMOD 2017: few keys, many bits). No file
 * gets more than BLOOM_SHARE_MOST_BITS bits a key; if its rate is then above its share, that shows
 * in the file's recorded rate, and in the sum that `stats` shows.
 *
 * A rate is that of one question to a filter. A get that names columns asks ROWCOL and ROW_ROWCOL
 * filters once for each, and once more in files with family markers, and so costs a multiple.
 *
 * Threads: pure.
 */
#ifndef PETAL_ENGINE_STORE_BLOOM_SHARE_H
#define PETAL_ENGINE_STORE_BLOOM_SHARE_H

#include "engine/petal.h"
#include "sstable/block/format.h"

#define BLOOM_SHARE_MOST_BITS 20

/* The error rate for a file of `origin`; the family's own with bloom_rate_per_file. */
double bloom_share_rate(const petal_family_options *family, enum file_origin origin);

/* Its layout (bloom/bloom.h): RIBBON, if the family has it, only for the output of an all-files
 * compaction, which lives long and holds most keys; other files need filters that build fast. */
unsigned bloom_share_layout(const petal_family_options *family, enum file_origin origin);

#endif
