/*
 * stats_text.c -- the statistics as Prometheus reads them: text exposition format 0.0.4. All lines
 * of a metric stand together, after its HELP and TYPE; units are seconds and bytes.
 */
#include "base/argument.h"
#include "engine/state/db.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* In front of the text, for who releases it. */
struct text_head {
    const petal_allocator *allocator;
    size_t bytes; /* allocated, this included */
};

/* A text that grows. */
struct text {
    const petal_allocator *allocator;
    char *memory; /* begins with a struct text_head */
    size_t used, capacity;
    bool failed; /* there was no memory */
};

/* What there is of a family now. */
struct family_figures {
    petal_slice table, family;
    uint64_t files, bytes, cells;
};

struct figures {
    petal_db *db;
    struct family_figures *list;
    size_t count, capacity;
    size_t first; /* of the table at hand */
    bool failed;
};

/* ---- text ---- */

static bool
make_room(struct text *text, size_t more)
{
    void *memory = text->memory;
    bool grown = !text->failed && mem_grow(text->allocator, &memory, &text->capacity, text->used,
                                           text->used + more, 1);

    text->memory = memory;
    text->failed = !grown;
    return grown;
}

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
    va_list arguments;
    int bytes;

    va_start(arguments, format);
    bytes = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (bytes < 0 || !make_room(text, (size_t)bytes + 1))
        return;
    va_start(arguments, format);
    vsnprintf(text->memory + text->used, (size_t)bytes + 1, format, arguments);
    va_end(arguments);
    text->used += (size_t)bytes;
}

/* What a label's value may be: UTF-8 with these three escaped. Names of tables and families have
 * other bytes as error_quote shows them. */
static void
add_label(struct text *text, const char *name, petal_slice value)
{
    char quoted[4 * 256 + 8];

    error_quote(value, quoted, sizeof quoted);
    add(text, "%s=\"", name);
    for (const char *at = quoted; *at != '\0'; at++) {
        if (*at == '\\' || *at == '"')
            add(text, "\\%c", *at);
        else
            add(text, "%c", *at);
    }
    add(text, "\"");
}

static void
add_head(struct text *text, const char *name, const char *type, const char *help)
{
    add(text, "# HELP petal_%s %s\n# TYPE petal_%s %s\n", name, help, name, type);
}

static void
add_number(struct text *text, const char *name, const char *type, const char *help, uint64_t number)
{
    add_head(text, name, type, help);
    add(text, "petal_%s %" PRIu64 "\n", name, number);
}

/* ---- counters, and what there is now ---- */

/* Seconds are the unit of times. From whole numbers: the point that printf gives a fraction is the
 * one of the program's locale, which may be a comma. */
static void
add_seconds(struct text *text, uint64_t nanoseconds)
{
    add(text, "%" PRIu64 ".%09" PRIu64, nanoseconds / 1000000000, nanoseconds % 1000000000);
}

static void
add_time(struct text *text, const char *name, const char *help, uint64_t microseconds)
{
    add_head(text, name, "counter", help);
    add(text, "petal_%s %" PRIu64 ".%06" PRIu64 "\n", name, microseconds / 1000000,
        microseconds % 1000000);
}

static void
add_counter(struct text *text, const char *name, const char *help, uint64_t number)
{
    static const char unit[] = "microseconds";
    char full[96], time_help[128];
    size_t bytes = strlen(name);

    if (bytes > 3 && strcmp(name + bytes - 3, "_us") == 0) {
        assert(strncmp(help, unit, sizeof unit - 1) == 0);
        snprintf(full, sizeof full, "%.*s_seconds_total", (int)bytes - 3, name);
        snprintf(time_help, sizeof time_help, "time%s", help + sizeof unit - 1);
        add_time(text, full, time_help, number);
        return;
    }
    snprintf(full, sizeof full, "%s_total", name);
    add_number(text, full, "counter", help, number);
}

