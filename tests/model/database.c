/* database.c -- see tests/model/database.h. */
#include "tests/model/database.h"

#include "base/slice.h"

#include <string.h>

/* Below is room for what is loaded below all. */
#define FIRST_SEQUENCE ((uint64_t)1 << 32)

void
model_database_init(struct model_database *database)
{
    *database = (struct model_database){.sequence = FIRST_SEQUENCE - 1};
}

void
model_database_free(struct model_database *database)
{
    for (unsigned i = 0; i < MODEL_TABLES; i++)
        model_free(&database->tables[i].content);
    for (unsigned i = 0; i < MODEL_TABLE_SNAPSHOTS; i++)
        model_free(&database->snapshots[i].content.content);
    *database = (struct model_database){.now_ms = 0};
}

void
model_database_copy(struct model_database *to, const struct model_database *from)
{
    *to = *from;
    for (unsigned i = 0; i < MODEL_TABLES; i++)
        model_copy(&to->tables[i].content, &from->tables[i].content);
    for (unsigned i = 0; i < MODEL_TABLE_SNAPSHOTS; i++)
        model_copy(&to->snapshots[i].content.content, &from->snapshots[i].content.content);
}

/* Sequence and times of the tables are those of the database. */
static void
tell_tables(struct model_database *database)
{
    for (unsigned i = 0; i < MODEL_TABLES; i++) {
        struct model *content = &database->tables[i].content;

        content->sequence = database->sequence;
        content->now_ms = database->now_ms;
        content->written_ms = database->written_ms;
    }
}

void
model_database_set_time(struct model_database *database, int64_t now_ms)
{
    database->now_ms = now_ms;
    tell_tables(database);
}

petal_slice
model_table_name(unsigned table)
{
    static const char *const names[MODEL_TABLES] = {"t", "u", "n:v"};

    return slice_from_text(names[table]);
}

petal_slice
model_table_snapshot_name(unsigned snapshot)
{
    static const char *const names[MODEL_TABLE_SNAPSHOTS] = {"s0", "s1"};

    return slice_from_text(names[snapshot]);
}

/* ---- writes ---- */

enum petal_status
model_database_check_items(const struct model_database *database, const struct model_item *items,
                           size_t count)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; i < count; i++) {
        if (!model_table_has_family(database, items[i].table, items[i].family))
            return PETAL_NOT_FOUND;
        if (database->tables[items[i].table].read_only)
            status = PETAL_READ_ONLY;
    }
    return status;
}

/* The item asks the store for a timestamp. */
static bool
asks_for_stamp(const struct model_item *item)
{
    return item->timestamp == PETAL_LATEST;
}

/* It gets the time, whatever versions there are. */
static bool
is_stamped(const struct model_item *item, const struct model_cell *judged)
{
    bool free = judged == NULL || judged->timestamp == 0;

    return asks_for_stamp(item) && ((item->kind == MODEL_PUT && free) ||
                                    (item->kind == MODEL_DELETE && item->type != PETAL_DELETE));
}

static int64_t
later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A write was made. */
static void
note_time(struct model_database *database, bool stamped)
{
    database->written_ms = later(database->written_ms, database->now_ms);
    database->remembered_ms = later(database->remembered_ms, database->now_ms);
    if (stamped)
        database->stamped_ms = database->written_ms;
}

