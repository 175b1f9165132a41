/* item.c -- see item.h. */
#include "engine/manifest/item.h"

#include "base/coding.h"
#include "base/slice.h"
#include "engine/manifest/format.h"

#include <assert.h>

enum petal_status
item_take(const struct apply *apply, petal_slice *items, struct item *item)
{
    const uint8_t *from = items->data;

    if (items->size < MANIFEST_ITEM_BYTES || get_le16(from + 2) != 0 ||
        get_le32(from + 4) > items->size - MANIFEST_ITEM_BYTES)
        return error_set(apply->error, PETAL_INVALID,
                         "an item of an edit is malformed, %zu bytes before the end of its list",
                         items->size);
    item->tag = get_le16(from);
    item->size = get_le32(from + 4);
    item->payload = from + MANIFEST_ITEM_BYTES;
    *items = slice_make(item->payload + item->size, items->size - MANIFEST_ITEM_BYTES - item->size);
    return PETAL_OK;
}

enum petal_status
item_check_size(const struct apply *apply, const struct item *item, size_t size)
{
    if (item->size == size)
        return PETAL_OK;
    return error_set(apply->error, PETAL_INVALID, "item %u of an edit has %zu bytes, not %zu",
                     item->tag, item->size, size);
}

static enum petal_status
note(const struct apply *apply, struct undo_step step, const struct manifest_family *family,
     const void *before)
{
    const struct manifest_table *table = step.table;

    assert(family == NULL ||
           (family >= table->families && family < table->families + table->family_capacity));
    if (family != NULL)
        step.family = (uint32_t)(family - table->families);
    if (manifest_undo_note(apply->undo, step, before))
        return PETAL_OK;
    return error_no_memory(apply->error);
}

enum petal_status
item_note(const struct apply *apply, enum undo_kind kind, struct manifest_table *table,
          const struct manifest_family *family, uint64_t number, const void *before)
{
    struct undo_step step = {.kind = kind, .table = table, .number = number};

    return note(apply, step, family, before);
}

enum petal_status
item_note_store(const struct apply *apply, enum undo_kind kind, const struct item *item,
                uint64_t number, const void *before)
{
    struct undo_step step = {.kind = kind,
                             .region = (uint32_t)item->region->place,
                             .table = item->table,
                             .number = number};

    return note(apply, step, item->family, before);
}
