/* program.c -- see tests/threads/program.h. */
#include "tests/threads/program.h"

#include "base/slice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Slots of rows r0 and r1 of table A, of table B, and of the snapshot of B that was taken last. */
enum slot { A0_VALUE, A0_NUMBER, A0_TEXT, A1_VALUE, A1_NUMBER, A1_TEXT, B0_VALUE, B1_NUMBER };
#define SAVED_VALUE  8
#define SAVED_NUMBER 9
#define READ_SLOTS   8 /* that calls read */

#define NOISE_ROWS     4 /* between r0 and r1, never changed */
#define MOST_FILLER    1500
#define MOST_TEXT      30
#define PERCENT_OF_ALL 100

/* ---- failures ---- */

static void
must(struct program *program, enum petal_status status, const petal_error *error, const char *what)
{
    if (status == PETAL_OK)
        return;
    fprintf(stderr, "%s: %s: %s %s\n", what, petal_status_text(status), error->text, error->file);
    program->fail(what);
}

/* False: the handle of table B is gone, and nothing was done. */
static bool
done_unless_gone(struct program *program, enum petal_status status, const petal_error *error,
                 const char *what)
{
    if (status == PETAL_NOT_FOUND) {
        atomic_fetch_add_explicit(&program->refused, 1, memory_order_relaxed);
        return false;
    }
    must(program, status, error, what);
    return true;
}

/* ---- values ---- */

static petal_slice
row_name(unsigned row)
{
    return slice_from_text(row == 0 ? "r0" : "r1");
}

struct value {
    uint64_t number;
    uint8_t filler[MOST_FILLER];
};

/* A value that nobody else puts. */
static petal_slice
new_value(struct program *program, unsigned thread, struct test_random *random, struct value *value)
{
    size_t filler = test_random_chance(random, 30) ? test_random_below(random, MOST_FILLER) : 0;

    value->number = ++program->numbers[thread] * 16 + thread + 1;
    memset(value->filler, (int)(value->number & 0xff), filler);
    return slice_make(value, sizeof value->number + filler);
}

static uint64_t
value_of(struct program *program, petal_slice bytes)
{
    struct value value;

    if (bytes.size < sizeof value.number || bytes.size > sizeof value)
        program->fail("a value has a size that none was put with");
    memcpy(&value, bytes.data, bytes.size);
    for (size_t i = 0; i < bytes.size - sizeof value.number; i++)
        if (value.filler[i] != (value.number & 0xff))
            program->fail("a value is torn");
    return value.number;
}

static uint64_t
number_of(struct program *program, petal_slice bytes)
{
    uint64_t number = 0;

    if (bytes.size != 8)
        program->fail("a number has another width");
    for (unsigned i = 0; i < 8; i++)
        number = number << 8 | ((const uint8_t *)bytes.data)[i];
    return number;
}

static uint64_t
text_of(petal_slice bytes)
{
    uint64_t text = 0;

    for (size_t i = 0; i < bytes.size; i++)
        text = history_append(text, ((const uint8_t *)bytes.data)[i]);
    return text;
}

/* ---- what a read found ---- */

struct reading {
    uint64_t values[READ_SLOTS];
    bool found[READ_SLOTS];
    unsigned noise;
};

static bool
is_byte(petal_slice slice, char byte)
{
    return slice.size == 1 && *(const char *)slice.data == byte;
}

/* The first of a column's versions counts. */
static void
note_cell(struct program *program, struct reading *reading, const petal_cell *cell)
{
    const char *row = cell->row.data;
    bool second;
    unsigned slot;
    uint64_t value;

    if (cell->row.size != 2) {
        reading->noise++;
        return;
    }
    second = row[1] == '1';
    if (is_byte(cell->family, 'h'))
        slot = second ? B1_NUMBER : B0_VALUE;
    else
        slot = (second ? A1_VALUE : A0_VALUE) +
               (is_byte(cell->family, 'g') ? 2u : is_byte(cell->qualifier, 'n'));
    if (reading->found[slot])
        return;
    reading->found[slot] = true;
    if (slot == B0_VALUE || slot == A0_VALUE || slot == A1_VALUE)
        value = value_of(program, cell->value);
    else if (slot == A0_TEXT || slot == A1_TEXT)
        value = text_of(cell->value);
    else
        value = number_of(program, cell->value);
    reading->values[slot] = value;
}

static void
note_result(struct program *program, struct reading *reading, const petal_result *result)
{
    for (size_t i = 0; i < petal_result_count(result); i++)
        note_cell(program, reading, petal_result_cell(result, i));
}

static void
answer(struct history_call *call, const struct reading *reading, unsigned first, unsigned end)
{
    for (unsigned slot = first; slot < end; slot++)
        history_add(call, HISTORY_IS, slot, reading->values[slot]);
}

/* ---- a worker ---- */

struct worker {
    struct program *program;
    unsigned index;
    struct test_random *random;
    petal_result *results[2];
    petal_batch *batch;
    petal_filter *filter; /* passes everything */
    petal_receipt *receipt;
    /* What stays open over other calls. */
    petal_cursor *cursor;
    struct history_call *cursor_call;
    struct reading cursor_reading;
    petal_snapshot *snapshot;
    struct history_call *snapshot_call;
    petal_transaction *transaction;
    struct history_call *transaction_call; /* as of its beginning */
    struct program_handles *transaction_b; /* of that time */
    bool knows_b, writes;                  /* it has used no later ones; it has written */
    uint64_t seen;                         /* a value of A0 that was read last */
};

static bool
chance(struct worker *worker, unsigned percent)
{
    return test_random_chance(worker->random, percent);
}

static struct program_handles *
handles_of_b(struct program *program)
{
    return atomic_load_explicit(&program->b, memory_order_acquire);
}