static void
add_by_kind(struct text *text, const char *name, const char *type, const char *help,
            const uint64_t *numbers)
{
    static const char *const kinds[PETAL_BLOCK_KINDS] = {"data", "index", "filter"};

    add_head(text, name, type, help);
    for (int kind = 0; kind < PETAL_BLOCK_KINDS; kind++)
        add(text, "petal_%s{kind=\"%s\"} %" PRIu64 "\n", name, kinds[kind], numbers[kind]);
}

static void
add_stats(struct text *text, const petal_stats *stats)
{
#define ADD_COUNTER(name, meaning) add_counter(text, #name, meaning, stats->name);
    PETAL_STATS_MAP(ADD_COUNTER)
#undef ADD_COUNTER
    add_number(text, "cache_capacity_bytes", "gauge", "what the block cache may take now",
               stats->cache_capacity);
    add_by_kind(text, "cache_bytes", "gauge", "blocks in the cache, in bytes", stats->cache_bytes);
    add_by_kind(text, "cache_blocks", "gauge", "blocks in the cache", stats->cache_blocks);
    add_by_kind(text, "cache_inserted_total", "counter", "blocks that entered the cache",
                stats->cache_inserted);
    add_by_kind(text, "cache_evicted_total", "counter", "blocks that left the cache for others",
                stats->cache_evicted);
    add_number(text, "memory_limit_bytes", "gauge", "memory_bytes of the database",
               stats->memory_limit);
    add_number(text, "memtable_memory_bytes", "gauge", "what memtables take",
               stats->memtable_memory);
    add_number(text, "file_memory_bytes", "gauge",
               "what is kept of open store files, and what bulks have", stats->file_memory);
    add_number(text, "flushes_waiting", "gauge", "flushes that wait or run",
               stats->flushes_waiting);
    add_number(text, "compactions_running", "gauge", "compactions that run",
               stats->compactions_running);
    add_number(text, "read_only", "gauge", "1: the database takes no writes", stats->read_only);
    add_number(text, "background_failed", "gauge",
               "1: what failed in the background is not made good, or a store file is damaged",
               stats->background_error.status != PETAL_OK);
}

/* ---- by family ---- */

static bool
count_file(void *argument, const petal_file_info *file)
{
    struct figures *figures = argument;

    for (size_t i = figures->first; i < figures->count; i++) {
        struct family_figures *family = &figures->list[i];

        if (slice_equal(family->family, file->family)) {
            family->files++;
            family->bytes += file->file_bytes;
            family->cells += file->cells;
            break;
        }
    }
    return true;
}

static bool
count_table(void *argument, petal_table *table)
{
    struct figures *figures = argument;
    size_t families = petal_table_family_count(table);
    const petal_allocator *allocator = figures->db->env.allocator;

    figures->failed = !mem_grow_array(allocator, &figures->list, &figures->capacity, figures->count,
                                      figures->count + families, sizeof *figures->list);
    if (figures->failed)
        return false;
    figures->first = figures->count;
    for (size_t i = 0; i < families; i++)
        figures->list[figures->count++] =
            (struct family_figures){.table = petal_table_name(table),
                                    .family = petal_family_name(petal_table_family_at(table, i))};
    /* Damage is told elsewhere; what can be counted is counted. */
    if (petal_table_files(table, count_file, figures, NULL) == PETAL_NO_MEMORY)
        figures->failed = true;
    return !figures->failed;
}

static void
add_families(struct text *text, const struct figures *figures)
{
    static const struct {
        const char *name, *help;
        size_t at;
    } gauges[] = {
        {"family_files", "store files of the family", offsetof(struct family_figures, files)},
        {"family_file_bytes", "their bytes", offsetof(struct family_figures, bytes)},
        {"family_file_cells", "their cells, markers included",
         offsetof(struct family_figures, cells)},
    };

    for (size_t k = 0; figures->count > 0 && k < sizeof gauges / sizeof *gauges; k++) {
        add_head(text, gauges[k].name, "gauge", gauges[k].help);
        for (size_t i = 0; i < figures->count; i++) {
            uint64_t number;

            memcpy(&number, (const char *)&figures->list[i] + gauges[k].at, sizeof number);
            add(text, "petal_%s{", gauges[k].name);
            add_label(text, "table", figures->list[i].table);
            add(text, ",");
            add_label(text, "family", figures->list[i].family);
            add(text, "} %" PRIu64 "\n", number);
        }
    }
}