enum petal_status
model_database_write(struct model_database *database, const struct model_item *items, size_t count,
                     const struct model_cell *judged, struct model_results *results, bool *unsure)
{
    struct model contents[MODEL_TABLES];
    enum model_outcome outcome;
    enum petal_status status = model_database_check_items(database, items, count);
    bool asks = false, stamped = false;

    *unsure = false;
    results->count = 0;
    for (size_t i = 0; i < count && status != PETAL_OK; i++) { /* which of two reasons is told? */
        enum petal_status own = model_database_check_items(database, &items[i], 1);

        *unsure = *unsure || items[i].kind == MODEL_INCREMENT || (own != PETAL_OK && own != status);
    }
    if (status != PETAL_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        asks = asks || asks_for_stamp(&items[i]);
        stamped = stamped || is_stamped(&items[i], judged);
    }
    *unsure = asks && database->remembered_ms != database->written_ms &&
              database->now_ms < database->written_ms;
    if (*unsure)
        return PETAL_OK;
    for (unsigned i = 0; i < MODEL_TABLES; i++)
        contents[i] = database->tables[i].content;
    outcome = model_write(contents, items, count, judged, results);
    for (unsigned i = 0; i < MODEL_TABLES; i++) {
        database->tables[i].content = contents[i];
        if (contents[i].sequence > database->sequence)
            database->sequence = contents[i].sequence;
    }
    /* What is above the clock tells a restart nothing of it. */
    for (size_t i = 0; i < count; i++)
        stamped = stamped && !contents[items[i].table].raised;
    if (outcome == MODEL_WRITTEN)
        note_time(database, stamped);
    tell_tables(database);
    *unsure = outcome == MODEL_TOO_LARGE;
    return outcome == MODEL_REFUSED ? PETAL_INVALID : PETAL_OK;
}

enum petal_status
model_database_load(struct model_database *database, unsigned table, const struct model_item *items,
                    size_t count, bool below)
{
    enum petal_status status = model_database_check_items(database, items, count);

    if (status != PETAL_OK)
        return status;
    model_load(&database->tables[table].content, items, count, below);
    if (below)
        database->transaction.loaded[table] = true;
    database->sequence = database->tables[table].content.sequence;
    tell_tables(database);
    return PETAL_OK;
}

/* ---- read points ---- */

void
model_database_hold(struct model_database *database, unsigned number)
{
    database->held[number] = true;
    database->points[number] = database->sequence;
}

void
model_database_let_go(struct model_database *database, unsigned number)
{
    database->held[number] = false;
}

uint64_t
model_database_read_point(const struct model_database *database, unsigned number)
{
    return database->held[number] ? database->points[number] : UINT64_MAX;
}

uint64_t
model_database_oldest(const struct model_database *database)
{
    uint64_t oldest = database->sequence;

    for (unsigned i = 1; i < MODEL_HELD; i++) {
        if (database->held[i] && database->points[i] < oldest)
            oldest = database->points[i];
    }
    return oldest;
}

uint64_t
model_database_newest(const struct model_database *database)
{
    uint64_t newest = 0;

    for (unsigned i = 1; i < MODEL_HELD; i++) {
        if (database->held[i] && database->points[i] > newest)
            newest = database->points[i];
    }
    return newest;
}

/* ---- flushes, restarts ---- */

bool
model_database_has_snapshot(const struct model_database *database, unsigned snapshot)
{
    const struct model_table_snapshot *kept = &database->snapshots[snapshot];

    return kept->exists &&
           (kept->ttl_seconds == 0 ||
            kept->created_ms >= database->now_ms - (int64_t)kept->ttl_seconds * 1000);
}

void
model_database_expire(struct model_database *database)
{
    for (unsigned i = 0; i < MODEL_TABLE_SNAPSHOTS; i++)
        database->snapshots[i].exists = model_database_has_snapshot(database, i);
}

void
model_database_flush(struct model_database *database, unsigned table)
{
    for (unsigned i = 0; i < MODEL_TABLES; i++) {
        if (i == table || table == MODEL_TABLES)
            model_flush(&database->tables[i].content, model_database_oldest(database));
    }
}

void
model_database_restart(struct model_database *database)
{
    model_transaction_abort(database);
    memset(database->held, 0, sizeof database->held);
    model_database_flush(database, MODEL_TABLES);
    database->remembered_ms = database->stamped_ms;
    model_database_expire(database);
}

/* ---- tables ---- */

bool
model_table_has_family(const struct model_database *database, unsigned table, unsigned family)
{
    return database->tables[table].exists &&
           !database->tables[table].content.families[family].absent;
}

size_t
model_table_family_count(const struct model_table *table)
{
    size_t count = 0;

    for (unsigned i = 0; i < MODEL_FAMILIES; i++)
        count += !table->content.families[i].absent;
    return count;
}

