/* file_info.c -- see file_info.h. */
#include "tools/hfile/format/file_info.h"

#include "tools/hfile/format/format.h"
#include "tools/hfile/format/protobuf.h"

#include <assert.h>

enum { FIELD_ENTRY = 1, FIELD_KEY = 1, FIELD_VALUE = 2 };

void
hfile_file_info_init(struct hfile_file_info *info, const petal_allocator *allocator)
{
    hfile_buffer_init(&info->text, allocator);
    hfile_buffer_init(&info->entries, allocator);
}

void
hfile_file_info_free(struct hfile_file_info *info)
{
    hfile_buffer_free(&info->text);
    hfile_buffer_free(&info->entries);
}

static struct hfile_file_info_entry *
entries_of(const struct hfile_file_info *info)
{
    return (struct hfile_file_info_entry *)(void *)info->entries.bytes;
}

size_t
hfile_file_info_count(const struct hfile_file_info *info)
{
    return info->entries.size / sizeof(struct hfile_file_info_entry);
}

static petal_slice
key_of(const struct hfile_file_info *info, const struct hfile_file_info_entry *entry)
{
    return hfile_slice(info->text.bytes + entry->key_at, entry->key_bytes);
}

void
hfile_file_info_get(const struct hfile_file_info *info, size_t number, petal_slice *key,
                    petal_slice *value)
{
    const struct hfile_file_info_entry *entry = &entries_of(info)[number];

    assert(number < hfile_file_info_count(info));
    *key = key_of(info, entry);
    *value = hfile_slice(hfile_slice_bytes(*key) + key->size, entry->value_bytes);
}

bool
hfile_file_info_find(const struct hfile_file_info *info, petal_slice key, petal_slice *value)
{
    for (size_t i = hfile_file_info_count(info); i > 0; i--) {
        petal_slice found;

        hfile_file_info_get(info, i - 1, &found, value);
        if (hfile_slice_equal(found, key))
            return true;
    }
    *value = hfile_slice(NULL, 0);
    return false;
}

bool
hfile_file_info_find_u32(const struct hfile_file_info *info, const char *key, uint32_t *value)
{
    petal_slice bytes;

    if (!hfile_file_info_find(info, hfile_text_slice(key), &bytes) || bytes.size != 4)
        return false;
    *value = hfile_get_u32(bytes.data);
    return true;
}

bool
hfile_file_info_find_i64(const struct hfile_file_info *info, const char *key, int64_t *value)
{
    petal_slice bytes;

    if (!hfile_file_info_find(info, hfile_text_slice(key), &bytes) || bytes.size != 8)
        return false;
    *value = (int64_t)hfile_get_u64(bytes.data);
    return true;
}

bool
hfile_file_info_add(struct hfile_file_info *info, petal_slice key, petal_slice value)
{
    struct hfile_file_info_entry entry = {info->text.size, key.size, value.size};

    if (!hfile_buffer_reserve(&info->text, key.size + value.size + 1) ||
        !hfile_buffer_append(&info->entries, &entry, sizeof entry))
        return false;
    hfile_buffer_append_slice(&info->text, key);
    hfile_buffer_append_slice(&info->text, value);
    return true;
}

enum petal_status
hfile_file_info_parse(petal_slice payload, struct hfile_file_info *info, const char **wrong)
{
    struct hfile_bytes rest = hfile_bytes_of(payload), message;
    struct hfile_field field;
    petal_slice bytes;
    uint64_t size;

    *wrong = "FILE_INFO is cut short";
    if (payload.size < HFILE_PROTOBUF_MAGIC_BYTES)
        return PETAL_CORRUPT;
    if (!hfile_take_protobuf_magic(&rest)) {
        *wrong = "FILE_INFO is no protobuf: it is damaged, or older than HBase 0.96";
        return PETAL_UNSUPPORTED;
    }
    if (!hfile_take_varint(&rest, &size) || !hfile_take_slice(&rest, size, &bytes))
        return PETAL_CORRUPT;

    *wrong = "an entry of FILE_INFO is damaged";
    message = hfile_bytes_of(bytes);
    while (hfile_field_take(&message, &field)) {
        petal_slice key, value;

        if (!field.is_bytes || field.number != FIELD_ENTRY)
            continue;
        if (!hfile_pair_take(field.bytes, &key, &value))
            return PETAL_CORRUPT;
        if (!hfile_file_info_add(info, key, value))
            return PETAL_NO_MEMORY;
    }
    return hfile_bytes_left(&message) == 0 ? PETAL_OK : PETAL_CORRUPT;
}

/* By insertion: there are a few dozen. Of equal keys the order stays. */
static void
sort(struct hfile_file_info *info)
{
    struct hfile_file_info_entry *entries = entries_of(info);
    size_t count = hfile_file_info_count(info);

    for (size_t i = 1; i < count; i++) {
        struct hfile_file_info_entry entry = entries[i];
        size_t at = i;

        for (; at > 0 &&
               hfile_slice_compare(key_of(info, &entries[at - 1]), key_of(info, &entry)) > 0;
             at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static size_t
pair_bytes(petal_slice key, petal_slice value)
{
    return hfile_field_bytes(FIELD_KEY, key.size) + hfile_field_bytes(FIELD_VALUE, value.size);
}

static bool
append_pair(petal_slice key, petal_slice value, struct hfile_buffer *message)
{
    /* The field's head with the pair's size; the pair itself follows. */
    return hfile_buffer_append_u8(message, FIELD_ENTRY << 3 | 2) &&
           hfile_buffer_append_varint(message, pair_bytes(key, value)) &&
           hfile_field_append_bytes(message, FIELD_KEY, key) &&
           hfile_field_append_bytes(message, FIELD_VALUE, value);
}

bool
hfile_file_info_write(struct hfile_file_info *info, struct hfile_buffer *payload)
{
    size_t count = hfile_file_info_count(info), size = 0;
    petal_slice key, value;

    sort(info);
    for (size_t i = 0; i < count; i++) {
        hfile_file_info_get(info, i, &key, &value);
        size += hfile_field_bytes(FIELD_ENTRY, pair_bytes(key, value));
    }
    if (!hfile_buffer_append(payload, HFILE_PROTOBUF_MAGIC, HFILE_PROTOBUF_MAGIC_BYTES) ||
        !hfile_buffer_append_varint(payload, size))
        return false;
    for (size_t i = 0; i < count; i++) {
        hfile_file_info_get(info, i, &key, &value);
        if (!append_pair(key, value, payload))
            return false;
    }
    return true;
}
