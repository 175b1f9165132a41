/* words.c -- the words that complete a line, and where each kind is wanted.  See
 * tools/shell/terminal/complete.h. */
#include "tools/shell/terminal/complete.h"

#include "tools/shell/ruby/ruby.h"
#include "tools/shell/schema/namespace.h"
#include "tools/shell/session/command.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- What is wanted -------------------------------------------------------------------------- */

enum word_kind
completion_argument(const struct session *session, petal_slice name, size_t argument)
{
    const struct command *command = command_find(session, name);
    const char *arguments = command != NULL && command->kinds != NULL ? command->kinds : "t";
    size_t size = strlen(arguments);
    char kind = '-';

    if (argument < size)
        kind = arguments[argument];
    else if (arguments[size - 1] == 'q')
        kind = 'q';
    switch (kind) {
    case 't':
        return WORD_TABLE;
    case 's':
        return WORD_SNAPSHOT;
    case 'c':
        return WORD_HELP;
    case 'f':
        return WORD_FAMILY;
    case 'q':
        return WORD_COLUMN;
    case 'p':
        return WORD_FILE;
    case 'n':
        return WORD_NAMESPACE;
    default:
        return WORD_NONE;
    }
}

#define READ_KEYS                                                                                  \
    "VERSIONS", "TIMERANGE", "TIMESTAMP", "FILTER", "MAXLENGTH", "FORMATTER", "FORMATTER_CLASS",   \
        "WITHOUT"
#define SCAN_KEYS                                                                                  \
    "COLUMNS", "STARTROW", "STOPROW", "INCLUDE_STOPROW", "ROWPREFIXFILTER", "LIMIT", "REVERSED",   \
        "RAW", "BATCH", READ_KEYS
#define FAMILY_KEYS                                                                                \
    "NAME", "VERSIONS", "MIN_VERSIONS", "TTL", "KEEP_DELETED_CELLS", "BLOOMFILTER", "BLOCKSIZE",   \
        "COMPRESSION", "IN_MEMORY", "BLOCKCACHE", "BLOOM_RATE_PER_FILE", "BLOOMFILTER_KIND",       \
        "NEW_VERSION_BEHAVIOR", "CONFIGURATION", "METADATA", "DURABILITY", "READONLY"

static const struct {
    const char *command;
    const char *keys[24];
} keys_of[] = {
    {"advise", {"KEYS", "SAMPLE"}},
    {"alter", {FAMILY_KEYS, "METHOD"}},
    {"alter_async", {FAMILY_KEYS, "METHOD"}},
    {"alter_namespace", {"METHOD", "NAME"}},
    {"append", {"TTL"}},
    {"clone_snapshot", {"RESTORE_ACL"}},
    {"count", {"INTERVAL", SCAN_KEYS}},
    {"create", {FAMILY_KEYS}},
    {"delete", {"TTL"}},
    {"deleteall", {"TTL", "ROWPREFIXFILTER"}},
    {"export", {"FORMAT", "ALL_VERSIONS", "CREATE", SCAN_KEYS}},
    {"export_hfiles", {"CODEC", "ENCODING", "BLOOMFILTER", "SPLITS", "SPLIT_SIZE", "VISIBLE"}},
    {"get", {"COLUMN", READ_KEYS}},
    {"import",
     {"FORMAT", "CREATE", "ROW", "ROW_NUMBER", "ROW_SEPARATOR", "FAMILY", "ON_ERROR", "MAX_ERRORS",
      "THREADS", "FLUSH_EVERY", "ONLY_FIELDS", "SKIP_FIELDS"}},
    {"import_hfiles", {"DROP_EDITS", "DROP_TAGS"}},
    {"incr", {"TTL"}},
    {"put", {"TTL"}},
    {"restore_snapshot", {"RESTORE_ACL"}},
    {"scan", {SCAN_KEYS}},
    {"snapshot", {"SKIP_FLUSH", "TTL"}},
    {"stats", {"COUNTERS", "FORMAT"}},
};