static petal_write_options
write_options(struct worker *worker)
{
    uint64_t die = test_random_below(worker->random, 500);

    return (petal_write_options){.durability = die == 0    ? PETAL_FSYNC_WAL
                                               : die < 50  ? PETAL_SKIP_WAL
                                               : die < 100 ? PETAL_ASYNC_WAL
                                                           : PETAL_DURABILITY_DEFAULT};
}

static petal_read_options
read_options(struct worker *worker)
{
    petal_read_options options = {0};

    if (chance(worker, 15))
        options.filter = worker->filter;
    if (chance(worker, 10))
        options.receipt = worker->receipt;
    if (chance(worker, 15))
        options.versions = 2;
    if (chance(worker, 15))
        options.without = (unsigned)test_random_below(worker->random, 1u << PETAL_SKIP_COUNT) & ~1u;
    options.keep_out_of_cache = chance(worker, 10);
    return options;
}

/* ---- reads ---- */

static void
get_row_of_a(struct worker *worker, unsigned row, const petal_snapshot *snapshot,
             struct reading *reading)
{
    struct program *program = worker->program;
    petal_read_options options = read_options(worker);
    petal_error error;

    options.snapshot = snapshot;
    must(program, petal_get(program->a, row_name(row), &options, worker->results[0], &error),
         &error, "petal_get");
    note_result(program, reading, worker->results[0]);
}

static void
do_get(struct worker *worker)
{
    unsigned row = chance(worker, 50), first = row == 0 ? A0_VALUE : A1_VALUE;
    struct history_call *call = history_begin(&worker->program->history, worker->index, "get");
    struct reading reading = {0};

    get_row_of_a(worker, row, NULL, &reading);
    history_end(call);
    answer(call, &reading, first, first + 3);
    if (row == 0)
        worker->seen = reading.values[A0_VALUE];
}

/* One column, as most gets ask: the fast get. */
static void
do_get_column(struct worker *worker)
{
    struct program *program = worker->program;
    struct program_handles *b = handles_of_b(program);
    bool of_b = chance(worker, 50), second = chance(worker, 50);
    petal_column column = {of_b ? b->family : program->f,
                           slice_from_text(of_b && second ? "n" : "v"), false};
    petal_read_options options = {.columns = &column, .column_count = 1};
    unsigned slot = of_b ? (second ? B1_NUMBER : B0_VALUE) : (second ? A1_VALUE : A0_VALUE);
    struct history_call *call = history_begin(&program->history, worker->index, "get of a column");
    struct reading reading = {0};
    petal_error error;
    enum petal_status status = petal_get(of_b ? b->table : program->a, row_name(second), &options,
                                         worker->results[0], &error);

    history_end(call);
    if (!done_unless_gone(program, status, &error, "petal_get")) {
        history_take_back(&program->history, worker->index);
        return;
    }
    note_result(program, &reading, worker->results[0]);
    answer(call, &reading, slot, slot + 1);
}

static void
do_multi_get(struct worker *worker)
{
    struct program *program = worker->program;
    petal_slice rows[2] = {row_name(1), row_name(0)};
    petal_column column = {program->f, slice_from_text("v"), false};
    bool one_column = chance(worker, 50);
    petal_read_options options = read_options(worker);
    struct history_call *call = history_begin(&program->history, worker->index, "multi-get");
    struct reading reading = {0};
    petal_error error;

    if (one_column) {
        options = (petal_read_options){.columns = &column, .column_count = 1};
    }
    must(program, petal_multi_get(program->a, rows, 2, &options, worker->results, &error), &error,
         "petal_multi_get");
    history_end(call);
    note_result(program, &reading, worker->results[0]);
    note_result(program, &reading, worker->results[1]);
    if (one_column) {
        answer(call, &reading, A0_VALUE, A0_VALUE + 1);
        answer(call, &reading, A1_VALUE, A1_VALUE + 1);
    } else {
        answer(call, &reading, A0_VALUE, B0_VALUE);
    }
}

/* Some steps of the cursor; true: it is at its end. */
static bool
step_cursor(struct worker *worker, unsigned steps)
{
    struct program *program = worker->program;
    petal_error error;

    for (unsigned i = 0; i < steps; i++) {
        const petal_cell *cells = NULL;
        size_t count = 0;

        switch (test_random_below(worker->random, 3)) {
        case 0:
            must(program, petal_cursor_next(worker->cursor, &cells, &error), &error,
                 "petal_cursor_next");
            count = cells != NULL;
            break;
        case 1:
            must(program, petal_cursor_next_many(worker->cursor, 1 + i % 4, &cells, &count, &error),
                 &error, "petal_cursor_next_many");
            break;
        default:
            must(program, petal_cursor_next_row(worker->cursor, worker->results[1], &error), &error,
                 "petal_cursor_next_row");
            note_result(program, &worker->cursor_reading, worker->results[1]);
            if (petal_result_count(worker->results[1]) == 0)
                return true;
            continue;
        }
        for (size_t c = 0; c < count; c++)
            note_cell(program, &worker->cursor_reading, &cells[c]);
        if (count == 0)
            return true;
    }
    return false;
}

static void
finish_cursor(struct worker *worker)
{
    while (!step_cursor(worker, 8))
        ;
    if (worker->cursor_reading.noise != NOISE_ROWS)
        worker->program->fail("a scan has lost rows that are never changed");
    answer(worker->cursor_call, &worker->cursor_reading, A0_VALUE, B0_VALUE);
    petal_cursor_close(worker->cursor);
    worker->cursor = NULL;
}

static void
do_scan(struct worker *worker)
{
    struct program *program = worker->program;
    petal_scan_options options = {.read = read_options(worker), .reversed = chance(worker, 30)};
    petal_error error;

    if (worker->cursor != NULL) {
        if (chance(worker, 50) || step_cursor(worker, 1))
            finish_cursor(worker);
        return;
    }
    options.read.receipt = NULL;
    worker->cursor_call = history_begin(&program->history, worker->index, "scan");
    must(program, petal_cursor_open(program->a, &options, &worker->cursor, &error), &error,
         "petal_cursor_open");
    history_end(worker->cursor_call);
    worker->cursor_reading = (struct reading){0};
    if (chance(worker, 40))
        finish_cursor(worker);
}

