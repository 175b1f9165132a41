/* kv.c -- plain key -> value on a table of one family with the empty qualifier; petal_kv_get is in
 * engine/read/straight.c. */
#include "engine/options.h"
#include "engine/state/db.h"

#define KV_FAMILY      "v"
#define KV_BLOCK_BYTES 4096

/* Find the table or make it. REQUIRES: nothing held. */
static enum petal_status
open_table(petal_db *db, petal_slice name, const petal_family_options *options, petal_table **table,
           petal_error *error)
{
    petal_family_options family;
    petal_table_options described = {.name = name, .families = &family, .family_count = 1};
    enum petal_status status =
        options_copy(&family, sizeof family, options, "petal_family_options", error);

    if (status != PETAL_OK)
        return status;
    status = petal_table_open(db, name, table, error);
    if (status != PETAL_NOT_FOUND)
        return status;
    if (family.block_bytes == 0)
        family.block_bytes = KV_BLOCK_BYTES;
    family.size = sizeof family;
    family.name = slice_from_text(KV_FAMILY);
    status = petal_table_create(db, &described, table, error);
    /* Another thread may have made it meanwhile. */
    if (status == PETAL_EXISTS)
        status = petal_table_open(db, name, table, error);
    return status;
}

/* The handle of a family, which *fresh becomes if there is none yet. An alter may have put another
 * family in the place of one that has a handle. REQUIRES: schema.mutex held. */
static petal_kv *
handle_of(petal_db *db, petal_family *family, petal_kv **fresh)
{
    petal_kv *kv = db->schema.key_values;

    assert_held(&db->schema.mutex);
    while (kv != NULL && kv->family != family)
        kv = kv->next;
    if (kv != NULL)
        return kv;
    kv = *fresh;
    *fresh = NULL;
    *kv = (petal_kv){.table = family->table, .family = family, .next = db->schema.key_values};
    db->schema.key_values = kv;
    return kv;
}

enum petal_status
petal_kv_open(petal_db *db, petal_slice name, const petal_family_options *options, petal_kv **kv,
              petal_error *error)
{
    const struct table_descriptor *descriptor;
    petal_kv *fresh;
    petal_table *table;
    enum petal_status status;

    *kv = NULL;
    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    fresh = mem_zalloc(db->env.allocator, sizeof *fresh); /* before a table is made */
    if (fresh == NULL)
        return error_no_memory(error);
    status = open_table(db, name, options, &table, error);
    if (status == PETAL_OK) {
        mutex_lock(&db->schema.mutex);
        descriptor = table_descriptor(table);
        if (descriptor->family_count == 1)
            *kv = handle_of(db, descriptor->families[0], &fresh);
        else
            status = error_set(error, PETAL_INVALID,
                               "the table has %zu families; a key-value table has one",
                               descriptor->family_count);
        mutex_unlock(&db->schema.mutex);
    }
    mem_free(db->env.allocator, fresh, sizeof *fresh);
    return status;
}

enum petal_status
petal_kv_put(petal_kv *kv, petal_slice key, petal_slice value, petal_error *error)
{
    return petal_put(kv->family, key, slice_make(NULL, 0), PETAL_LATEST, value, NULL, error);
}

enum petal_status
petal_kv_delete(petal_kv *kv, petal_slice key, petal_error *error)
{
    return petal_delete(kv->family, key, slice_make(NULL, 0), PETAL_LATEST, PETAL_DELETE_COLUMN,
                        NULL, error);
}

petal_table *
petal_kv_table(petal_kv *kv)
{
    return kv->table;
}
