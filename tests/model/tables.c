/* tables.c -- changes of tables as calls of the engine, and all that it holds; see
 * tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"

/* ---- changes ---- */

/* How store files are made and kept in memory: by the variant. */
static void
vary_family(unsigned variant, petal_family_options *family)
{
    family->bloom = (enum petal_bloom_type)(PETAL_BLOOM_NONE + variant % 5);
    family->bloom_prefix_bytes = family->bloom == PETAL_BLOOM_ROW_PREFIX ? 1 + variant % 2 : 0;
    family->block_bytes = variant % 2 == 0 ? 1024 : 0;
    family->compression = (enum petal_compression)(variant % 3);
    family->bloom_error_rate = variant % 4 == 1 ? 0.3 : 0;
    family->bloom_rate_per_file = variant % 4 == 2;
    family->bloom_kind = variant / 2 % 2 == 0 ? PETAL_BLOOM_KIND_RIBBON : PETAL_BLOOM_KIND_DEFAULT;
    family->in_memory = variant % 3 == 1;
    family->no_block_cache = variant % 3 == 2;
}

/* The families that there are; returns their number. */
static size_t
describe_families(const struct model_schema *schema, const struct run_settings *settings,
                  unsigned variant, petal_family_options families[MODEL_FAMILIES])
{
    size_t count = 0;

    for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
        if (schema->families[i].absent)
            continue;
        run_family_options(&schema->families[i], settings, &families[count]);
        if (settings->change_options)
            vary_family(variant + i, &families[count]);
        families[count++].name = model_text_family_name(i);
    }
    return count;
}

static enum petal_status
create_or_alter(struct engine *engine, const struct operation *operation,
                const struct run_settings *settings, petal_error *error)
{
    struct engine_table *table = &engine->tables[operation->table];
    petal_family_options families[MODEL_FAMILIES];
    petal_attribute compact = {.kind = PETAL_KEPT_ATTRIBUTE,
                               .name = slice_from_text("COMPRESSION_COMPACT"),
                               .value =
                                   slice_from_text(operation->variant % 2 == 0 ? "LZ4HC" : "NONE")};
    petal_attribute note = {.kind = PETAL_METADATA,
                            .name = slice_from_text("variant"),
                            .value = slice_make(&operation->variant, 1)};
    petal_table_options options = {.name = model_table_name(operation->table),
                                   .families = families,
                                   .family_count = describe_families(&operation->schema, settings,
                                                                     operation->variant, families),
                                   .durability = operation->schema.durability,
                                   .read_only = operation->schema.read_only};
    petal_table *created;

    for (size_t i = 0; settings->change_options && i < options.family_count; i++) {
        families[i].attributes = &compact;
        families[i].attribute_count = 1;
    }
    if (settings->change_options) {
        options.attributes = &note;
        options.attribute_count = 1;
    }
    return operation->kind == OPERATION_ALTER_TABLE
               ? petal_table_alter(table->table, &options, error)
               : petal_table_create(engine->db, &options, &created, error);
}

/* Another table has taken the place of this one, whose handle must say so. */
static void
check_replaced(petal_table *before, const petal_table *after, struct model_text *text)
{
    petal_error error;

    if (before != NULL &&
        (before == after || petal_table_verify(before, &error) != PETAL_NOT_FOUND))
        model_text_add(text, "the table that was replaced is still there\n");
}

static enum petal_status
change(struct engine *engine, const struct operation *operation,
       const struct run_settings *settings, struct model_text *text, petal_error *error)
{
    petal_slice snapshot = model_table_snapshot_name(operation->table_snapshot);
    petal_table_snapshot_options options = {.skip_flush = operation->skip_flush,
                                            .ttl_seconds = operation->ttl_seconds};
    petal_table *before = engine->tables[operation->table].table, *after;
    enum petal_status status;

    switch (operation->kind) {
    case OPERATION_DROP_TABLE:
        return petal_table_drop(before, error);
    case OPERATION_TRUNCATE_TABLE:
        status = petal_table_truncate(before, &after, error);
        if (status == PETAL_OK)
            check_replaced(before, after, text);
        return status;
    case OPERATION_TAKE_TABLE_SNAPSHOT:
        return petal_table_snapshot_create(before, snapshot, &options, error);
    case OPERATION_CLONE_TABLE:
        return petal_table_snapshot_clone(engine->db, snapshot, model_table_name(operation->table),
                                          &after, error);
    case OPERATION_RESTORE_TABLE:
        return petal_table_snapshot_restore(engine->db, snapshot, &after, error);
    case OPERATION_DELETE_TABLE_SNAPSHOT:
        return petal_table_snapshot_delete(engine->db, snapshot, error);
    default: /* OPERATION_CREATE_TABLE, OPERATION_ALTER_TABLE */
        return create_or_alter(engine, operation, settings, error);
    }
}

