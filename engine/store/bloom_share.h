/*
 * bloom_share.h -- what part of a family's error rate a new store file may use up, and of what its
 * filter is made.
 *
 * The rate is what a get of an absent row may cost in the whole store: the sum over runs of their
 * files' rates (of a run only one file can hold the row). The output of an all-files compaction
 * gets half of it, for it holds most keys; each other file an equal share of the other half among
 * the most runs there can be besides it (after Monkey, Dayan et al., SIGMOD 2017: few keys, many
 * bits). No file gets more than BLOOM_SHARE_MOST_BITS bits a key; what is then above the share is
 * in the file's recorded rate, and so in the sum that `stats` shows.
 *
 * A rate is that of one question to a filter. A get that names columns asks ROWCOL and ROW_ROWCOL
 * filters once for each, and once more in files that hold family markers: what it may cost is so
 * many times the rate.
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

/* The layout (bloom/bloom.h) for it: RIBBON, if the family is so, only for what lives long and
 * holds most keys, the output of an all-files compaction; what is soon merged again is built
 * quickly. */
unsigned bloom_share_layout(const petal_family_options *family, enum file_origin origin);

#endif