static void
finish_snapshot(struct worker *worker)
{
    struct reading reading = {0};

    get_row_of_a(worker, 1, worker->snapshot, &reading);
    get_row_of_a(worker, 0, worker->snapshot, &reading);
    answer(worker->snapshot_call, &reading, A0_VALUE, B0_VALUE);
    petal_snapshot_free(worker->snapshot);
    worker->snapshot = NULL;
}

static void
do_snapshot(struct worker *worker)
{
    struct program *program = worker->program;
    petal_error error;

    if (worker->snapshot != NULL) {
        finish_snapshot(worker);
        return;
    }
    worker->snapshot_call = history_begin(&program->history, worker->index, "snapshot");
    must(program, petal_snapshot_new(program->db, &worker->snapshot, &error), &error,
         "petal_snapshot_new");
    history_end(worker->snapshot_call);
}

/* ---- writes ---- */

static void
do_put(struct worker *worker)
{
    struct program *program = worker->program;
    bool of_b = chance(worker, 30);
    unsigned row = of_b ? 0 : chance(worker, 50);
    petal_family *family = of_b ? handles_of_b(program)->family : program->f;
    petal_write_options options = write_options(worker);
    struct value value;
    petal_slice bytes = new_value(program, worker->index, worker->random, &value);
    struct history_call *call = history_begin(&program->history, worker->index, "put");
    petal_error error;
    enum petal_status status = petal_put(family, row_name(row), slice_from_text("v"), PETAL_LATEST,
                                         bytes, &options, &error);

    history_end(call);
    if (!done_unless_gone(program, status, &error, "petal_put"))
        history_take_back(&program->history, worker->index);
    else
        history_add(call, HISTORY_SET,
                    of_b       ? B0_VALUE
                    : row == 0 ? A0_VALUE
                               : A1_VALUE,
                    value.number);
}

static void
do_delete(struct worker *worker)
{
    struct program *program = worker->program;
    unsigned row = chance(worker, 50), first = row == 0 ? A0_VALUE : A1_VALUE;
    bool text = chance(worker, 40);
    bool whole = text || chance(worker, 50);
    petal_write_options options = write_options(worker);
    struct history_call *call = history_begin(&program->history, worker->index, "delete");
    petal_error error;

    must(program,
         petal_delete(text ? program->g : program->f, row_name(row),
                      slice_from_text(whole ? "" : "v"), PETAL_LATEST,
                      whole ? PETAL_DELETE_FAMILY : PETAL_DELETE_COLUMN, &options, &error),
         &error, "petal_delete");
    history_end(call);
    if (text) {
        history_add(call, HISTORY_SET, first + 2, 0);
        return;
    }
    history_add(call, HISTORY_SET, first, 0);
    if (whole)
        history_add(call, HISTORY_SET, first + 1, 0);
}

static void
do_increment(struct worker *worker)
{
    struct program *program = worker->program;
    bool of_b = chance(worker, 30);
    unsigned row = of_b ? 1 : chance(worker, 50);
    unsigned slot = of_b ? B1_NUMBER : row == 0 ? A0_NUMBER : A1_NUMBER;
    int64_t amount = (int64_t)test_random_below(worker->random, 1000) + 1, sum;
    petal_write_options options = write_options(worker);
    struct history_call *call = history_begin(&program->history, worker->index, "increment");
    petal_error error;
    enum petal_status status =
        petal_increment(of_b ? handles_of_b(program)->family : program->f, row_name(row),
                        slice_from_text("n"), amount, &options, &sum, &error);

    history_end(call);
    if (!done_unless_gone(program, status, &error, "petal_increment")) {
        history_take_back(&program->history, worker->index);
        return;
    }
    history_add(call, HISTORY_ADD, slot, (uint64_t)amount);
    history_add(call, HISTORY_IS, slot, (uint64_t)sum);
}

static void
do_append(struct worker *worker)
{
    struct program *program = worker->program;
    unsigned row = chance(worker, 50), slot = row == 0 ? A0_TEXT : A1_TEXT;
    uint8_t byte = (uint8_t)test_random_next(worker->random);
    petal_write_options options = write_options(worker);
    struct history_call *call = history_begin(&program->history, worker->index, "append");
    petal_slice text;
    petal_error error;

    options.result = worker->results[0];
    must(program,
         petal_append(program->g, row_name(row), slice_from_text("t"), slice_make(&byte, 1),
                      &options, &error),
         &error, "petal_append");
    history_end(call);
    if (petal_result_count(worker->results[0]) != 1)
        program->fail("an append has given no cell");
    text = petal_result_cell(worker->results[0], 0)->value;
    history_add(call, HISTORY_APPEND, slot, byte);
    history_add(call, HISTORY_IS, slot, text_of(text));
}

