/* names.h -- what HBase's words mean: the opposite of petal_hfile_codec_text and its like. */
#ifndef PETAL_HFILE_FORMAT_NAMES_H
#define PETAL_HFILE_FORMAT_NAMES_H

#include "tools/hfile/petal_hfile.h"

/* DEFAULT (0): the word is none of them. */
enum petal_hfile_codec hfile_codec_named(petal_slice text);
enum petal_hfile_encoding hfile_encoding_named(petal_slice text);
enum petal_hfile_bloom_type hfile_bloom_type_named(petal_slice text);

#endif
