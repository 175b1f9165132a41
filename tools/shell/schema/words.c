/* words.c -- see tools/shell/schema/words.h. */
#include "tools/shell/schema/words.h"

const struct word bloom_words[] = {{"NONE", PETAL_BLOOM_NONE},
                                   {"ROW", PETAL_BLOOM_ROW},
                                   {"ROWCOL", PETAL_BLOOM_ROWCOL},
                                   {"ROW_ROWCOL", PETAL_BLOOM_ROW_ROWCOL},
                                   {"ROWPREFIX_FIXED_LENGTH", PETAL_BLOOM_ROW_PREFIX},
                                   {NULL, 0}};

/* Families take the first two; files may have the last one. */
const struct word bloom_kind_words[] = {{"BLOCKED", PETAL_BLOOM_KIND_BLOCKED},
                                        {"RIBBON", PETAL_BLOOM_KIND_RIBBON},
                                        {"STANDARD", PETAL_BLOOM_KIND_STANDARD},
                                        {NULL, 0}};

const struct word durability_words[] = {{"USE_DEFAULT", PETAL_DURABILITY_DEFAULT},
                                        {"SKIP_WAL", PETAL_SKIP_WAL},
                                        {"ASYNC_WAL", PETAL_ASYNC_WAL},
                                        {"SYNC_WAL", PETAL_SYNC_WAL},
                                        {"FSYNC_WAL", PETAL_FSYNC_WAL},
                                        {NULL, 0}};

const struct word keep_deleted_words[] = {{"FALSE", PETAL_KEEP_DELETED_FALSE},
                                          {"TRUE", PETAL_KEEP_DELETED_TRUE},
                                          {"TTL", PETAL_KEEP_DELETED_TTL},
                                          {NULL, 0}};

const struct word compression_words[] = {
    {"LZ4", PETAL_COMPRESSION_LZ4}, {"NONE", PETAL_COMPRESSION_NONE}, {NULL, 0}};

const char *
word_of(const struct word *words, int value)
{
    for (; words->name != NULL; words++)
        if (words->value == value)
            return words->name;
    return "UNKNOWN";
}
