/* names.h -- what HBase's words mean: the opposite of petal_hfile_codec_text and its like. */
#ifndef PETAL_HFILE_FORMAT_NAMES_H
#define PETAL_HFILE_FORMAT_NAMES_H

#include "tools/hfile/petal_hfile.h"

/* DEFAULT (0): the word is none of them. */
enum petal_hfile_codec hfile_codec_named(petal_slice text);
enum petal_hfile_encoding hfile_encoding_named(petal_slice text);
enum petal_hfile_bloom_type hfile_bloom_type_named(petal_slice text);

/* Codecs as trailers number them: HBase's name of a number, NULL: it has none; and the number of a
 * codec that is not DEFAULT. */
const char *hfile_codec_name_of(uint32_t number);
uint32_t hfile_codec_number_of(enum petal_hfile_codec codec);

#endif
