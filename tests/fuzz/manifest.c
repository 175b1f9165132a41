/* manifest.c -- any bytes as a manifest: refused, or loaded into a state that its own snapshot
 * gives again. */
#include "engine/manifest/manifest.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "base/mem.h"
#include "engine/manifest/apply.h"
#include "engine/manifest/format.h"
#include "tests/fuzz/file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Right checksums and a right header where the input has room for them. */
static void
mend(uint8_t *bytes, size_t size)
{
    size_t at = MANIFEST_HEADER_BYTES;

    if (size < MANIFEST_HEADER_BYTES)
        return;
    memcpy(bytes, MANIFEST_MAGIC, 8);
    put_le32(bytes + 8, MANIFEST_VERSION);
    put_le32(bytes + 12, MANIFEST_HEADER_BYTES);
    put_le64(bytes + 48, 0);
    put_le64(bytes + MANIFEST_HEADER_CHECKSUM, checksum_at(0, 0, bytes, MANIFEST_HEADER_CHECKSUM));
    while (size - at >= MANIFEST_RECORD_BYTES) {
        size_t left = size - at;
        size_t payload = get_le32(bytes + at + 16);
        size_t record;

        if (payload > left - MANIFEST_RECORD_BYTES)
            payload = left - MANIFEST_RECORD_BYTES;
        record = (MANIFEST_RECORD_BYTES + payload + 7) / 8 * 8;
        if (record > left)
            return;
        put_le32(bytes + at + 16, (uint32_t)payload);
        put_le64(bytes + at, checksum_at(get_le64(bytes + 32), at, bytes + at + 8, record - 8));
        at += record;
    }
}

/* What was loaded can be said by a snapshot, and the snapshot says the same. */
static void
check_snapshot(const struct manifest *manifest)
{
    struct manifest_edit once, again;
    struct manifest_undo undo;
    struct manifest copy;
    petal_error error;

    manifest_edit_init(&once, &mem_default_allocator);
    manifest_edit_init(&again, &mem_default_allocator);
    manifest_edit_snapshot(&once, manifest);
    manifest_state_init(&copy);
    if (manifest_apply(&copy, &mem_default_allocator, (petal_slice){once.bytes, once.size}, &undo,
                       &error) != PETAL_OK)
        abort();
    manifest_undo_forget(&undo);
    manifest_edit_snapshot(&again, &copy);
    if (once.size != again.size || memcmp(once.bytes, again.bytes, once.size) != 0)
        abort();
    manifest_state_fini(&copy, &mem_default_allocator);
    manifest_edit_fini(&once);
    manifest_edit_fini(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    struct fuzz_file file = {.name = "MANIFEST", .bytes = copy};
    petal_vfs vfs = fuzz_vfs(&file);
    petal_env given = {.size = sizeof given, .vfs = &vfs};
    struct manifest *manifest;
    struct directory directory;
    struct env env;
    petal_error error;

    if (copy == NULL || size == 0) {
        free(copy);
        return 0;
    }
    file.size = size - 1;
    memcpy(copy, bytes + 1, size - 1);
    if ((bytes[0] & 1) != 0)
        mend(copy, size - 1);
    env_init(&env, &given);
    if (directory_open(&directory, &env, "d", false) != 0)
        abort();
    if (manifest_load(&manifest, &directory, &error) == PETAL_OK)
        check_snapshot(manifest);
    manifest_free(manifest);
    directory_close(&directory);
    free(copy);
    return 0;
}
