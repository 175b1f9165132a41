/*
 * words.h -- HBase's words for what attributes can be.
 */
#ifndef PETAL_TOOLS_SHELL_SCHEMA_WORDS_H
#define PETAL_TOOLS_SHELL_SCHEMA_WORDS_H

#include "tools/shell/session/words_of_values.h"

extern const struct word bloom_words[], bloom_kind_words[], durability_words[],
    keep_deleted_words[], compression_words[];

/* "UNKNOWN" for a value that none stands for. */
const char *word_of(const struct word *words, int value);

#endif