bool
engine_change_tables(struct engine *engine, const struct operation *operation,
                     const struct run_settings *settings, struct model_text *text)
{
    petal_error error;
    enum petal_status status;

    if (operation->kind < OPERATION_CREATE_TABLE ||
        operation->kind > OPERATION_DELETE_TABLE_SNAPSHOT)
        return false;
    status = change(engine, operation, settings, text, &error);
    engine_add_status(text, status, &error);
    if (status == PETAL_OK) {
        status = engine_attach(engine, &error);
        if (status != PETAL_OK)
            engine_add_status(text, status, &error);
    }
    return true;
}

/* ---- all that there is ---- */

/* The model's number of the family. */
static unsigned
number_of_family(petal_slice name)
{
    unsigned number = 0;

    while (number < MODEL_FAMILIES && !slice_equal(model_text_family_name(number), name))
        number++;
    return number;
}

static void
add_family(const petal_family_options *family, struct model_text *text)
{
    struct model_family shown = {.versions = family->versions,
                                 .min_versions = family->min_versions,
                                 .has_ttl = family->ttl_seconds != PETAL_FOREVER,
                                 .ttl_ms = (int64_t)family->ttl_seconds * 1000,
                                 .keep_deleted = family->keep_deleted_cells,
                                 .new_version_behavior = family->new_version_behavior};

    model_text_add_family(text, number_of_family(family->name), &shown);
}

static enum petal_status
dump_cells(petal_table *table, bool raw, struct model_text *text, petal_error *error)
{
    petal_scan_options options = {.read.versions = PETAL_ALL_VERSIONS, .raw = raw};
    petal_cursor *cursor;
    size_t count = 1;
    enum petal_status status = petal_cursor_open(table, &options, &cursor, error);

    while (status == PETAL_OK && count > 0) {
        const petal_cell *cells;

        status = petal_cursor_next_many(cursor, 100, &cells, &count, error);
        for (size_t i = 0; status == PETAL_OK && i < count; i++)
            engine_add_cell(text, &cells[i]);
    }
    petal_cursor_close(cursor);
    return status;
}

struct dump {
    struct model_text *text;
    petal_error *error;
    enum petal_status status;
    enum dump_depth depth;
};

static bool
dump_table(void *argument, petal_table *table)
{
    struct dump *dump = argument;
    petal_table_options options = PETAL_DEFAULTS;

    petal_table_describe(table, &options);
    model_text_add(dump->text, "table ");
    model_text_add_bytes(dump->text, petal_table_name(table));
    model_text_add(dump->text, options.read_only ? " read-only" : "");
    model_text_add(dump->text, " ");
    model_text_add_number(dump->text, options.durability);
    for (size_t i = 0; i < options.family_count; i++)
        add_family(&options.families[i], dump->text);
    model_text_add(dump->text, "\n");
    if (petal_table_durability(table) != options.durability ||
        petal_table_family_count(table) != options.family_count)
        model_text_add(dump->text, "which is described as another\n");
    if (dump->depth >= DUMP_VERSIONS)
        dump->status = dump_cells(table, false, dump->text, dump->error);
    if (dump->status == PETAL_OK && dump->depth >= DUMP_STORED)
        dump->status = dump_cells(table, true, dump->text, dump->error);
    return dump->status == PETAL_OK;
}

static bool
dump_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    struct dump *dump = argument;

    model_text_add(dump->text, "snapshot ");
    model_text_add_bytes(dump->text, info->name);
    model_text_add(dump->text, " of ");
    model_text_add_bytes(dump->text, info->table);
    model_text_add(dump->text, "\n");
    return true;
}

enum petal_status
engine_dump(petal_db *db, enum dump_depth depth, struct model_text *text, petal_error *error)
{
    struct dump dump = {.text = text, .error = error, .depth = depth};
    enum petal_status status = petal_table_list(db, dump_table, &dump, error);

    if (status == PETAL_OK)
        status = dump.status;
    return status == PETAL_OK ? petal_table_snapshot_list(db, dump_snapshot, &dump, error) : status;
}

static bool
verify_table(void *argument, petal_table *table)
{
    struct dump *dump = argument;

    dump->status = petal_table_verify(table, dump->error);
    return dump->status == PETAL_OK;
}

enum petal_status
engine_verify(struct engine *engine, petal_error *error)
{
    struct dump dump = {.error = error};
    enum petal_status status = petal_table_list(engine->db, verify_table, &dump, error);

    return status == PETAL_OK ? dump.status : status;
}
