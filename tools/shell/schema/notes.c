/* notes.c -- see tools/shell/schema/notes.h. */
#include "tools/shell/schema/notes.h"

#include "tools/shell/schema/attribute.h"
#include "tools/shell/text/near.h"

#include <string.h>

/* What is true of Petal, whatever the attribute says; nothing is told of the value `fits`, which
 * asks for no more than that. */
static const struct note {
    const char *attribute, *fits, *fact;
} notes[] = {
    {"COMPRESSION", NULL, "Petal has no such codec and compresses with LZ4 instead"},
    {"COMPRESSION_COMPACT", NULL,
     "Petal has no such codec, so compactions compress as COMPRESSION says"},
    {"COMPRESSION_COMPACT_MAJOR", NULL,
     "Petal has no such codec, so compactions of all files compress as if it were not given"},
    {"COMPRESSION_COMPACT_MINOR", NULL,
     "Petal has no such codec, so compactions of some files compress as if it were not given"},
    {"REPLICATION_SCOPE", "0", "Petal sends nothing to other clusters"},
    {"DATA_BLOCK_ENCODING", "NONE", "all blocks of Petal have one encoding, its own"},
    {"INDEX_BLOCK_ENCODING", "NONE", "all blocks of Petal have one encoding, its own"},
    {"CACHE_DATA_ON_WRITE", "false", "Petal's blocks enter the cache when they are read"},
    {"CACHE_INDEX_ON_WRITE", "false", "Petal's blocks enter the cache when they are read"},
    {"CACHE_BLOOMS_ON_WRITE", "false", "Petal's blocks enter the cache when they are read"},
    {"EVICT_BLOCKS_ON_CLOSE", "false", "Petal's block cache goes when the database is closed"},
    {"PREFETCH_BLOCKS_ON_OPEN", "false", "Petal reads blocks when they are asked for"},
    {"IN_MEMORY_COMPACTION", "NONE", "Petal compacts store files only"},
    {"COMPRESS_TAGS", "false", "Petal's cells have no tags"},
    {"IS_MOB", "false", "Petal stores large values with all others"},
    {"MOB_THRESHOLD", NULL, "Petal stores large values with all others"},
    {"DFS_REPLICATION", "0",
     "Petal writes to the file system that it is given, and each file once"},
    {"STORAGE_POLICY", NULL, "Petal writes to the file system that it is given"},
    {"ENCRYPTION", NULL, "Petal does not encrypt, so whoever reads the files reads the data"},
    {"ENCRYPTION_KEY", NULL, "Petal does not encrypt, so whoever reads the files reads the data"},
    {"MAX_FILESIZE", NULL, "a table of Petal is one region, which is never split"},
    {"MEMSTORE_FLUSHSIZE", NULL,
     "the memory for writes is one for all tables, and is set when the database is opened: "
     "kv-shell --memtable"},
    {"COMPACTION_ENABLED", "true",
     "compactions are switched off for the whole database when it is opened: kv-shell "
     "--no-compaction"},
    {"SPLIT_ENABLED", "false", "a table of Petal is one region, which is never split"},
    {"MERGE_ENABLED", "false", "a table of Petal is one region, so none are merged"},
    {"REGION_REPLICATION", "1", "Petal keeps a table once"},
    {"PRIORITY", "0", "Petal serves all tables alike"},
};

static const struct note *
find_note(const petal_attribute *attribute)
{
    for (size_t i = 0; i < COUNT_OF(notes); i++)
        if (slice_is(attribute->name, notes[i].attribute))
            return &notes[i];
    return NULL;
}

static bool
names_codec(const petal_attribute *attribute)
{
    static const char word[] = "COMPRESSION";

    return attribute->name.size >= sizeof(word) - 1 &&
           memcmp(attribute->name.data, word, sizeof(word) - 1) == 0;
}

/* Compactions compress so. */
static bool
is_acted_upon(const petal_attribute *attribute)
{
    return names_codec(attribute) &&
           (slice_is(attribute->value, "LZ4") || slice_is(attribute->value, "LZ4HC") ||
            slice_is(attribute->value, "NONE"));
}

static void
tell_attribute(struct session *session, const petal_attribute *attribute)
{
    const struct note *note = find_note(attribute);
    struct text line = {0};

    if (note == NULL || is_acted_upon(attribute) ||
        (note->fits != NULL && slice_is(attribute->value, note->fits)))
        return;
    text_add_format(&line, "kv-shell: %s => '", note->attribute);
    text_add_binary(&line, attribute->value);
    text_add_format(&line, "' is kept and shown, but %s%s\n",
                    names_codec(attribute) ? "" : "changes nothing: ", note->fact);
    session_note(session, &line);
    text_free(&line);
}

static void
tell_new(struct session *session, const petal_attribute *old, size_t old_count,
         const petal_attribute *attributes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const petal_attribute *was =
            attribute_find(old, old_count, PETAL_KEPT_ATTRIBUTE, attributes[i].name);

        if (attributes[i].kind == PETAL_KEPT_ATTRIBUTE &&
            (was == NULL || !slices_equal(was->value, attributes[i].value)))
            tell_attribute(session, &attributes[i]);
    }
}

static const petal_family_options *
find_family(const petal_table_options *table, petal_slice name)
{
    for (size_t i = 0; table != NULL && i < table->family_count; i++)
        if (slices_equal(table->families[i].name, name))
            return &table->families[i];
    return NULL;
}

void
notes_tell(struct session *session, const petal_table_options *before, const struct schema *after)
{
    for (size_t i = 0; i < after->table.family_count; i++) {
        const petal_family_options *family = &after->families[i];
        const petal_family_options *was = find_family(before, family->name);

        tell_new(session, was != NULL ? was->attributes : NULL,
                 was != NULL ? was->attribute_count : 0, family->attributes,
                 family->attribute_count);
    }
    tell_new(session, before != NULL ? before->attributes : NULL,
             before != NULL ? before->attribute_count : 0, after->table.attributes,
             after->table.attribute_count);
    if (after->splits) {
        struct text line = {0};

        text_add_string(&line, "kv-shell: split points change nothing: a table of Petal is one "
                               "region\n");
        session_note(session, &line);
        text_free(&line);
    }
}

void
notes_tell_new_families(struct session *session, const petal_table_options *before,
                        const struct schema *after)
{
    for (size_t i = 0; i < after->table.family_count; i++) {
        petal_slice name = after->families[i].name, nearest = {NULL, 0};
        struct text line = {0};
        unsigned least = 0;

        if (find_family(before, name) != NULL)
            continue;
        for (size_t j = 0; j < before->family_count; j++)
            near_consider_bytes(name, before->families[j].name, &nearest, &least);
        text_add_string(&line, "kv-shell: family ");
        text_add_literal(&line, name);
        text_add_string(&line, " is new in table ");
        text_add_literal(&line, before->name);
        if (nearest.data != NULL) {
            text_add_string(&line, "; did you mean ");
            text_add_literal(&line, nearest);
            text_add_string(&line, "?");
        }
        text_add_string(&line, "\n");
        session_note(session, &line);
        text_free(&line);
    }
}