enum petal_status
model_database_create(struct model_database *database, unsigned table,
                      const struct model_schema *schema)
{
    struct model_table *created = &database->tables[table];

    if (created->exists)
        return PETAL_EXISTS;
    model_free(&created->content);
    model_init(&created->content, schema->families);
    created->content.lowest = FIRST_SEQUENCE;
    created->exists = true;
    database->changes[table]++;
    created->read_only = schema->read_only;
    created->durability = schema->durability;
    tell_tables(database);
    return PETAL_OK;
}

enum petal_status
model_database_drop(struct model_database *database, unsigned table)
{
    struct model_table *dropped = &database->tables[table];

    if (!dropped->exists)
        return PETAL_NOT_FOUND;
    dropped->exists = false;
    database->changes[table]++;
    dropped->content.count = 0;
    return PETAL_OK;
}

enum petal_status
model_database_truncate(struct model_database *database, unsigned table)
{
    if (!database->tables[table].exists)
        return PETAL_NOT_FOUND;
    database->changes[table]++;
    database->tables[table].content.count = 0;
    return PETAL_OK;
}

enum petal_status
model_database_alter(struct model_database *database, unsigned table,
                     const struct model_schema *schema)
{
    struct model_table *altered = &database->tables[table];
    struct model *content = &altered->content;
    size_t kept = 0;

    if (!altered->exists)
        return PETAL_NOT_FOUND;
    for (size_t i = 0; i < content->count; i++) {
        if (!schema->families[content->cells[i].family].absent)
            content->cells[kept++] = content->cells[i];
    }
    content->count = kept;
    for (unsigned i = 0; i < MODEL_FAMILIES; i++)
        content->stamped[i] = schema->families[i].absent ? 0 : content->stamped[i];
    memcpy(content->families, schema->families, sizeof content->families);
    database->changes[table]++;
    altered->read_only = schema->read_only;
    altered->durability = schema->durability;
    return PETAL_OK;
}

/* ---- table snapshots ---- */

static void
copy_table(struct model_table *to, const struct model_table *from)
{
    struct model left = to->content;

    *to = *from;
    model_copy(&to->content, &from->content);
    model_free(&left);
}

enum petal_status
model_database_take(struct model_database *database, unsigned table, unsigned snapshot,
                    bool skip_flush, uint32_t ttl_seconds)
{
    struct model_table_snapshot *taken = &database->snapshots[snapshot];
    struct model *content = &taken->content.content;
    size_t kept = 0;

    if (!database->tables[table].exists)
        return PETAL_NOT_FOUND;
    model_database_expire(database);
    if (taken->exists)
        return PETAL_EXISTS;
    if (!skip_flush)
        model_database_flush(database, table);
    copy_table(&taken->content, &database->tables[table]);
    for (size_t i = 0; i < content->count; i++) {
        if (content->cells[i].run > 0)
            content->cells[kept++] = content->cells[i];
    }
    content->count = kept;
    taken->exists = true;
    taken->table = table;
    taken->created_ms = database->now_ms;
    taken->ttl_seconds = ttl_seconds;
    return PETAL_OK;
}

enum petal_status
model_database_clone(struct model_database *database, unsigned snapshot, unsigned table)
{
    if (database->tables[table].exists)
        return PETAL_EXISTS;
    model_database_expire(database);
    if (!database->snapshots[snapshot].exists)
        return PETAL_NOT_FOUND;
    copy_table(&database->tables[table], &database->snapshots[snapshot].content);
    database->changes[table]++;
    tell_tables(database);
    return PETAL_OK;
}

enum petal_status
model_database_restore(struct model_database *database, unsigned snapshot)
{
    model_database_expire(database);
    if (!database->snapshots[snapshot].exists)
        return PETAL_NOT_FOUND;
    copy_table(&database->tables[database->snapshots[snapshot].table],
               &database->snapshots[snapshot].content);
    database->changes[database->snapshots[snapshot].table]++;
    tell_tables(database);
    return PETAL_OK;
}

enum petal_status
model_database_forget(struct model_database *database, unsigned snapshot)
{
    if (!model_database_has_snapshot(database, snapshot))
        return PETAL_NOT_FOUND;
    database->snapshots[snapshot].exists = false;
    return PETAL_OK;
}
