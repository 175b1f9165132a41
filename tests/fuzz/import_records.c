/*
 * import_records.c -- any bytes as a file of records to import, csv or tsv: refused with a reason,
 * or values that come back when they are written anew, each in quotes, and read again.
 *
 * Input: byte 0: csv, tsv.
 */
#include "tests/fuzz/target.h"
#include "tools/shell/files/record.h"

#include <stdio.h>

#define MOST_RECORDS 100

static void
put_quoted(FILE *file, petal_slice bytes)
{
    putc('"', file);
    for (size_t i = 0; i < bytes.size; i++) {
        if (slice_bytes(bytes)[i] == '"')
            putc('"', file);
        putc(slice_bytes(bytes)[i], file);
    }
    putc('"', file);
}

/* The record at hand as a csv file of its own: the names of all columns, then the values. */
static void
write_record(FILE *file, const struct record_reader *reader)
{
    struct text name = {0};

    put_quoted(file, slice_make("row", 3));
    for (size_t i = 0; i < reader->field_count; i++) {
        text_clear(&name);
        text_add_string(&name, "f:");
        text_add_slice(&name, text_slice(&reader->columns[reader->fields[i].column].name));
        putc(',', file);
        put_quoted(file, text_slice(&name));
    }
    text_free(&name);
    putc('\n', file);
    put_quoted(file, reader->row);
    for (size_t i = 0; i < reader->field_count; i++) {
        putc(',', file);
        put_quoted(file, reader->fields[i].value);
    }
    putc('\n', file);
}

static void
write_and_read(const struct record_reader *reader)
{
    struct record_reader again;
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&bytes, &size);

    fuzz_must(file != NULL);
    write_record(file, reader);
    fclose(file);
    file = fmemopen(bytes, size, "r");
    fuzz_must(file != NULL);
    shell_record_reader_init(&again, FILE_CSV, file);
    fuzz_must(shell_record_header(&again) == RECORD_GOOD);
    shell_record_set_row(&again, (size_t[]){0}, 1, slice_make("", 0));
    fuzz_must(shell_record_next(&again) == RECORD_GOOD);
    fuzz_must(slices_equal(again.row, reader->row) && again.field_count == reader->field_count);
    for (size_t i = 0; i < again.field_count; i++)
        fuzz_must(slices_equal(again.fields[i].value, reader->fields[i].value));
    fuzz_must(shell_record_next(&again) == RECORD_END);
    shell_record_reader_free(&again);
    fclose(file);
    free(bytes);
}

/* The first column, two of them, or numbers. */
static void
set_row(struct record_reader *reader, unsigned choice)
{
    size_t columns[] = {reader->column_count - 1, 0};
    size_t most = reader->column_count < 2 ? 1 : 2;

    shell_record_set_row(reader, columns + choice % 2,
                         choice % 3 == 0   ? 0
                         : choice % 2 == 0 ? most
                                           : 1,
                         slice_make("|", 1));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct record_reader reader;
    enum record_outcome outcome;
    unsigned records = 0;
    FILE *file;

    if (size < 2)
        return 0;
    file = fmemopen((void *)(uintptr_t)(bytes + 1), size - 1, "r");
    fuzz_must(file != NULL);
    shell_record_reader_init(&reader, bytes[0] % 2 == 0 ? FILE_CSV : FILE_TSV, file);
    outcome = shell_record_header(&reader);
    if (outcome == RECORD_GOOD)
        set_row(&reader, bytes[0] / 2u);
    else
        fuzz_must(outcome == RECORD_END || reader.message[0] != '\0');
    while ((outcome == RECORD_GOOD || outcome == RECORD_BAD) && ++records < MOST_RECORDS) {
        outcome = shell_record_next(&reader);
        if (outcome == RECORD_GOOD) {
            fuzz_touch(reader.row);
            for (size_t i = 0; i < reader.field_count; i++) {
                fuzz_must(reader.fields[i].column < reader.column_count);
                fuzz_touch(reader.fields[i].value);
            }
            if (records < 8 && reader.field_count > 0)
                write_and_read(&reader);
        } else if (outcome != RECORD_END) {
            fuzz_must(reader.message[0] != '\0');
        }
    }
    shell_record_reader_free(&reader);
    fclose(file);
    return 0;
}
