/*
 * manifest_edit.c -- any bytes as an edit of a manifest that has tables, families, store files and
 * a snapshot: refused, and the state is as it was; or applied, taken back, and applied again, and
 * the state says what it did before.
 *
 * Input: byte 0: 1: the lengths of items are put right; then the items of one edit or, parted by
 * tag 0xFFFF, of several.
 */
#include "base/coding.h"
#include "engine/manifest/apply.h"
#include "engine/manifest/edit.h"
#include "engine/options.h"
#include "tests/fuzz/target.h"

static void
must(enum petal_status status)
{
    fuzz_must(status == PETAL_OK);
}

/* A state to edit: tables 1 and 2 of two families, files 5 to 8, a snapshot of table 1 with the id
 * 3. */
static void
begin(struct manifest_edit *edit)
{
    const petal_attribute attribute = {PETAL_METADATA, slice_make("owner", 5), slice_make("me", 2)};
    petal_family_options families[2] = {{.size = sizeof families[0], .name = slice_make("f", 1)},
                                        {.size = sizeof families[0],
                                         .name = slice_make("g", 1),
                                         .attributes = &attribute,
                                         .attribute_count = 1}};
    petal_table_options options = {.size = sizeof options,
                                   .name = slice_make("t", 1),
                                   .families = families,
                                   .family_count = 2};
    struct manifest_snapshot snapshot = {slice_make("s", 1), 1000, 60};
    petal_error error;

    for (size_t i = 0; i < 2; i++) {
        petal_family_options given = families[i];

        must(family_options_resolve(&families[i], &given, &error));
    }
    manifest_edit_create_table(edit, 1, &options, NULL);
    options.name = slice_make("u", 1);
    manifest_edit_create_table(edit, 2, &options, NULL);
    options.name = slice_make("t", 1);
    manifest_edit_create_table(edit, 3, &options, &snapshot);
    for (uint64_t number = 5; number < 9; number++) {
        struct manifest_file file = {number, 100 + number, number, 1000, 1, 10, 10, 0, {0}};

        manifest_edit_add_file(edit, 1 + (uint32_t)number % 3, (uint16_t)(number / 7), &file);
    }
    manifest_edit_flushed(edit, 1, 0, 10);
    manifest_edit_counters(edit, 20, 100, 5000);
    manifest_edit_oldest_log(edit, 9);
    manifest_edit_wal_promise(edit, (struct wal_promise){9, 100});
}

static void
snapshot(struct manifest_edit *edit, const struct manifest *manifest)
{
    manifest_edit_init(edit, &mem_default_allocator);
    manifest_edit_snapshot(edit, manifest);
    fuzz_must(!edit->failed);
}

static void
expect_equal(const struct manifest_edit *edit, const struct manifest *manifest)
{
    struct manifest_edit now;

    snapshot(&now, manifest);
    fuzz_must(now.size == edit->size && memcmp(now.bytes, edit->bytes, now.size) == 0);
    manifest_edit_fini(&now);
}

/* Every number and name is found where the state says that it is. */
static void
check_lookups(const struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->table_count; i++) {
        const struct manifest_table *table = manifest->tables[i];

        fuzz_must(table->family_count > 0 && table->id < manifest->next_table_id);
        fuzz_must(manifest_find_table(manifest, table->id) == table);
        fuzz_must(manifest_find_name(manifest, table) == table);
        for (size_t f = 0; f < table->family_count; f++) {
            const struct manifest_family *family = &table->families[f];
            size_t place;

            fuzz_must(family->id < table->next_family_id);
            fuzz_must(manifest_find_family(table, family->id) == family);
            for (size_t r = 0; r < table->region_count; r++) {
                const struct manifest_store *store = &family->stores[r];
                const struct manifest_region *region = table->regions[r];

                fuzz_must(region->table == table && region->place == r);
                fuzz_must(region->id < manifest->next_table_id &&
                          manifest_find_store(manifest, region->id, family->id) == store);
                fuzz_must(manifest_region_of(table, region->start) == r);
                for (size_t n = 0; n < store->file_count; n++) {
                    uint64_t number = store->files[n].number;

                    fuzz_must(manifest_find_file(manifest, store, number, &place) && place == n);
                    fuzz_must(manifest_names_file(manifest, number) &&
                              number < manifest->next_file_number);
                }
            }
        }
    }
}

static void
edit_once(struct manifest *manifest, petal_slice items)
{
    size_t most = 16 * items.size + 4096;
    petal_allocator allocator = fuzz_allocator(&most);
    struct manifest_edit before, after;
    struct manifest_undo undo;
    petal_error error;

    snapshot(&before, manifest);
    if (manifest_apply(manifest, &allocator, items, &undo, &error) != PETAL_OK) {
        fuzz_must(error.text[0] != '\0');
        expect_equal(&before, manifest);
        manifest_edit_fini(&before);
        return;
    }
    check_lookups(manifest);
    snapshot(&after, manifest);
    manifest_undo_run(&undo, manifest);
    expect_equal(&before, manifest);
    check_lookups(manifest);
    must(manifest_apply(manifest, &allocator, items, &undo, &error));
    manifest_undo_forget(&undo);
    expect_equal(&after, manifest);
    manifest_edit_fini(&before);
    manifest_edit_fini(&after);
}

/* The first items of `bytes`, up to 0xFFFF where a tag would be; lengths that go beyond the end are
 * cut. */
static size_t
take_edit(uint8_t *bytes, size_t size, bool mend)
{
    size_t at = 0;

    while (size - at >= 8 && get_le16(bytes + at) != 0xffff) {
        size_t payload = get_le32(bytes + at + 4);

        if (payload > size - at - 8) {
            if (!mend)
                return size;
            payload = size - at - 8;
            put_le32(bytes + at + 4, (uint32_t)payload);
        }
        at += 8 + payload;
    }
    return at;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct manifest_edit first;
    struct manifest manifest;
    struct manifest_undo undo;
    petal_error error;
    bool mend = size > 0 && bytes[0] == 1;
    uint8_t *copy, *at;

    if (size == 0)
        return 0;
    size--;
    copy = malloc(size + 1);
    fuzz_must(copy != NULL);
    memcpy(copy, bytes + 1, size);
    manifest_edit_init(&first, &mem_default_allocator);
    begin(&first);
    manifest_state_init(&manifest);
    must(manifest_apply(&manifest, &mem_default_allocator, slice_make(first.bytes, first.size),
                        &undo, &error));
    manifest_undo_forget(&undo);
    check_lookups(&manifest);
    for (at = copy; size > 0;) {
        size_t taken = take_edit(at, size, mend);

        edit_once(&manifest, slice_make(at, taken));
        at += taken;
        size -= taken;
        if (size < 2)
            break;
        at += 2;
        size -= 2;
    }
    manifest_state_fini(&manifest, &mem_default_allocator);
    manifest_edit_fini(&first);
    free(copy);
    return 0;
}
