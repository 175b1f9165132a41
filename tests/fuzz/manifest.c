/* manifest.c -- any bytes as a manifest: refused, or loaded into a state that its own snapshot
 * gives again. */
#include "engine/manifest/manifest.h"
#include "engine/manifest/apply.h"
#include "tests/fuzz/file.h"
#include "tests/fuzz/mend.h"
#include "tests/fuzz/target.h"

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

/* No allocation beyond what the file has bytes for: structs are larger than the items they come
 * from by a factor. */
static size_t
most_bytes(size_t file_bytes)
{
    return 16 * file_bytes + 4096;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_input input = {bytes, size};
    bool mended = fuzz_number(&input, 1) % 2 == 1;
    size_t most = most_bytes(input.left);
    petal_allocator allocator = fuzz_allocator(&most);
    uint8_t *copy = malloc(input.left + 1);
    struct fuzz_directory files = {{{"MANIFEST", copy, input.left}}, 1};
    petal_vfs vfs = fuzz_vfs(&files);
    petal_env given = {.size = sizeof given, .vfs = &vfs, .allocator = &allocator};
    struct manifest *manifest;
    struct directory directory;
    struct env env;
    petal_error error;

    fuzz_must(copy != NULL);
    if (input.left > 0)
        memcpy(copy, input.at, input.left);
    if (mended)
        mend_manifest(copy, input.left);
    env_init(&env, &given);
    fuzz_must(directory_open(&directory, &env, "d", false) == 0);
    if (manifest_load(&manifest, &directory, &error) == PETAL_OK)
        check_snapshot(manifest);
    else
        fuzz_must(error.text[0] != '\0');
    manifest_free(manifest);
    directory_close(&directory);
    free(copy);
    return 0;
}
