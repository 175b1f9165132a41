/*
 * bloom_file.c -- any bytes as the file of a set, of each type, loaded and mapped: refused with a
 * place in it, or asked everything that can be asked, and changed, within its bytes. Memory is
 * taken for bytes that are there.
 *
 * The input's first byte says how: its lowest bit, whether the rest is the whole file; else that is
 * what the header has from its byte 10 to 95, but for the length, and the body, and the rest of the
 * header is put right.
 */
#include "tests/bloom/questions.h"
#include "tests/bloom/set_fixture.h"
#include "tests/fuzz/file.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>

#define FUZZ_MOST_BYTES 20000

#define HEAD_BYTES (96 - 10)

/* What reading takes besides: pieces, the set itself, and what it says of its parts. */
#define MOST_MEMORY(size) (8 * (size) + (256 << 10))

/* More is not there: an opening tells of that, which is a defect; a filter may grow by what its
 * file says, and be told so, too. */
static void *
allocate(void *most, size_t alignment, size_t size)
{
    return size <= *(const size_t *)most ? fuzz_allocate(most, alignment, size) : NULL;
}

static void
put_header(uint8_t *file, size_t size)
{
    memcpy(file, "PETALSET", 8);
    put_le16(file + 8, 1);
    put_le16(file + 14, 0);
    put_le64(file + 16, size - SET_FILE_PAGE_BYTES);
    set_seal(file, size);
}

/* The file of an input, to be freed; its length. */
static uint8_t *
make_file(struct fuzz_input *input, size_t *size)
{
    bool is_whole = fuzz_number(input, 1) % 2 == 1;
    petal_slice head = {NULL, 0}, rest;
    uint8_t *file;

    if (!is_whole)
        head = fuzz_take(input, HEAD_BYTES);
    rest = fuzz_take(input, input->left);
    *size = rest.size + (is_whole ? 0 : SET_FILE_PAGE_BYTES);
    file = calloc(1, *size + 1);
    fuzz_must(file != NULL);
    if (head.size > 0)
        memcpy(file + 10, head.data, head.size);
    if (rest.size > 0)
        memcpy(file + *size - rest.size, rest.data, rest.size);
    if (!is_whole)
        put_header(file, *size);
    return file;
}

static void
try_file(const struct fuzz_file *file, const petal_env *env, enum petal_bloom_file_type type,
         bool is_type, unsigned way)
{
    const petal_bloom_load_options options = {.map = way > 0, .env = env};
    petal_error error = {.status = PETAL_OK};
    enum petal_status status = questions_to_file("set", type, &options, true, &error);

    if (status == PETAL_OK) {
        fuzz_must(is_type);
        return;
    }
    fuzz_must(error.status == status && error.text[0] != '\0' && error.offset <= file->size);
    fuzz_must(status == PETAL_CORRUPT || status == PETAL_UNSUPPORTED || status == PETAL_INVALID);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_input input = {bytes, size};
    struct fuzz_directory directory = {.count = 1};
    size_t most;
    petal_allocator allocator = {&most, allocate, fuzz_release};
    petal_vfs vfs = fuzz_vfs(&directory);
    petal_env env = {.size = sizeof env, .allocator = &allocator, .vfs = &vfs};
    enum petal_bloom_file_type type, found;
    uint8_t *file;
    bool is_set;

    vfs.map = fuzz_map;
    vfs.unmap = fuzz_unmap;
    file = make_file(&input, &size);
    directory.files[0] = (struct fuzz_file){"set", file, size};
    most = MOST_MEMORY(size);
    is_set = petal_bloom_file_type("set", &env, &found, NULL) == PETAL_OK;
    for (type = PETAL_BLOOM_FILE_FILTER; type <= PETAL_BLOOM_FILE_DISTINCT; type++)
        for (unsigned way = 0; way < (is_set && found == type ? 2 : 1); way++)
            try_file(&directory.files[0], &env, type, is_set && found == type, way);
    free(file);
    return 0;
}
