/*
 * packed.c -- any bytes as packed numbers and packed rows: refused, or read within bounds and equal
 * when they are packed anew; and any numbers and rows, which come back.
 *
 * Input: byte 0: which of the four; byte 1: how many.
 */
#include "base/coding.h"
#include "sstable/packed_rows.h"
#include "tests/fuzz/target.h"

static void
put_and_get(const uint64_t *numbers, size_t count, enum packed_hint hint)
{
    uint8_t bytes[PACKED_GROUP * 8 + PACKED_GROUP_EXTRA];
    uint64_t again[PACKED_GROUP];
    const uint8_t *end = packed_numbers_put(bytes, numbers, count, hint);

    fuzz_must(end > bytes && end <= bytes + count * 8 + PACKED_GROUP_EXTRA);
    fuzz_must(packed_numbers_get(bytes, end, again, count) == end);
    fuzz_must(memcmp(numbers, again, count * 8) == 0);
    fuzz_must(packed_numbers_skip(bytes, end, count) == end);
    fuzz_must(packed_numbers_skip(bytes, end - 1, count) == NULL);
}

static void
get_numbers(const uint8_t *bytes, size_t size, size_t count)
{
    uint64_t numbers[PACKED_GROUP];
    const uint8_t *end = packed_numbers_get(bytes, bytes + size, numbers, count);
    bool ascends = true;

    if (end == NULL)
        return;
    fuzz_must(packed_numbers_skip(bytes, bytes + size, count) == end);
    for (size_t i = 1; i < count; i++)
        ascends = ascends && numbers[i - 1] <= numbers[i];
    put_and_get(numbers, count, PACKED_ANY);
    if (ascends)
        put_and_get(numbers, count, PACKED_ASCENDING);
}

static void
put_numbers(struct fuzz_input *input, size_t count)
{
    size_t width = 1 + fuzz_number(input, 1) % 8;
    bool ascend = width % 2 == 0;
    uint64_t numbers[PACKED_GROUP];

    for (size_t i = 0; i < count; i++) {
        numbers[i] = fuzz_number(input, width);
        if (ascend)
            numbers[i] = (i > 0 ? numbers[i - 1] : 0) + numbers[i] % (UINT64_MAX / 256);
    }
    put_and_get(numbers, count, ascend ? PACKED_ASCENDING : PACKED_ANY);
}

static void
get_rows(const uint8_t *input, size_t size, size_t count)
{
    static struct row_rests rests;
    const uint8_t *limit = input + size, *at, *end;
    struct row_symbols symbols;

    if (size == 0)
        return;
    at = row_symbols_get(input + 1, limit, input[0], &symbols);
    if (at == NULL)
        return;
    fuzz_must(symbols.rest_bytes == input[0] && symbols.rest_bytes <= PACKED_ROWS_MOST_REST);
    end = packed_rows_get(at, limit, &symbols, count, &rests);
    if (end != NULL)
        fuzz_must(packed_rows_skip(at, limit, &symbols, count) == end);
    for (size_t row = 0; end != NULL && row < count; row++)
        fuzz_touch(slice_make(rests.bytes[row], symbols.rest_bytes));
}

/* Rests that ascend, as a block's do: the first 8 bytes of a symbol group are packed as such. */
static int
compare_rests(const void *a, const void *b)
{
    return memcmp(a, b, PACKED_ROWS_STRIDE);
}

static void
put_rows(struct fuzz_input *input, size_t count)
{
    static struct row_rests rests, again;
    struct row_survey survey = {.rest_bytes = 1 + (uint32_t)fuzz_number(input, 1) % 64};
    uint8_t mask = (uint8_t)fuzz_number(input, 1), base = (uint8_t)fuzz_number(input, 1);
    size_t room = ROW_SYMBOLS_MOST_BYTES + 8 * (PACKED_GROUP * 8 + PACKED_GROUP_EXTRA);
    struct row_symbols symbols, read;
    uint8_t *bytes = malloc(room), *at, *end;

    fuzz_must(bytes != NULL);
    memset(&rests, 0, sizeof rests);
    for (size_t row = 0; row < count; row++)
        for (size_t i = 0; i < survey.rest_bytes; i++)
            rests.bytes[row][i] = (uint8_t)((fuzz_number(input, 1) & mask) + base);
    qsort(rests.bytes, count, sizeof rests.bytes[0], compare_rests);
    row_survey_places(&survey, &rests, count);
    row_survey_bytes(&survey, &rests, count);
    if (row_symbols_choose(&symbols, &survey)) {
        at = row_symbols_put(bytes, &symbols);
        fuzz_must(at <= bytes + ROW_SYMBOLS_MOST_BYTES);
        end = packed_rows_put(at, &symbols, &rests, count);
        fuzz_must(end <= bytes + room);
        fuzz_must(row_symbols_get(bytes, end, survey.rest_bytes, &read) == at);
        fuzz_must(packed_rows_get(at, end, &read, count, &again) == end);
        fuzz_must(packed_rows_skip(at, end, &read, count) == end);
        for (size_t row = 0; row < count; row++)
            fuzz_must(memcmp(rests.bytes[row], again.bytes[row], survey.rest_bytes) == 0);
    }
    free(bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_input input = {bytes, size};
    unsigned which = (unsigned)fuzz_number(&input, 1) % 4;
    size_t count = 1 + fuzz_number(&input, 1) % PACKED_GROUP;
    uint8_t *copy;

    if (which == 0)
        put_numbers(&input, count);
    if (which == 1)
        put_rows(&input, count);
    if (which < 2)
        return 0;
    copy = malloc(input.left + 1);
    fuzz_must(copy != NULL);
    if (input.left > 0)
        memcpy(copy, input.at, input.left);
    if (which == 2)
        get_numbers(copy, input.left, count);
    else
        get_rows(copy, input.left, count);
    free(copy);
    return 0;
}
