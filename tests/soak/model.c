/* model.c -- see tests/soak/model.h. */
#include "tests/soak/model.h"

#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- states ---- */

bool
soak_is_whole(uint32_t slot)
{
    return slot % 2 == 0;
}

enum soak_table
soak_table_of(uint32_t slot)
{
    return slot / 2 % 2 == 0 ? SOAK_FIRST : SOAK_SECOND;
}

const struct soak_state *
soak_acknowledged(const struct soak_slot *slot)
{
    return &slot->states[atomic_load(&slot->word) & SOAK_OTHER];
}

/* Neither generation nor time is used again when a write is given up: what it left behind may be
 * there unseen. */
struct soak_state *
soak_begin(struct soak_slot *slot)
{
    unsigned now = atomic_load(&slot->word) & SOAK_OTHER;
    struct soak_state *next = &slot->states[now ^ SOAK_OTHER];
    uint64_t generation = next->generation;
    int64_t time = next->time;

    *next = slot->states[now];
    if (next->generation < generation)
        next->generation = generation;
    if (next->time < time)
        next->time = time;
    next->generation++;
    return next;
}

void
soak_attempt(struct soak_slot *slot)
{
    uint32_t now = atomic_load(&slot->word) & SOAK_OTHER;

    atomic_store(&slot->attempted, slot->states[now ^ SOAK_OTHER].generation);
    atomic_store(&slot->word, now | SOAK_PENDING);
}

void
soak_acknowledge(struct soak_slot *slot)
{
    uint32_t next = (atomic_load(&slot->word) & SOAK_OTHER) ^ SOAK_OTHER;

    atomic_store(&slot->word, next);
    atomic_store(&slot->acknowledged, slot->states[next].generation);
}

void
soak_give_up(struct soak_slot *slot)
{
    atomic_store(&slot->word, atomic_load(&slot->word) & SOAK_OTHER);
}

/* ---- bytes ---- */

uint64_t
soak_hash(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001B3u;
    return hash ^ hash >> 29;
}

void
soak_row(uint32_t slot, char row[SOAK_ROW_BYTES + 1])
{
    uint64_t hash = soak_hash(0xCBF29CE484222325u, &slot, sizeof slot) * 0x9E3779B97F4A7C15u;

    snprintf(row, SOAK_ROW_BYTES + 1, "%08x-%06u#", (unsigned)(hash >> 32), slot % SOAK_SLOTS);
}

uint32_t
soak_slot_of_row(petal_slice row)
{
    char expected[SOAK_ROW_BYTES + 1], digits[7] = "";
    uint32_t slot;

    if (row.size != SOAK_ROW_BYTES)
        return SOAK_SLOTS;
    memcpy(digits, (const char *)row.data + 9, 6);
    slot = (uint32_t)strtoul(digits, NULL, 10);
    if (slot >= SOAK_SLOTS)
        return SOAK_SLOTS;
    soak_row(slot, expected);
    return memcmp(expected, row.data, SOAK_ROW_BYTES) == 0 ? slot : SOAK_SLOTS;
}

size_t
soak_value(uint8_t *value, uint32_t slot, unsigned column, uint64_t generation)
{
    uint64_t name[2] = {(uint64_t)slot << 32 | column, generation};
    struct test_random random;
    size_t size;

    test_random_init(&random, soak_hash(0xCBF29CE484222325u, name, sizeof name));
    size = (size_t)test_random_below(&random, 300);
    if (column >= SOAK_COLUMN_PIECE)
        size = 1 + size % SOAK_PIECE_BYTES;
    else if (test_random_chance(&random, 1))
        size = SOAK_MOST_VALUE - size;
    test_random_bytes(&random, value, size);
    return size;
}

/* ---- cells ---- */

static struct soak_cell *
add_cell(struct soak_cells *cells, const char *family, const char *qualifier, size_t size)
{
    struct soak_cell *cell = &cells->cells[cells->count++];

    *cell = (struct soak_cell){.family = family,
                               .qualifier = qualifier,
                               .value = cells->bytes + cells->used,
                               .value_size = size,
                               .time = -1};
    cells->used += size;
    return cell;
}

static struct soak_cell *
add_value(struct soak_cells *cells, const char *family, const char *qualifier, uint32_t slot,
          unsigned column, uint64_t generation)
{
    return add_cell(cells, family, qualifier,
                    soak_value(cells->bytes + cells->used, slot, column, generation));
}