/* Puts, numbers and deletions of all rows that the batch is to have. */
static void
do_batch(struct worker *worker)
{
    struct program *program = worker->program;
    petal_family *h = handles_of_b(program)->family;
    struct value values[3];
    int64_t amount = (int64_t)test_random_below(worker->random, 1000) + 1;
    bool with_b = chance(worker, 60), with_number = chance(worker, 30),
         deletes = chance(worker, 20);
    petal_write_options options = write_options(worker);
    struct history_call *call;
    petal_error error;
    enum petal_status status = PETAL_OK;

    petal_batch_clear(worker->batch);
    for (unsigned row = 0; row < 2; row++) {
        petal_slice value = new_value(program, worker->index, worker->random, &values[row]);

        if (deletes)
            must(program,
                 petal_batch_delete(worker->batch, program->f, row_name(row), slice_from_text("v"),
                                    PETAL_LATEST, PETAL_DELETE_COLUMN, &error),
                 &error, "petal_batch_delete");
        must(program,
             petal_batch_put(worker->batch, program->f, row_name(row), slice_from_text("v"),
                             PETAL_LATEST, value, &error),
             &error, "petal_batch_put");
    }
    if (with_number)
        must(program,
             petal_batch_increment(worker->batch, program->f, row_name(0), slice_from_text("n"),
                                   amount, &error),
             &error, "petal_batch_increment");
    call = history_begin(&program->history, worker->index, "batch");
    if (with_b)
        status =
            petal_batch_put(worker->batch, h, row_name(0), slice_from_text("v"), PETAL_LATEST,
                            new_value(program, worker->index, worker->random, &values[2]), &error);
    if (status == PETAL_OK)
        status = petal_write(program->db, worker->batch, &options, &error);
    history_end(call);
    if (!done_unless_gone(program, status, &error, "petal_write")) {
        history_take_back(&program->history, worker->index);
        return;
    }
    history_add(call, HISTORY_SET, A0_VALUE, values[0].number);
    history_add(call, HISTORY_SET, A1_VALUE, values[1].number);
    if (with_b)
        history_add(call, HISTORY_SET, B0_VALUE, values[2].number);
    if (with_number)
        history_add(call, HISTORY_ADD, A0_NUMBER, (uint64_t)amount);
}

/* The value that was read last, padded as whoever put it did, is compared by its first bytes only;
 * so the condition is one of being there, or of a number. */
static void
do_mutate(struct worker *worker)
{
    struct program *program = worker->program;
    bool absent = chance(worker, 50);
    petal_condition condition = {.family = program->f,
                                 .qualifier = slice_from_text("v"),
                                 .absent = absent,
                                 .compare = absent ? 0 : PETAL_NOT_EQUAL};
    petal_write_options options = write_options(worker);
    struct value value;
    struct history_call *call;
    petal_error error;
    bool applied;

    petal_batch_clear(worker->batch);
    must(program,
         petal_batch_put(worker->batch, program->f, row_name(0), slice_from_text("v"), PETAL_LATEST,
                         new_value(program, worker->index, worker->random, &value), &error),
         &error, "petal_batch_put");
    must(program,
         petal_batch_increment(worker->batch, program->f, row_name(0), slice_from_text("n"), 1,
                               &error),
         &error, "petal_batch_increment");
    call = history_begin(&program->history, worker->index, "check and mutate");
    must(program,
         petal_mutate_row(program->a, row_name(0), &condition, worker->batch, &options, &applied,
                          &error),
         &error, "petal_mutate_row");
    history_end(call);
    history_add(call, absent == applied ? HISTORY_IS : HISTORY_IS_NOT, A0_VALUE, 0);
    if (applied) {
        history_add(call, HISTORY_SET, A0_VALUE, value.number);
        history_add(call, HISTORY_ADD, A0_NUMBER, 1);
    }
}

/* ---- transactions ---- */

static void
begin_transaction(struct worker *worker)
{
    struct program *program = worker->program;
    petal_transaction_options options = {.durability = write_options(worker).durability};
    petal_error error;

    worker->knows_b = true;
    worker->writes = false;
    worker->transaction_b = handles_of_b(program);
    worker->transaction_call = history_begin(&program->history, worker->index, "transaction");
    must(program, petal_transaction_begin(program->db, &options, &worker->transaction, &error),
         &error, "petal_transaction_begin");
    history_end(worker->transaction_call);
    worker->transaction_call->unseen = true;
}

/* Of a table B that is newer than the transaction only its commit tells. */
static struct program_handles *
transaction_handles_of_b(struct worker *worker)
{
    struct program_handles *b = handles_of_b(worker->program);

    worker->knows_b = worker->knows_b && b == worker->transaction_b;
    return b;
}

static void
read_in_transaction(struct worker *worker)
{
    struct program *program = worker->program;
    bool of_b = chance(worker, 30), second = chance(worker, 50), both = chance(worker, 40);
    unsigned first = of_b ? (unsigned)B0_VALUE : second && !both ? A1_VALUE : A0_VALUE;
    petal_slice rows[2] = {row_name(!both && !of_b && second), row_name(1)};
    petal_read_options options = read_options(worker);
    struct reading reading = {0};
    petal_error error;
    enum petal_status status = petal_transaction_multi_get(
        worker->transaction, of_b ? transaction_handles_of_b(worker)->table : program->a, rows,
        of_b || both ? 2 : 1, &options, worker->results, &error);

    if (!done_unless_gone(program, status, &error, "petal_transaction_multi_get"))
        return;
    note_result(program, &reading, worker->results[0]);
    if (of_b || both)
        note_result(program, &reading, worker->results[1]);
    answer(worker->transaction_call, &reading, first, first + (of_b ? 2u : both ? 6u : 3u));
}

/* Of all rows of table A, or the first in its direction, there or not. */
static void
scan_in_transaction(struct worker *worker)
{
    struct program *program = worker->program;
    bool one = chance(worker, 50);
    petal_scan_options options = {
        .read = read_options(worker), .reversed = chance(worker, 50), .row_limit = one ? 1 : 0};
    unsigned first = one && options.reversed ? A1_VALUE : A0_VALUE;
    petal_cursor *before = worker->cursor;
    struct reading reading_before = worker->cursor_reading;
    petal_error error;

    options.read.receipt = NULL;
    worker->cursor_reading = (struct reading){0};
    must(program,
         petal_transaction_scan(worker->transaction, program->a, &options, &worker->cursor, &error),
         &error, "petal_transaction_scan");
    while (!step_cursor(worker, 8))
        ;
    answer(worker->transaction_call, &worker->cursor_reading, first, first + (one ? 3u : 6u));
    petal_cursor_close(worker->cursor);
    worker->cursor = before;
    worker->cursor_reading = reading_before;
}