const char *const *
completion_keys(petal_slice command)
{
    for (size_t i = 0; i < COUNT_OF(keys_of); i++)
        if (slice_is(command, keys_of[i].command))
            return keys_of[i].keys;
    return NULL;
}

/* Keys whose value is true or false. */
static const char *const truths[] = {
    "ALL_VERSIONS", "BLOCKCACHE", "BLOOM_RATE_PER_FILE", "CREATE",  "DROP_EDITS",
    "DROP_TAGS",    "IN_MEMORY",  "INCLUDE_STOPROW",     "RAW",     "NEW_VERSION_BEHAVIOR",
    "READONLY",     "REVERSED",   "RESTORE_ACL",         "VISIBLE", "SKIP_FLUSH"};

static const struct {
    const char *key;
    const char *values[8];
} values_of[] = {
    {"BLOOMFILTER", {"NONE", "ROW", "ROWCOL", "ROW_ROWCOL", "ROWPREFIX_FIXED_LENGTH"}},
    {"BLOOMFILTER_KIND", {"BLOCKED", "RIBBON"}},
    {"CODEC", {"GZ", "LZ4", "NONE", "SNAPPY", "ZSTD"}},
    {"COMPRESSION", {"LZ4", "NONE"}},
    {"DURABILITY", {"ASYNC_WAL", "FSYNC_WAL", "SKIP_WAL", "SYNC_WAL"}},
    {"ENCODING", {"DIFF", "FAST_DIFF", "NONE", "PREFIX", "ROW_INDEX_V1"}},
    {"FORMAT", {"csv", "tsv", "jsonl", "hbase", "PROMETHEUS"}},
    {"FORMATTER", {"toString", "toInt", "toLong", "toShort", "toFloat", "toDouble", "toHex"}},
    {"KEEP_DELETED_CELLS", {"FALSE", "TRUE", "TTL"}},
    {"METHOD", {"delete", "table_att_unset", "table_conf_unset", "set", "unset"}},
    {"ON_ERROR", {"skip", "stop"}},
};

const char *const *
completion_values(petal_slice key)
{
    static const char *const truth[] = {"true", "false", NULL};

    for (size_t i = 0; i < COUNT_OF(truths); i++)
        if (slice_is(key, truths[i]))
            return truth;
    for (size_t i = 0; i < COUNT_OF(values_of); i++)
        if (slice_is(key, values_of[i].key))
            return values_of[i].values;
    return NULL;
}

/* ---- Words ----------------------------------------------------------------------------------- */

void
completion_add(struct completion *completion, const struct typed *typed, petal_slice word)
{
    struct completion_word *added;

    if (word.size < typed->word.size ||
        (typed->word.size > 0 && memcmp(word.data, typed->word.data, typed->word.size) != 0))
        return;
    completion->words = memory_room(completion->words, completion->count, &completion->capacity,
                                    sizeof(*completion->words));
    added = &completion->words[completion->count++];
    *added = (struct completion_word){.behind = typed->behind};
    text_add_string(&added->text, typed->before);
    text_add_slice(&added->text, word);
}

/* A list that is being walked. */
struct walk {
    struct completion *completion;
    const struct typed *typed;
};

static bool
add_table(void *argument, petal_table *table)
{
    struct walk *walk = argument;

    completion_add(walk->completion, walk->typed, petal_table_name(table));
    return true;
}

static bool
add_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    struct walk *walk = argument;

    completion_add(walk->completion, walk->typed, info->name);
    return true;
}

static void
add_topic(void *argument, petal_slice name)
{
    struct walk *walk = argument;

    completion_add(walk->completion, walk->typed, name);
}

static void
add_commands(struct session *session, struct completion *completion, const struct typed *typed)
{
    const struct command *command;

    for (command = session->commands; command->name != NULL; command++)
        completion_add(completion, typed, slice_of_string(command->name));
}

