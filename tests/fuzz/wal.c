/*
 * wal.c -- any bytes as the logs of a database, one to three: refused, or replayed within bounds.
 *
 * Input: byte 0: 1: checksums and headers are put right; 4, 8: one log more; then
 * what the manifest promises: number, length (2 bytes); then the logs, each but the last after two
 * bytes of its length. In a header that is put right what it says of the log before is taken from
 * the low bytes of its fields.
 */
#include "engine/wal/record.h"
#include "tests/fuzz/file.h"
#include "tests/fuzz/mend.h"
#include "tests/fuzz/target.h"

/* Two frames, and a bit of a third. */
#define FUZZ_MOST_BYTES 70000

#define IDENTITY  7u
#define MOST_LOGS 3u

struct replayed {
    struct record_base base;
    uint64_t offset; /* of the record before, in its log */
};

static enum petal_status
visit(void *argument, const struct wal_record *record, petal_error *error)
{
    struct replayed *replayed = argument;
    struct record_reader reader;
    struct record_cell cell;

    (void)error;
    fuzz_touch(record->payload);
    if (record->first)
        replayed->base = (struct record_base){0};
    fuzz_must(record->first || record->offset > replayed->offset);
    replayed->offset = record->offset;
    if (!record_open(&reader, &replayed->base, record->payload))
        return PETAL_OK;
    while (reader.remaining > 0 && record_next(&reader, &cell))
        fuzz_touch_cell(&cell.cell);
    return PETAL_OK;
}

static void
mend(uint8_t *bytes, size_t size, uint64_t number)
{
    if (size >= WAL_HEADER_BYTES) {
        uint64_t before = get_le64(bytes + 32) % (MOST_LOGS + 1);

        put_le64(bytes + 32, before);
        put_le64(bytes + 40, before == 0 ? 0 : get_le16(bytes + 40));
        put_le64(bytes + 48, get_le16(bytes + 48));
        put_le64(bytes + 56, get_le16(bytes + 56));
    }
    mend_log(bytes, size, IDENTITY, number);
}

static void
replay(struct fuzz_directory *files, struct wal_promise promise, size_t most)
{
    petal_allocator allocator = fuzz_allocator(&most);
    petal_vfs vfs = fuzz_vfs(files);
    petal_env given = {.size = sizeof given, .vfs = &vfs, .allocator = &allocator};
    struct directory directory;
    struct env env;
    struct replayed replayed = {{0}, 0};
    struct wal_replay replay = {.directory = &directory,
                                .database_identity = IDENTITY,
                                .promise = promise,
                                .visit = visit,
                                .argument = &replayed};
    petal_error error;

    env_init(&env, &given);
    fuzz_must(directory_open(&directory, &env, "d", false) == 0);
    if (wal_replay(&replay, &error) != PETAL_OK)
        fuzz_must(error.text[0] != '\0');
    else if (replay.end.log_number > 0)
        fuzz_must(replay.end.log_number <= files->count &&
                  replay.end.length <= files->files[replay.end.log_number - 1].size);
    directory_close(&directory);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const names[MOST_LOGS] = {"000001.log", "000002.log", "000003.log"};
    struct fuzz_input input = {bytes, size};
    unsigned flags = (unsigned)fuzz_number(&input, 1);
    unsigned logs = 1 + (flags >> 2 & 1) + (flags >> 3 & 1);
    struct wal_promise promise = {.log_number = fuzz_number(&input, 1) % (MOST_LOGS + 1)};
    struct fuzz_directory files = {.count = logs};
    uint8_t *copies[MOST_LOGS];

    promise.length = fuzz_number(&input, 2);
    for (unsigned i = 0; i < logs; i++) {
        petal_slice log =
            fuzz_take(&input, i + 1 < logs ? fuzz_number(&input, 2) : (uint64_t)input.left);

        copies[i] = malloc(log.size + 1);
        fuzz_must(copies[i] != NULL);
        if (log.size > 0)
            memcpy(copies[i], log.data, log.size);
        if ((flags & 1) != 0)
            mend(copies[i], log.size, i + 1);
        files.files[i] = (struct fuzz_file){names[i], copies[i], log.size};
    }
    replay(&files, promise, WAL_FRAME_BYTES + 2 * size);
    for (unsigned i = 0; i < logs; i++)
        free(copies[i]);
    return 0;
}