/* It says its row and column by the slot that changes. */
static void
write_in_transaction(struct worker *worker)
{
    struct program *program = worker->program;
    petal_transaction *transaction = worker->transaction;
    struct history_call *call = worker->transaction_call;
    unsigned slot = (unsigned)test_random_below(worker->random, READ_SLOTS);
    bool of_b = slot >= B0_VALUE;
    unsigned row = slot == B1_NUMBER || (slot >= A1_VALUE && !of_b);
    int64_t amount = (int64_t)test_random_below(worker->random, 1000) + 1, sum = 0;
    petal_family *family = of_b ? transaction_handles_of_b(worker)->family : program->f;
    enum history_step_kind kind = HISTORY_SET;
    uint8_t byte = (uint8_t)amount;
    struct value value;
    petal_error error;
    enum petal_status status;

    if (slot == A0_TEXT || slot == A1_TEXT) {
        value.number = byte;
        kind = HISTORY_APPEND;
        status = petal_transaction_append(transaction, program->g, row_name(row),
                                          slice_from_text("t"), slice_make(&byte, 1), &error);
    } else if (slot == A0_NUMBER || slot == A1_NUMBER || slot == B1_NUMBER) {
        value.number = (uint64_t)amount;
        kind = HISTORY_ADD;
        status = petal_transaction_increment(transaction, family, row_name(row),
                                             slice_from_text("n"), amount, &sum, &error);
    } else if (chance(worker, 25)) {
        value.number = 0;
        status = petal_transaction_delete(transaction, family, row_name(row), slice_from_text("v"),
                                          PETAL_LATEST, PETAL_DELETE_COLUMN, &error);
    } else {
        petal_slice bytes = new_value(program, worker->index, worker->random, &value);

        status = petal_transaction_put(transaction, family, row_name(row), slice_from_text("v"),
                                       PETAL_LATEST, bytes, NULL, &error);
    }
    if (!done_unless_gone(program, status, &error, "a write of a transaction"))
        return;
    worker->writes = true;
    history_add(call, kind, slot, value.number);
    if (kind == HISTORY_ADD)
        history_add(call, HISTORY_IS, slot, (uint64_t)sum);
}

static void
delete_row_in_transaction(struct worker *worker)
{
    struct program *program = worker->program;
    unsigned row = chance(worker, 50), first = row == 0 ? A0_VALUE : A1_VALUE;
    petal_error error;

    must(program,
         petal_transaction_delete_row(worker->transaction, program->a, row_name(row), PETAL_LATEST,
                                      &error),
         &error, "petal_transaction_delete_row");
    worker->writes = true;
    for (unsigned slot = first; slot < first + 3; slot++)
        history_add(worker->transaction_call, HISTORY_SET, slot, 0);
}

/* All its steps happen at its beginning, for itself; if it commits what it has written, at its end
 * for all. */
static void
commit_transaction(struct worker *worker)
{
    struct program *program = worker->program;
    struct history_call *call = history_begin(&program->history, worker->index, "commit");
    petal_error error;
    enum petal_status status = petal_transaction_commit(worker->transaction, &error);

    history_end(call);
    atomic_fetch_add_explicit(&program->transactions, 1, memory_order_relaxed);
    if (status == PETAL_OK && worker->writes) {
        call->count = worker->transaction_call->count;
        memcpy(call->steps, worker->transaction_call->steps, sizeof call->steps);
        return;
    }
    history_take_back(&program->history, worker->index);
    if (status == PETAL_CONFLICT && worker->writes)
        atomic_fetch_add_explicit(&program->conflicts, 1, memory_order_relaxed);
    else
        must(program, status, &error, "petal_transaction_commit");
}

static void
finish_transaction(struct worker *worker)
{
    if (chance(worker, 10))
        petal_transaction_abort(worker->transaction);
    else
        commit_transaction(worker);
    worker->transaction = NULL;
    if (!worker->knows_b)
        worker->transaction_call->count = 0;
}

static void
do_transaction(struct worker *worker)
{
    if (worker->transaction == NULL)
        begin_transaction(worker);
    for (unsigned i = 0; i < 3 && worker->transaction_call->count + 6 <= HISTORY_STEPS; i++) {
        unsigned die = (unsigned)test_random_below(worker->random, PERCENT_OF_ALL);

        if (die < 35)
            read_in_transaction(worker);
        else if (die < 50)
            scan_in_transaction(worker);
        else if (die < 95)
            write_in_transaction(worker);
        else
            delete_row_in_transaction(worker);
    }
    if (chance(worker, 60))
        finish_transaction(worker);
}

static const struct {
    void (*run)(struct worker *worker);
    unsigned percent;
} calls_of_workers[] = {
    {do_get, 12},     {do_get_column, 12}, {do_multi_get, 10}, {do_scan, 14},
    {do_snapshot, 8}, {do_put, 14},        {do_delete, 6},     {do_increment, 8},
    {do_append, 5},   {do_batch, 8},       {do_mutate, 3},
};

