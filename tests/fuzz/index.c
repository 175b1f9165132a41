/*
 * index.c -- any bytes as a node of an index: refused, or searched as a walk over its keys would
 * find. Input: byte 0: 1: what follows builds a node, which is then damaged; else: the node itself.
 */
#include "sstable/block/index_block.h"
#include "tests/fuzz/target.h"

#define MOST_KEYS 200

static petal_slice
key_at(const struct index_block *block, uint32_t index, uint8_t *buffer)
{
    index_block_key(block, index, buffer);
    return slice_make(buffer, index_block_key_bytes(block, index));
}

static int
compare(petal_slice a, petal_slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* Searches for a key, as one who compares all keys finds it. */
static void
search(const struct index_block *block, const petal_slice *keys, petal_slice key)
{
    int64_t at = -1, below = -1, found;
    struct cell_key parts;
    uint8_t *scratch = malloc(key.size + 1);
    bool begins;

    fuzz_must(scratch != NULL);
    for (uint32_t i = 0; i < block->count; i++) {
        int order = compare(keys[i], key);

        at = order <= 0 ? (int64_t)i : at;
        below = order < 0 ? (int64_t)i : below;
    }
    fuzz_must(index_block_search(block, key) == at);
    fuzz_must(index_block_search_below(block, key) == below);
    if (cell_key_parse(key, scratch, &parts)) {
        found = index_block_search_cell(block, &parts, &begins);
        fuzz_must(found == at || (begins && found == at + 1 && found < (int64_t)block->count));
    }
    free(scratch);
}

static void
search_around(const struct index_block *block, const petal_slice *keys, petal_slice key)
{
    uint8_t *beside = malloc(key.size + 1);

    fuzz_must(beside != NULL);
    if (key.size > 0)
        memcpy(beside, key.data, key.size);
    beside[key.size] = 0;
    search(block, keys, slice_make(beside, key.size));
    search(block, keys, slice_make(beside, key.size + 1));
    if (key.size > 0) {
        search(block, keys, slice_make(beside, key.size - 1));
        beside[key.size - 1]--;
        search(block, keys, slice_make(beside, key.size));
    }
    free(beside);
}

/* A node that is built of the keys says the same. */
static void
build_again(const struct index_block *block, const petal_slice *keys)
{
    struct index_block_builder *builder;
    struct index_block again;
    petal_slice bytes;
    uint8_t *memory;
    size_t size;

    fuzz_must(index_block_builder_new(&builder, &mem_default_allocator) == PETAL_OK);
    for (uint32_t i = 0; i < block->count; i++) {
        struct block_handle handle = index_block_handle(block, i);

        fuzz_must(index_block_builder_add(builder, keys[i], handle) == PETAL_OK);
    }
    fuzz_must(index_block_builder_finish(builder, block->level, &bytes) == PETAL_OK);
    fuzz_must(bytes.size == index_block_builder_bytes(builder));
    size = index_block_memory(bytes.data, bytes.size, block->count);
    fuzz_must(size > 0);
    memory = mem_alloc_aligned(&mem_default_allocator, CACHE_LINE_BYTES, size);
    fuzz_must(memory != NULL && index_block_make(&again, bytes.data, bytes.size, memory));
    fuzz_must(again.count == block->count && again.level == block->level &&
              index_block_level(memory) == block->level);
    for (uint32_t i = 0; i < block->count; i++) {
        struct block_handle a = index_block_handle(block, i), b = index_block_handle(&again, i);
        uint8_t *buffer = malloc(keys[i].size + 1);

        fuzz_must(buffer != NULL && index_block_key_bytes(&again, i) == keys[i].size);
        fuzz_must(compare(key_at(&again, i, buffer), keys[i]) == 0);
        fuzz_must(a.offset == b.offset && a.size == b.size && a.begins == b.begins);
        free(buffer);
    }
    mem_free(&mem_default_allocator, memory, size);
    index_block_builder_free(builder);
}

static void
look_at(const struct index_block *block)
{
    petal_slice keys[MOST_KEYS];

    if (block->count > MOST_KEYS)
        return;
    for (uint32_t i = 0; i < block->count; i++) {
        uint8_t *buffer = malloc(index_block_key_bytes(block, i) + 1);

        fuzz_must(buffer != NULL);
        keys[i] = key_at(block, i, buffer);
        fuzz_must(i == 0 || compare(keys[i - 1], keys[i]) < 0);
    }
    for (uint32_t i = 0; i < block->count; i++)
        search_around(block, keys, keys[i]);
    search(block, keys, slice_make("", 0));
    if (keys[0].size > 0) /* which a builder requires */
        build_again(block, keys);
    for (uint32_t i = 0; i < block->count; i++)
        free((void *)(uintptr_t)keys[i].data);
}

static void
read_node(const uint8_t *bytes, size_t size)
{
    uint32_t entries =
        size >= INDEX_BLOCK_HEADER_BYTES ? get_le32(bytes) : 1; /* as a frame may say */
    size_t memory_bytes = index_block_memory(bytes, size, entries);
    struct index_block block, view;
    uint8_t *memory;

    if (memory_bytes == 0)
        return;
    fuzz_must(memory_bytes <= 4 * size + 1024); /* the caller allocates it */
    memory = mem_alloc_aligned(&mem_default_allocator, CACHE_LINE_BYTES, memory_bytes);
    fuzz_must(memory != NULL);
    if (index_block_make(&block, bytes, size, memory)) {
        index_block_view(&view, memory, memory_bytes);
        fuzz_must(view.count == block.count && view.groups == block.groups);
        look_at(&block);
    }
    mem_free(&mem_default_allocator, memory, memory_bytes);
}

/* Entries of: how much of the key before is kept, how many bytes follow, these, and the size of the
 * block. What is left of the input are changes of the node: place, value. */
static void
build(struct fuzz_input *input)
{
    struct index_block_builder *builder;
    struct block_handle handle = {0};
    uint8_t key[600], *copy;
    size_t key_bytes = 0, count = 1 + fuzz_number(input, 1) % 40;
    petal_slice bytes;

    fuzz_must(index_block_builder_new(&builder, &mem_default_allocator) == PETAL_OK);
    for (size_t i = 0; i < count; i++) {
        size_t kept = fuzz_number(input, 1) % (key_bytes + 1);
        petal_slice rest = fuzz_take(input, 1 + fuzz_number(input, 1) % 40);
        uint8_t last[600];
        size_t last_bytes = key_bytes;

        memcpy(last, key, key_bytes);
        key_bytes = kept;
        if (rest.size > 0)
            memcpy(key + key_bytes, rest.data, rest.size);
        key_bytes += rest.size;
        if (key_bytes == 0)
            key[key_bytes++] = 'k';
        if (i > 0 && compare(slice_make(key, key_bytes), slice_make(last, last_bytes)) <= 0) {
            memcpy(key, last, last_bytes);
            key_bytes = last_bytes;
            key[key_bytes++] = 0;
        }
        if (key_bytes > 500)
            key_bytes = 500;
        if (i > 0 && compare(slice_make(key, key_bytes), slice_make(last, last_bytes)) <= 0)
            break;
        handle.offset += handle.size;
        handle.size = 25 + (uint32_t)fuzz_number(input, 2);
        handle.begins = handle.size % 4;
        fuzz_must(index_block_builder_add(builder, slice_make(key, key_bytes), handle) == PETAL_OK);
    }
    fuzz_must(index_block_builder_finish(builder, (uint32_t)count % 3, &bytes) == PETAL_OK);
    copy = malloc(bytes.size);
    fuzz_must(copy != NULL);
    memcpy(copy, bytes.data, bytes.size);
    while (input->left >= 3) {
        size_t place = fuzz_number(input, 2) % bytes.size;

        copy[place] = (uint8_t)fuzz_number(input, 1);
    }
    read_node(copy, bytes.size);
    free(copy);
    index_block_builder_free(builder);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_input input = {bytes, size};
    uint8_t *copy;

    if (fuzz_number(&input, 1) == 1) {
        build(&input);
        return 0;
    }
    copy = malloc(input.left + 1);
    fuzz_must(copy != NULL);
    if (input.left > 0)
        memcpy(copy, input.at, input.left);
    read_node(copy, input.left);
    free(copy);
    return 0;
}
