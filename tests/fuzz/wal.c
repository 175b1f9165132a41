/* wal.c -- any bytes as a log: refused, or replayed within bounds. */
#include "engine/wal/file_format.h"
#include "engine/wal/fragment.h"
#include "engine/wal/record.h"
#include "tests/fuzz/file.h"

#include <stdlib.h>

#define IDENTITY 7u
#define NUMBER   1u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile uint64_t sink;

static void
touch_slice(petal_slice slice)
{
    for (size_t i = 0; i < slice.size; i++)
        sink = sink + slice_bytes(slice)[i];
}

static enum petal_status
touch(void *argument, const struct wal_record *record, petal_error *error)
{
    struct record_base *base = argument;
    struct record_reader reader;
    struct record_cell cell;

    (void)error;
    sink = sink + record->offset;
    touch_slice(record->payload);
    if (record->first)
        *base = (struct record_base){0};
    if (!record_open(&reader, record->version, base, record->payload))
        return PETAL_OK;
    while (reader.remaining > 0 && record_next(&reader, &cell)) {
        if (cell.cell.row.size == 0 || cell.cell.timestamp < 0 || !cell_type_valid(cell.cell.type))
            abort();
        touch_slice(cell.cell.row);
        touch_slice(cell.cell.qualifier);
        touch_slice(cell.cell.value);
    }
    return PETAL_OK;
}

/* The fragment at `at`, made right; returns the bytes that it takes, 0: there is no room. */
static size_t
mend_fragment(uint8_t *bytes, size_t available, size_t at)
{
    unsigned length, kind = WAL_FULL;
    uint64_t promise = 0;
    size_t header, payload;

    if (available < WAL_FRAGMENT_MOST_BYTES)
        return 0;
    length = get_le16(bytes + 4);
    if ((length & 0x8000) != 0) {
        kind = bytes[6] % 4 + 1u;
        promise = (bytes[6] & 0x10) != 0 ? get_le64(bytes + 7) % (at + 1) : 0;
    }
    header = wal_fragment_header_bytes((enum wal_fragment_kind)kind, promise);
    payload = length & 0x7fff;
    if (kind == WAL_FIRST || kind == WAL_MIDDLE)
        payload = wal_frame_left(at) - header;
    if (payload > available - header)
        payload = available - header;
    if (header + payload > wal_frame_left(at))
        return 0;
    wal_fragment_seal(bytes, wal_seed(IDENTITY, NUMBER), at, (enum wal_fragment_kind)kind, promise,
                      payload);
    return header + payload;
}

static size_t
mend_fragment_v2(uint8_t *bytes, size_t available, size_t at)
{
    size_t payload, left = wal_frame_left(at) - WAL_FRAGMENT_V2_BYTES;

    if (available < WAL_FRAGMENT_V2_BYTES)
        return 0;
    payload = get_le32(bytes + 16);
    if (payload > left)
        payload = left;
    if (payload > available - WAL_FRAGMENT_V2_BYTES)
        return 0;
    put_le32(bytes + 16, (uint32_t)payload);
    put_le64(bytes, checksum_at(wal_seed(IDENTITY, NUMBER), at, bytes + 8,
                                WAL_FRAGMENT_V2_BYTES - 8 + payload));
    return WAL_FRAGMENT_V2_BYTES + payload;
}

/* Right checksums and a right header where the input has room for them. */
static void
mend(uint8_t *bytes, size_t size, unsigned version)
{
    size_t at = WAL_HEADER_BYTES;

    if (size < WAL_HEADER_BYTES)
        return;
    memcpy(bytes, WAL_MAGIC, 8);
    put_le32(bytes + 8, version);
    put_le32(bytes + 12, WAL_HEADER_BYTES);
    put_le64(bytes + 16, IDENTITY);
    put_le64(bytes + 24, NUMBER);
    memset(bytes + 32, 0, 32);
    put_le64(bytes + WAL_HEADER_CHECKSUM, wal_header_checksum(bytes, WAL_HEADER_BYTES));
    while (at < size) {
        size_t left = wal_frame_left(at), taken;

        if (left <= wal_frame_padding(version)) {
            at += left;
            continue;
        }
        taken = version == 2 ? mend_fragment_v2(bytes + at, size - at, at)
                             : mend_fragment(bytes + at, size - at, at);
        if (taken == 0)
            return;
        at += taken;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    struct fuzz_file file = {.name = "000001.log", .bytes = copy};
    petal_vfs vfs = fuzz_vfs(&file);
    petal_env given = {.size = sizeof given, .vfs = &vfs};
    struct directory directory;
    struct env env;
    struct record_base base = {0};
    struct wal_replay replay = {
        .directory = &directory,
        .database_identity = IDENTITY,
        .visit = touch,
        .argument = &base,
    };
    petal_error error;

    if (copy == NULL || size == 0) {
        free(copy);
        return 0;
    }
    file.size = size - 1;
    memcpy(copy, bytes + 1, size - 1);
    if ((bytes[0] & 1) != 0)
        mend(copy, size - 1, (bytes[0] & 4) != 0 ? 2 : WAL_VERSION);
    replay.promise = (struct wal_promise){(bytes[0] & 2) != 0 ? NUMBER : 0, bytes[0]};
    env_init(&env, &given);
    if (directory_open(&directory, &env, "d", false) != 0)
        abort();
    if (wal_replay(&replay, &error) == PETAL_OK && replay.end.length > file.size)
        abort();
    directory_close(&directory);
    free(copy);
    return 0;
}