void
program_work(struct program *program, unsigned index, struct test_random *random, unsigned calls)
{
    struct worker worker = {.program = program, .index = index, .random = random};
    petal_error error;

    must(program, petal_result_new(program->db, &worker.results[0], &error), &error, "result");
    must(program, petal_result_new(program->db, &worker.results[1], &error), &error, "result");
    must(program, petal_batch_new(program->db, &worker.batch, &error), &error, "batch");
    must(program, petal_receipt_new(program->db, &worker.receipt, &error), &error, "receipt");
    must(program,
         petal_filter_parse(program->db, slice_from_text("PrefixFilter('r')"), &worker.filter,
                            &error),
         &error, "filter");
    for (unsigned i = 0; i < calls; i++) {
        unsigned die = (unsigned)test_random_below(random, PERCENT_OF_ALL), call = 0;

        while (die >= calls_of_workers[call].percent)
            die -= calls_of_workers[call++].percent;
        if (test_random_chance(random, program->transaction_percent))
            do_transaction(&worker);
        else
            calls_of_workers[call].run(&worker);
    }
    atomic_fetch_add_explicit(&program->calls, calls, memory_order_relaxed);
    if (worker.cursor != NULL)
        finish_cursor(&worker);
    if (worker.snapshot != NULL)
        finish_snapshot(&worker);
    if (worker.transaction != NULL)
        finish_transaction(&worker);
    petal_filter_free(worker.filter);
    petal_receipt_free(worker.receipt);
    petal_batch_free(worker.batch);
    petal_result_free(worker.results[0]);
    petal_result_free(worker.results[1]);
}

/* ---- the keeper ---- */

static void
publish_b(struct program *program, petal_table *table)
{
    struct program_handles *handles;

    if (program->handle_count == sizeof program->handles / sizeof program->handles[0])
        program->fail("more tables than handles");
    handles = &program->handles[program->handle_count++];
    *handles = (struct program_handles){table, petal_table_family_at(table, 0)};
    atomic_store_explicit(&program->b, handles, memory_order_release);
}

static bool
has_handles_left(const struct program *program)
{
    return program->handle_count + 2 < sizeof program->handles / sizeof program->handles[0];
}

static void
truncate_b(struct program *program)
{
    struct history_call *call;
    petal_table *table;
    petal_error error;

    if (!has_handles_left(program))
        return;
    call = history_begin(&program->history, PROGRAM_KEEPER, "truncate");
    must(program, petal_table_truncate(handles_of_b(program)->table, &table, &error), &error,
         "petal_table_truncate");
    history_end(call);
    history_add(call, HISTORY_SET, B0_VALUE, 0);
    history_add(call, HISTORY_SET, B1_NUMBER, 0);
    publish_b(program, table);
}

static void
save_b(struct program *program)
{
    struct history_call *call;
    petal_error error;

    if (program->saved)
        must(program, petal_table_snapshot_delete(program->db, slice_from_text("saved"), &error),
             &error, "petal_table_snapshot_delete");
    call = history_begin(&program->history, PROGRAM_KEEPER, "save");
    must(program,
         petal_table_snapshot_create(handles_of_b(program)->table, slice_from_text("saved"), NULL,
                                     &error),
         &error, "petal_table_snapshot_create");
    history_end(call);
    history_add(call, HISTORY_COPY, SAVED_VALUE, B0_VALUE);
    history_add(call, HISTORY_COPY, SAVED_NUMBER, B1_NUMBER);
    program->saved = true;
}

static void
restore_b(struct program *program)
{
    struct history_call *call;
    petal_table *table;
    petal_error error;

    if (!program->saved || !has_handles_left(program))
        return;
    call = history_begin(&program->history, PROGRAM_KEEPER, "restore");
    must(program,
         petal_table_snapshot_restore(program->db, slice_from_text("saved"), &table, &error),
         &error, "petal_table_snapshot_restore");
    history_end(call);
    history_add(call, HISTORY_COPY, B0_VALUE, SAVED_VALUE);
    history_add(call, HISTORY_COPY, B1_NUMBER, SAVED_NUMBER);
    publish_b(program, table);
}

/* Rows of a table that is as B. */
static void
read_as_b(struct program *program, petal_db *db, petal_table *table, struct reading *reading)
{
    petal_result *result;
    petal_error error;

    must(program, petal_result_new(db, &result, &error), &error, "result");
    for (unsigned row = 0; row < 2; row++) {
        must(program, petal_get(table, row_name(row), NULL, result, &error), &error, "petal_get");
        note_result(program, reading, result);
    }
    petal_result_free(result);
}

static void
clone_b(struct program *program)
{
    struct reading reading = {0};
    struct history_call *call;
    petal_table *table;
    petal_error error;
    char name[16];

    if (!program->saved)
        return;
    snprintf(name, sizeof name, "k%u", program->turn++);
    call = history_begin(&program->history, PROGRAM_KEEPER, "clone");
    must(program,
         petal_table_snapshot_clone(program->db, slice_from_text("saved"), slice_from_text(name),
                                    &table, &error),
         &error, "petal_table_snapshot_clone");
    read_as_b(program, program->db, table, &reading);
    history_end(call);
    history_add(call, HISTORY_IS, SAVED_VALUE, reading.values[B0_VALUE]);
    history_add(call, HISTORY_IS, SAVED_NUMBER, reading.values[B1_NUMBER]);
    must(program, petal_table_drop(table, &error), &error, "petal_table_drop");
}

static void
alter_a(struct program *program, struct test_random *random)
{
    petal_family_options families[2] = {{.name = slice_from_text("f")},
                                        {.name = slice_from_text("g")}};
    petal_table_options options = {.families = families, .family_count = 2};
    petal_error error;

    for (unsigned i = 0; i < 2; i++) {
        families[i].bloom = (enum petal_bloom_type)test_random_below(random, 5);
        families[i].block_bytes = 1024u << test_random_below(random, 4);
        families[i].versions = 1 + (uint32_t)test_random_below(random, 3);
        families[i].compression = (enum petal_compression)test_random_below(random, 3);
        families[i].in_memory = test_random_chance(random, 20);
    }
    must(program, petal_table_alter(program->a, &options, &error), &error, "petal_table_alter");
}