static void
add_families(struct session *session, const struct walk *walk, petal_slice name, const char *behind)
{
    struct text text = {0};
    petal_table *table;
    petal_error error;

    if (petal_table_open(session->db, name, &table, &error) != PETAL_OK)
        return;
    for (size_t i = 0; i < petal_table_family_count(table); i++) {
        text_clear(&text);
        text_add_slice(&text, petal_family_name(petal_table_family_at(table, i)));
        text_add_string(&text, behind);
        completion_add(walk->completion, walk->typed, text_slice(&text));
    }
    text_free(&text);
}

static void
add_namespaces(struct session *session, const struct walk *walk)
{
    struct name_list names = {0};

    if (namespace_list(session, NULL, &names) != SHELL_FINE)
        return;
    for (size_t i = 0; i < names.count; i++)
        completion_add(walk->completion, walk->typed, names.items[i]);
}

static int
compare_words(const void *a, const void *b)
{
    const struct completion_word *first = a, *second = b;

    return slices_compare(text_slice(&first->text), text_slice(&second->text));
}

/* Files of the directory that the typed path names; what begins with a dot only if that was
 * typed. */
static void
add_files(const struct walk *walk)
{
    const struct typed *typed = walk->typed;
    const char *slash =
        typed->word.size > 0 ? memrchr(typed->word.data, '/', typed->word.size) : NULL;
    size_t before = slash != NULL ? (size_t)(slash + 1 - (const char *)typed->word.data) : 0;
    struct text path = {0};
    const struct dirent *entry;
    DIR *directory;

    text_add(&path, typed->word.data, before);
    directory = opendir(before > 0 ? text_string(&path) : ".");
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        size_t added = walk->completion->count;
        struct stat facts;

        if (entry->d_name[0] == '.' && typed->word.size == before)
            continue;
        path.size = before;
        text_add_string(&path, entry->d_name);
        completion_add(walk->completion, typed, text_slice(&path));
        if (walk->completion->count > added && stat(text_string(&path), &facts) == 0 &&
            S_ISDIR(facts.st_mode))
            walk->completion->words[added].behind = "/";
    }
    if (directory != NULL)
        (void)closedir(directory);
    text_free(&path);
    if (walk->completion->count > 1)
        qsort(walk->completion->words, walk->completion->count, sizeof(*walk->completion->words),
              compare_words);
}

void
completion_add_kind(struct session *session, struct completion *completion,
                    const struct typed *typed, enum word_kind kind, petal_slice table)
{
    struct walk walk = {completion, typed};
    enum petal_status outcome = PETAL_OK;
    petal_error error;

    if (session->db == NULL &&
        (kind == WORD_TABLE || kind == WORD_SNAPSHOT || kind == WORD_FAMILY || kind == WORD_COLUMN))
        return;
    switch (kind) {
    case WORD_NONE:
        break;
    case WORD_HELP:
        ruby_visit_help(session, add_topic, &walk);
        add_commands(session, completion, typed);
        break;
    case WORD_COMMAND:
        add_commands(session, completion, typed);
        break;
    case WORD_TABLE:
        outcome = petal_table_list(session->db, add_table, &walk, &error);
        break;
    case WORD_SNAPSHOT:
        outcome = petal_table_snapshot_list(session->db, add_snapshot, &walk, &error);
        break;
    case WORD_FAMILY:
    case WORD_COLUMN:
        add_families(session, &walk, table, kind == WORD_COLUMN ? ":" : "");
        break;
    case WORD_FILE:
        add_files(&walk);
        break;
    case WORD_METHOD:
        for (size_t i = 0; ruby_table_method(i) != NULL; i++)
            completion_add(completion, typed, slice_of_string(ruby_table_method(i)));
        break;
    case WORD_NAMESPACE:
        add_namespaces(session, &walk);
        break;
    case WORD_FILTER:
        for (size_t i = 0; petal_filter_name(i) != NULL; i++)
            completion_add(completion, typed, slice_of_string(petal_filter_name(i)));
        break;
    }
    (void)outcome; /* what cannot be listed is not offered */
}
