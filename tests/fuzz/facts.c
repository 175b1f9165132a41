/*
 * facts.c -- any bytes as the facts of a store file, and as its trailer: refused with a reason, or
 * facts that are the same when they are written and read again.
 */
#include "sstable/file/facts.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "sstable/file/trailer.h"
#include "tests/fuzz/target.h"

static void
touch(const struct file_facts *facts)
{
    fuzz_touch(facts->row_min);
    fuzz_touch(facts->row_max);
    for (uint32_t i = 0; i < facts->qualifier_count; i++) {
        fuzz_touch(facts->qualifiers[i]);
        fuzz_must(facts_may_have_qualifier(facts, facts->qualifiers[i]));
    }
    fuzz_must(facts->qualifiers_exact || facts_may_have_qualifier(facts, slice_make("x", 1)));
}

/* What was decoded is encoded, decoded and encoded again: the two encodings are equal. */
static void
write_and_read(const struct file_facts *facts, const petal_allocator *allocator)
{
    size_t size = facts_encoded_bytes(facts);
    uint8_t *once = malloc(size), *twice = malloc(size);
    struct file_facts again;
    const char *what = NULL;

    fuzz_must(once != NULL && twice != NULL);
    facts_encode(facts, once);
    fuzz_must(facts_decode(&again, slice_make(once, size), allocator, &what) == PETAL_OK);
    touch(&again);
    fuzz_must(facts_encoded_bytes(&again) == size);
    facts_encode(&again, twice);
    fuzz_must(memcmp(once, twice, size) == 0);
    facts_fini(&again, allocator);
    free(once);
    free(twice);
}

static void
read_facts(petal_slice bytes)
{
    size_t most = FACTS_MAX_QUALIFIERS * sizeof(petal_slice);
    petal_allocator allocator = fuzz_allocator(&most);
    struct file_facts facts;
    const char *what = NULL;
    enum petal_status status = facts_decode(&facts, bytes, &allocator, &what);

    if (status != PETAL_OK) {
        fuzz_must(status == PETAL_CORRUPT && what != NULL);
        return;
    }
    touch(&facts);
    write_and_read(&facts, &allocator);
    facts_fini(&facts, &allocator);
}

static bool
same_handle(struct block_handle a, struct block_handle b)
{
    return a.offset == b.offset && a.size == b.size;
}

/* With magic and checksum, so that the rest is looked at; in a file as large as it says, or not. */
static void
read_trailer(petal_slice bytes, bool right_size)
{
    static const uint8_t magic[] = {0x89, 'P', 'E', 'T', 'A', 'L', 'S', 'F'};
    uint8_t trailer[TRAILER_BYTES];
    struct trailer decoded, again;
    petal_error error;
    uint64_t size;

    memcpy(trailer, bytes.data, TRAILER_BYTES);
    memcpy(trailer + TRAILER_BYTES - 8, magic, 8);
    size = right_size ? get_le64(trailer + 16) : 4096;
    if (size < TRAILER_BYTES)
        return;
    put_le64(trailer, checksum_at(get_le64(trailer + 8), size - TRAILER_BYTES, trailer + 8,
                                  TRAILER_BYTES - 8));
    if (trailer_decode(&decoded, trailer, size, "f", &error) != PETAL_OK) {
        fuzz_must(error.text[0] != '\0');
        return;
    }
    fuzz_must(decoded.file_bytes == size);
    if (decoded.facts.size == 0 || decoded.data_root.size == 0 || decoded.facts.offset > size ||
        decoded.facts.offset + decoded.facts.size + TRAILER_BYTES != size)
        return; /* who opens the file finds that out */
    trailer_encode(&decoded, trailer);
    fuzz_must(trailer_decode(&again, trailer, size, "f", &error) == PETAL_OK);
    fuzz_must(again.file_identity == decoded.file_identity &&
              same_handle(again.facts, decoded.facts) &&
              again.stated_shift == decoded.stated_shift &&
              same_handle(again.data_root, decoded.data_root) &&
              same_handle(again.bloom_root, decoded.bloom_root));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_input input = {bytes, size};
    uint64_t first = fuzz_number(&input, 1);

    if (first < 2 && input.left >= TRAILER_BYTES)
        read_trailer(fuzz_take(&input, TRAILER_BYTES), first == 0);
    else
        read_facts(fuzz_take(&input, input.left));
    return 0;
}