static void
make_and_drop(struct program *program, struct test_random *random)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {.families = &family, .family_count = 1};
    petal_table *table;
    petal_error error;
    char name[16];

    snprintf(name, sizeof name, "c%u", program->tables++);
    options.name = slice_from_text(name);
    must(program, petal_table_create(program->db, &options, &table, &error), &error,
         "petal_table_create");
    must(program,
         petal_put(petal_table_family_at(table, 0), row_name(0), slice_from_text("v"), PETAL_LATEST,
                   slice_from_text("x"), NULL, &error),
         &error, "petal_put");
    if (test_random_chance(random, 50))
        must(program, petal_flush(program->db, table, &error), &error, "petal_flush");
    must(program, petal_table_drop(table, &error), &error, "petal_table_drop");
}

struct neighbours {
    uint32_t ids[2];
    size_t wanted, count;
};

static bool
note_region(void *argument, const petal_region_info *info)
{
    struct neighbours *neighbours = argument;

    neighbours->ids[0] = neighbours->ids[1];
    neighbours->ids[1] = info->id;
    return ++neighbours->count < neighbours->wanted;
}

/* Before a row that a region may begin with already, or any two that are neighbours. */
static void
split_or_merge(struct program *program, petal_table *table, struct test_random *random)
{
    static const char *const rows[] = {"r", "r0", "r0m", "r1", "r2"};
    struct neighbours neighbours = {.wanted = 2 + (size_t)test_random_below(random, 4)};
    petal_error error;
    enum petal_status status;

    if (test_random_chance(random, 50)) {
        petal_slice row = slice_from_text(rows[test_random_below(random, 5)]);

        status = petal_table_split(table, row, 0, &error);
        if (status != PETAL_INVALID)
            (void)done_unless_gone(program, status, &error, "petal_table_split");
        return;
    }
    status = petal_table_regions(table, note_region, &neighbours, &error);
    if (!done_unless_gone(program, status, &error, "petal_table_regions") || neighbours.count < 2)
        return;
    status = petal_table_merge(table, neighbours.ids[0], neighbours.ids[1], &error);
    (void)done_unless_gone(program, status, &error, "petal_table_merge");
}

/* A checkpoint is opened and has one moment of everything. */
static void
take_checkpoint(struct program *program)
{
    struct history_call *call;
    struct reading reading = {0};
    petal_options options = {.env = &program->env, .no_compaction = true};
    petal_table *a, *b;
    petal_error error;
    petal_db *db;
    char path[256];

    snprintf(path, sizeof path, "%s%u", program->copy, program->turn++);
    call = history_begin(&program->history, PROGRAM_KEEPER, "checkpoint");
    must(program, petal_checkpoint(program->db, path, &error), &error, "petal_checkpoint");
    history_end(call);
    must(program, petal_open(path, &options, &db, &error), &error, "petal_open of a checkpoint");
    must(program, petal_table_open(db, slice_from_text("a"), &a, &error), &error, "table a");
    must(program, petal_table_open(db, slice_from_text("b"), &b, &error), &error, "table b");
    read_as_b(program, db, a, &reading);
    read_as_b(program, db, b, &reading);
    must(program, petal_close(db, &error), &error, "petal_close of a checkpoint");
    answer(call, &reading, A0_VALUE, READ_SLOTS);
    if (program->removes_copies)
        test_directory_free(test_strdup(path));
}

static bool
count_file(void *argument, const petal_file_info *file)
{
    *(uint64_t *)argument += file->cells;
    return true;
}

static bool
visit_table(void *argument, petal_table *table)
{
    *(uint64_t *)argument += petal_table_name(table).size;
    return true;
}

static void
look_around(struct program *program, struct test_random *random)
{
    petal_table_options table_options = PETAL_DEFAULTS;
    petal_stats stats;
    petal_error error;
    uint64_t sum = 0;

    switch (test_random_below(random, 6)) {
    case 0:
        petal_stats_get(program->db, &stats);
        petal_table_describe(program->a, &table_options);
        break;
    case 1:
        must(program, petal_table_verify(program->a, &error), &error, "petal_table_verify");
        break;
    case 2:
        must(program, petal_cache_clear(program->db, NULL, &sum, &error), &error,
             "petal_cache_clear");
        break;
    case 3:
        must(program, petal_table_files(program->a, count_file, &sum, &error), &error,
             "petal_table_files");
        break;
    case 4:
        must(program, petal_table_list(program->db, visit_table, &sum, &error), &error,
             "petal_table_list");
        must(program, petal_family_check(program->f, &error), &error, "petal_family_check");
        break;
    default:
        (void)petal_table_compaction_state(program->a);
        (void)petal_table_memtable_bytes(program->a);
        must(program, petal_wait_idle(program->db, &error), &error, "petal_wait_idle");
    }
}

void
program_keep(struct program *program, struct test_random *random, unsigned calls)
{
    for (unsigned i = 0; i < calls; i++) {
        unsigned die = (unsigned)test_random_below(random, PERCENT_OF_ALL);

        if (die < 25)
            truncate_b(program);
        else if (die < 60)
            save_b(program);
        else if (die < 85)
            restore_b(program);
        else if (die < 96)
            clone_b(program);
        else
            take_checkpoint(program);
    }
    atomic_fetch_add_explicit(&program->calls, calls, memory_order_relaxed);
}

void
program_tend(struct program *program, struct test_random *random)
{
    unsigned die = (unsigned)test_random_below(random, PERCENT_OF_ALL);
    petal_error error;

    if (die < 12) {
        split_or_merge(program, program->a, random);
    } else if (die < 17) {
        split_or_merge(program, handles_of_b(program)->table, random);
    } else if (die < 40) {
        must(program,
             petal_flush(program->db, test_random_chance(random, 50) ? NULL : program->a, &error),
             &error, "petal_flush");
    } else if (die < 55) {
        must(program,
             petal_compact(program->a, test_random_chance(random, 50) ? NULL : program->f, &error),
             &error, "petal_compact");
    } else if (die < 60) {
        (void)done_unless_gone(program, petal_compact(handles_of_b(program)->table, NULL, &error),
                               &error, "petal_compact");
    } else if (die < 70) {
        alter_a(program, random);
    } else if (die < 76) {
        make_and_drop(program, random);
    } else {
        look_around(program, random);
    }
    atomic_fetch_add_explicit(&program->calls, 1, memory_order_relaxed);
}

