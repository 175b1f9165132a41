/* wal.c -- any bytes as a log: refused, or replayed within bounds. */
#include "engine/wal/file_format.h"
#include "tests/fuzz/file.h"

#include <stdlib.h>

#define IDENTITY 7u
#define NUMBER   1u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile uint64_t sink;

static enum petal_status
touch(void *argument, petal_slice record, const char *path, uint64_t offset, petal_error *error)
{
    (void)argument;
    (void)path;
    (void)error;
    sink = sink + offset;
    for (size_t i = 0; i < record.size; i++)
        sink = sink + slice_bytes(record)[i];
    return PETAL_OK;
}

/* Right checksums and a right header where the input has room for them. */
static void
mend(uint8_t *bytes, size_t size)
{
    size_t at = WAL_HEADER_BYTES;

    if (size < WAL_HEADER_BYTES)
        return;
    memcpy(bytes, WAL_MAGIC, 8);
    put_le32(bytes + 8, WAL_VERSION);
    put_le32(bytes + 12, WAL_HEADER_BYTES);
    put_le64(bytes + 16, IDENTITY);
    put_le64(bytes + 24, NUMBER);
    memset(bytes + 32, 0, 32);
    put_le64(bytes + WAL_HEADER_CHECKSUM, wal_header_checksum(bytes, WAL_HEADER_BYTES));
    while (size - at >= WAL_FRAGMENT_HEADER_BYTES) {
        size_t left = wal_frame_left(at);
        size_t payload = get_le32(bytes + at + 16);

        if (left <= WAL_FRAGMENT_HEADER_BYTES) {
            at += left;
            if (at > size)
                return;
            continue;
        }
        if (payload > left - WAL_FRAGMENT_HEADER_BYTES)
            payload = left - WAL_FRAGMENT_HEADER_BYTES;
        if (payload > size - at - WAL_FRAGMENT_HEADER_BYTES)
            return;
        put_le32(bytes + at + 16, (uint32_t)payload);
        put_le64(bytes + at,
                 wal_fragment_checksum(wal_seed(IDENTITY, NUMBER), at, bytes + at, payload));
        at += WAL_FRAGMENT_HEADER_BYTES + payload;
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
    struct wal_replay replay = {
        .directory = &directory,
        .database_identity = IDENTITY,
        .visit = touch,
    };
    petal_error error;

    if (copy == NULL || size == 0) {
        free(copy);
        return 0;
    }
    file.size = size - 1;
    memcpy(copy, bytes + 1, size - 1);
    if ((bytes[0] & 1) != 0)
        mend(copy, size - 1);
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
