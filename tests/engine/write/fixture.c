/* fixture.c -- see tests/engine/write/fixture.h. */
#include "tests/engine/write/fixture.h"

#include "base/coding.h"
#include "tests/support/test.h"

#include <inttypes.h>

void
write_fixture_attach(struct write_fixture *w)
{
    MUST(petal_table_open(w->base.db, text("t"), &w->table, WHY));
    MUST(petal_table_family(w->table, text("f"), &w->f, WHY));
    MUST(petal_table_family(w->table, text("g"), &w->g, WHY));
    MUST(petal_result_new(w->base.db, &w->read, WHY));
    MUST(petal_result_new(w->base.db, &w->given, WHY));
    MUST(petal_batch_new(w->base.db, &w->batch, WHY));
    w->options = (petal_write_options){.result = w->given};
}

void
write_fixture_detach(struct write_fixture *w)
{
    petal_result_free(w->read);
    petal_result_free(w->given);
    petal_batch_free(w->batch);
}

void
write_fixture_init(struct write_fixture *w)
{
    petal_family_options families[2] = {{.name = text("f"), .versions = 3},
                                        {.name = text("g"), .versions = 3}};
    petal_table_options options = {.name = text("t"), .families = families, .family_count = 2};

    fixture_init(&w->base, 5);
    fixture_must_open(&w->base);
    MUST(petal_table_create(w->base.db, &options, &w->table, WHY));
    write_fixture_attach(w);
}

void
write_fixture_fini(struct write_fixture *w)
{
    write_fixture_detach(w);
    fixture_fini(&w->base);
}

/* ---- cells as text: "row/family:qualifier=value@timestamp", numbers as #n, a time to live as +n
 * ---- */

static void
describe_value(char *to, size_t size, petal_slice value)
{
    const uint8_t *bytes = slice_bytes(value);

    if (value.size == 8 && (bytes[0] < ' ' || bytes[0] > '~'))
        snprintf(to, size, "#%" PRId64, (int64_t)get_be64(bytes));
    else
        snprintf(to, size, "%.*s", (int)value.size, value.size > 0 ? (const char *)bytes : "");
}

const char *
write_fixture_describe(const petal_result *result)
{
    static char all[4096];
    size_t length = 0;

    all[0] = '\0';
    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);
        char value[64], ttl[32] = "";

        describe_value(value, sizeof value, cell->value);
        if (cell->has_ttl)
            snprintf(ttl, sizeof ttl, "+%" PRId64, cell->ttl_ms);
        length += (size_t)snprintf(
            all + length, sizeof all - length, "%s%.*s/%.*s:%.*s=%s@%" PRId64 "%s",
            i > 0 ? " " : "", (int)cell->row.size, (const char *)cell->row.data,
            (int)cell->family.size, (const char *)cell->family.data, (int)cell->qualifier.size,
            (const char *)cell->qualifier.data, value, cell->timestamp, ttl);
    }
    return all;
}

void
write_fixture_expect_row(struct write_fixture *w, const char *row, const char *cells)
{
    petal_read_options options = {.versions = PETAL_ALL_VERSIONS};

    MUST(petal_get(w->table, text(row), &options, w->read, WHY));
    assert_string_equal(write_fixture_describe(w->read), cells);
}

void
write_fixture_expect_given(struct write_fixture *w, const char *cells)
{
    assert_string_equal(write_fixture_describe(w->given), cells);
}

/* ---- calls that must succeed ---- */

void
write_fixture_put(petal_family *family, const char *row, const char *qualifier, int64_t timestamp,
                  const char *value)
{
    MUST(petal_put(family, text(row), text(qualifier), timestamp, text(value), NULL, WHY));
}

int64_t
write_fixture_increment(struct write_fixture *w, const char *row, const char *qualifier,
                        int64_t amount)
{
    int64_t sum = 77;

    MUST(petal_increment(w->f, text(row), text(qualifier), amount, &w->options, &sum, WHY));
    return sum;
}

void
write_fixture_begin(struct write_fixture *w, const petal_mutation_options *options)
{
    MUST(petal_batch_mutation(w->batch, options, WHY));
}

void
write_fixture_batch_put(struct write_fixture *w, petal_family *family, const char *row,
                        const char *qualifier, int64_t timestamp, const char *value)
{
    MUST(
        petal_batch_put(w->batch, family, text(row), text(qualifier), timestamp, text(value), WHY));
}

void
write_fixture_batch_append(struct write_fixture *w, petal_family *family, const char *row,
                           const char *qualifier, const char *value)
{
    MUST(petal_batch_append(w->batch, family, text(row), text(qualifier), text(value), WHY));
}

void
write_fixture_batch_increment(struct write_fixture *w, petal_family *family, const char *row,
                              const char *qualifier, int64_t amount)
{
    MUST(petal_batch_increment(w->batch, family, text(row), text(qualifier), amount, WHY));
}

void
write_fixture_write_batch(struct write_fixture *w)
{
    MUST(petal_write(w->base.db, w->batch, &w->options, WHY));
    petal_batch_clear(w->batch);
}