/* ---- histograms ---- */

static void
add_histogram(struct text *text, const struct latency *latency, const char *kind, const char *what)
{
    uint64_t nanoseconds = atomic_load_explicit(&latency->nanoseconds, memory_order_relaxed);
    char name[64], help[256];
    uint64_t count = 0;

    snprintf(name, sizeof name, "%s_seconds", kind);
    snprintf(help, sizeof help, "how long %s", what);
    add_head(text, name, "histogram", help);
    /* Each bucket is read once: the count is what these add up to, whoever adds meanwhile. */
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        count += atomic_load_explicit(&latency->buckets[i], memory_order_relaxed);
        add(text, "petal_%s_bucket{le=\"", name);
        if (latency_limit(i) == UINT64_MAX)
            add(text, "+Inf");
        else
            add_seconds(text, latency_limit(i));
        add(text, "\"} %" PRIu64 "\n", count);
    }
    add(text, "petal_%s_sum ", name);
    add_seconds(text, nanoseconds);
    add(text, "\npetal_%s_count %" PRIu64 "\n", name, count);
}

/* ---- all of it ---- */

static void
write_all(struct text *text, petal_db *db, const struct figures *figures)
{
    petal_stats stats;

    petal_stats_get(db, &stats);
    add_head(text, "info", "gauge", "the library's version");
    add(text, "petal_info{version=\"%s\"} 1\n", petal_version());
    add_stats(text, &stats);
    add_families(text, figures);
#define ADD_HISTOGRAM(kind, name, what)                                                            \
    add_histogram(text, &db->latencies.of[PETAL_LATENCY_##kind], #name, what);
    PETAL_LATENCY_MAP(ADD_HISTOGRAM)
#undef ADD_HISTOGRAM
}

enum petal_status
petal_stats_text(petal_db *db, enum petal_stats_form form, char **text, size_t *size,
                 petal_error *error)
{
    RETURN_IF_NULL(text, error);
    *text = NULL;
    if (size != NULL)
        *size = 0;
    RETURN_IF_NULL(db, error);
    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (form != PETAL_STATS_FORM_DEFAULT && form != PETAL_PROMETHEUS)
        return error_set(error, PETAL_INVALID,
                         "form is %d; it must be PETAL_PROMETHEUS, which is %d", (int)form,
                         (int)PETAL_PROMETHEUS);

    struct figures figures = {.db = db};
    struct text made = {.allocator = db->env.allocator};
    enum petal_status status = petal_table_list(db, count_table, &figures, error);

    if (status == PETAL_OK && make_room(&made, sizeof(struct text_head)))
        made.used = sizeof(struct text_head);
    if (status == PETAL_OK)
        write_all(&made, db, &figures);
    if (status == PETAL_OK && (made.failed || figures.failed))
        status = error_no_memory(error);
    mem_free(db->env.allocator, figures.list, figures.capacity * sizeof *figures.list);
    if (status != PETAL_OK) {
        mem_free(made.allocator, made.memory, made.capacity);
        return status;
    }
    memcpy(made.memory, &(struct text_head){made.allocator, made.capacity},
           sizeof(struct text_head));
    *text = made.memory + sizeof(struct text_head);
    if (size != NULL)
        *size = made.used - sizeof(struct text_head);
    return PETAL_OK;
}

void
petal_stats_text_free(char *text)
{
    struct text_head head;

    if (text == NULL)
        return;
    memcpy(&head, text - sizeof head, sizeof head);
    mem_free(head.allocator, text - sizeof head, head.bytes);
}