static void
expect_first(struct soak_cells *cells, uint32_t slot, const struct soak_state *state)
{
    static const char *const families[] = {"a", "a", "b", "b", "c", "c"};
    static const char *const qualifiers[] = {"q0", "q1", "q2", "q3", "q4", "q5"};

    for (unsigned column = 0; column < SOAK_COLUMNS; column++) {
        if (state->made[column] != 0)
            add_value(cells, families[column], qualifiers[column], slot, column,
                      state->made[column]);
        if (column == 1 && state->in_first) {
            soak_sum(cells->bytes + cells->used, slot, state);
            add_cell(cells, "a", "sum", SOAK_SUM_BYTES);
        }
    }
}

static void
expect_whole(struct soak_cells *cells, uint32_t slot, const struct soak_state *state,
             enum soak_table table)
{
    if (table == SOAK_FIRST) {
        expect_first(cells, slot, state);
        return;
    }
    if (state->generation == 0 || state->made_in_second == 0)
        return;
    soak_sum(cells->bytes + cells->used, slot, state);
    add_cell(cells, "a", "sum", SOAK_SUM_BYTES);
    add_value(cells, "b", "fill", slot, SOAK_COLUMN_SECOND, state->made_in_second);
}

static void
expect_text(struct soak_cells *cells, uint32_t slot, const struct soak_state *state)
{
    size_t size = 0;

    for (uint32_t i = 0; i < state->pieces; i++)
        size +=
            soak_value(cells->bytes + cells->used + size, slot, SOAK_COLUMN_PIECE + i, state->text);
    add_cell(cells, "c", "text", size);
}

static void
expect_single(struct soak_cells *cells, uint32_t slot, const struct soak_state *state,
              unsigned versions, int64_t began, int64_t ended)
{
    if (state->counted) {
        for (unsigned i = 0; i < 8; i++)
            cells->bytes[cells->used + i] = (uint8_t)((uint64_t)state->count >> (56 - 8 * i));
        add_cell(cells, "a", "count", 8);
    }
    if (state->plain != 0)
        add_value(cells, "a", "plain", slot, SOAK_COLUMN_PLAIN, state->plain);
    for (uint32_t i = 0; i < state->version_count && i < versions; i++)
        add_value(cells, "b", "versions", slot, SOAK_COLUMN_VERSION, state->versions[i].made)
            ->time = state->versions[i].time;
    if (state->mortal != 0 && began <= state->dead_after)
        add_value(cells, "c", "mortal", slot, SOAK_COLUMN_MORTAL, state->mortal)->may_be_there =
            ended >= state->lives_until;
    if (state->text != 0)
        expect_text(cells, slot, state);
}

void
soak_expect(struct soak_cells *cells, uint32_t slot, const struct soak_state *state,
            enum soak_table table, unsigned versions, int64_t began, int64_t ended)
{
    cells->count = cells->used = 0;
    if (soak_is_whole(slot))
        expect_whole(cells, slot, state, table);
    else if (table == soak_table_of(slot))
        expect_single(cells, slot, state, versions, began, ended);
}

void
soak_sum(uint8_t sum[SOAK_SUM_BYTES], uint32_t slot, const struct soak_state *state)
{
    uint8_t value[SOAK_MOST_VALUE];
    uint64_t hash = state->in_first ? 1 : 0;

    for (unsigned column = 0; column < SOAK_COLUMNS; column++) {
        if (state->made[column] != 0) {
            size_t size = soak_value(value, slot, column, state->made[column]);

            hash = soak_hash(hash + column, value, size);
        }
    }
    memcpy(sum, &state->generation, 8);
    memcpy(sum + 8, &hash, 8);
}

/* ---- failure ---- */

void
soak_fail(struct soak_shared *shared, const char *format, ...)
{
    if (!atomic_exchange(&shared->failed, true)) {
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(shared->failure, sizeof shared->failure, format, arguments);
        va_end(arguments);
    }
    _exit(3);
}

void
soak_must(struct soak_shared *shared, enum petal_status status, const petal_error *error,
          const char *action)
{
    if (status != PETAL_OK)
        soak_fail(shared, "cannot %s: %s: %s (%s, offset %" PRIu64 ", errno %d)", action,
                  petal_status_text(status), error->text, error->file, error->offset,
                  error->os_error);
}