/* ---- opening and closing ---- */

static int64_t
clock_ms(void *context)
{
    return atomic_fetch_add_explicit((_Atomic(int64_t) *)context, 1, memory_order_relaxed);
}

void
program_init(struct program *program, const petal_vfs *vfs, const petal_allocator *allocator,
             char *directory, char *copy, void (*fail)(const char *what))
{
    memset(program, 0, sizeof *program);
    program->directory = directory;
    program->copy = copy;
    program->fail = fail;
    atomic_init(&program->clock, 1000000);
    program->env = (petal_env){.size = sizeof(petal_env),
                               .vfs = vfs,
                               .allocator = allocator,
                               .clock_ms = clock_ms,
                               .clock_context = &program->clock};
}

static void
make_tables(struct program *program)
{
    petal_family_options of_a[2] = {{.name = slice_from_text("f"), .block_bytes = 1024},
                                    {.name = slice_from_text("g"), .versions = 3}};
    petal_family_options of_b = {.name = slice_from_text("h")};
    petal_table_options a = {.name = slice_from_text("a"), .families = of_a, .family_count = 2};
    petal_table_options b = {.name = slice_from_text("b"), .families = &of_b, .family_count = 1};
    petal_table *table;
    petal_error error;
    char row[8];

    must(program, petal_table_create(program->db, &a, &program->a, &error), &error, "table a");
    must(program, petal_table_create(program->db, &b, &table, &error), &error, "table b");
    for (unsigned i = 0; i < NOISE_ROWS; i++) {
        snprintf(row, sizeof row, "r0x%u", i);
        must(program,
             petal_put(petal_table_family_at(program->a, 0), slice_from_text(row),
                       slice_from_text("v"), PETAL_LATEST, slice_from_text("noise"), NULL, &error),
             &error, "petal_put");
    }
}

void
program_open(struct program *program, struct test_random *random)
{
    static const size_t caches[] = {65536, PETAL_NO_CACHE, 1 << 20};
    petal_options options = {.create = true,
                             .env = &program->env,
                             .memtable_bytes = 65536,
                             .cache_bytes = caches[test_random_below(random, 3)],
                             .open_files = 8,
                             .no_compaction = test_random_chance(random, 30),
                             .no_log_mapping = test_random_chance(random, 30),
                             .map_files = test_random_chance(random, 30)};
    petal_table *b;
    petal_error error;

    if (test_random_chance(random, 30))
        options.log_sync_interval_ms = PETAL_NEVER;
    must(program, petal_open(program->directory, &options, &program->db, &error), &error,
         "petal_open");
    if (petal_table_open(program->db, slice_from_text("a"), &program->a, &error) != PETAL_OK)
        make_tables(program);
    must(program, petal_table_open(program->db, slice_from_text("b"), &b, &error), &error,
         "table b");
    program->f = petal_table_family_at(program->a, 0);
    program->g = petal_table_family_at(program->a, 1);
    program->handle_count = 0;
    publish_b(program, b);
}

void
program_close(struct program *program)
{
    petal_error error;

    must(program, petal_close(program->db, &error), &error, "petal_close");
    program->db = NULL;
}

/* ---- a history ---- */

static void
read_all(struct program *program, struct reading *reading)
{
    read_as_b(program, program->db, program->a, reading);
    read_as_b(program, program->db, handles_of_b(program)->table, reading);
}

/* Texts stay short. */
static void
shorten_text(struct program *program, unsigned row)
{
    petal_result *result;
    petal_column column = {program->g, slice_from_text("t"), false};
    petal_read_options options = {.columns = &column, .column_count = 1};
    petal_error error;

    must(program, petal_result_new(program->db, &result, &error), &error, "result");
    must(program, petal_get(program->a, row_name(row), &options, result, &error), &error,
         "petal_get");
    if (petal_result_count(result) > 0 && petal_result_cell(result, 0)->value.size > MOST_TEXT)
        must(program,
             petal_delete(program->g, row_name(row), slice_from_text(""), PETAL_LATEST,
                          PETAL_DELETE_FAMILY, NULL, &error),
             &error, "petal_delete");
    petal_result_free(result);
}

void
program_begin(struct program *program)
{
    struct history *history = &program->history;
    struct reading reading = {0};
    uint64_t saved[2] = {history->before[SAVED_VALUE], history->before[SAVED_NUMBER]};

    shorten_text(program, 0);
    shorten_text(program, 1);
    history->threads = PROGRAM_THREADS;
    memset(history->counts, 0, sizeof history->counts);
    read_all(program, &reading);
    memcpy(history->before, reading.values, sizeof reading.values);
    history->before[SAVED_VALUE] = saved[0];
    history->before[SAVED_NUMBER] = saved[1];
}

/* What the snapshot of B holds after the history: of the keeper's last one a clone would tell; so
 * it goes, and the next history begins without. */
static void
forget_saved(struct program *program)
{
    petal_error error;

    if (!program->saved)
        return;
    must(program, petal_table_snapshot_delete(program->db, slice_from_text("saved"), &error),
         &error, "petal_table_snapshot_delete");
    program->saved = false;
}

bool
program_end(struct program *program)
{
    struct history *history = &program->history;
    struct history_call *call = history_begin(history, PROGRAM_THREADS - 1, "end");
    struct reading reading = {0};

    read_all(program, &reading);
    history_end(call);
    answer(call, &reading, A0_VALUE, READ_SLOTS);
    forget_saved(program);
    if (history_is_linearizable(history))
        return true;
    history_print_least(history, stderr);
    return false;
}
