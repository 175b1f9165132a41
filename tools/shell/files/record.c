/* record.c -- what the formats have in common.  See tools/shell/files/record.h. */
#include "tools/shell/files/record.h"

#include "tools/shell/text/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *
shell_record_format_of_name(const char *file_name)
{
    static const char *const endings[][2] = {{".csv", "csv"},
                                             {".tsv", "tsv"},
                                             {".jsonl", "jsonl"},
                                             {".ndjson", "jsonl"},
                                             {".hbase", "hbase"}};
    size_t size = strlen(file_name);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i][0]);

        if (size > ending && strcasecmp(file_name + size - ending, endings[i][0]) == 0)
            return endings[i][1];
    }
    return NULL;
}

void
shell_record_reader_init(struct record_reader *reader, enum record_format format, FILE *file,
                         const char *row_field)
{
    *reader = (struct record_reader){.format = format, .file = file, .row_field = row_field};
}

void
shell_record_reader_free(struct record_reader *reader)
{
    for (size_t i = 0; i < reader->column_count; i++)
        text_free(&reader->columns[i].name);
    free(reader->columns);
    free(reader->slots);
    free(reader->fields);
    free(reader->line_bytes);
    text_free(&reader->bytes);
    *reader = (struct record_reader){0};
}

enum record_outcome
shell_record_fail(struct record_reader *reader, enum record_outcome outcome, uint64_t line,
                  const char *format, ...)
{
    int size = snprintf(reader->message, sizeof(reader->message), "line %" PRIu64 ": ", line);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reader->message + size, sizeof(reader->message) - (size_t)size, format,
                    arguments);
    va_end(arguments);
    return outcome;
}

bool
shell_record_read_line(struct record_reader *reader)
{
    ssize_t size;

    if (reader->line_pending) {
        reader->line_pending = false;
        return true;
    }
    size = getline(&reader->line_bytes, &reader->line_capacity, reader->file);
    if (size < 0) {
        reader->read_error = errno;
        return false;
    }
    reader->line++;
    reader->bytes_read += (uint64_t)size;
    if (size > 0 && reader->line_bytes[size - 1] == '\n')
        size--;
    reader->line_size = (size_t)size;
    return true;
}

void
shell_record_begin(struct record_reader *reader)
{
    text_clear(&reader->bytes);
    reader->field_count = 0;
    reader->record_line = 0;
}

/* Control files do not tell capitals from small letters in field names. */
static bool
is_column(const struct record_reader *reader, size_t column, petal_slice name)
{
    petal_slice known = text_slice(&reader->columns[column].name);

    if (reader->format != RECORD_DEB822)
        return slices_equal(known, name);
    return known.size == name.size && strncasecmp(known.data, name.data, name.size) == 0;
}

/* FNV-1a; names that are one to is_column have one hash. */
static size_t
hash_name(const struct record_reader *reader, petal_slice name)
{
    const uint8_t *byte = name.data;
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < name.size; i++) {
        bool capital = byte[i] >= 'A' && byte[i] <= 'Z' && reader->format == RECORD_DEB822;

        hash = (hash ^ (capital ? byte[i] | 0x20u : byte[i])) * 0x100000001b3u;
    }
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of the column of that name, or the empty one where it belongs. */
static size_t *
find_slot(const struct record_reader *reader, petal_slice name)
{
    size_t at = hash_name(reader, name) & (reader->slot_count - 1);

    while (reader->slots[at] != 0 && !is_column(reader, reader->slots[at] - 1, name))
        at = (at + 1) & (reader->slot_count - 1);
    return &reader->slots[at];
}

static void
grow_slots(struct record_reader *reader)
{
    reader->slot_count = reader->slot_count == 0 ? 64 : 2 * reader->slot_count;
    free(reader->slots);
    reader->slots = memory_allocate(reader->slot_count * sizeof(*reader->slots));
    memset(reader->slots, 0, reader->slot_count * sizeof(*reader->slots));
    for (size_t i = 0; i < reader->column_count; i++)
        *find_slot(reader, text_slice(&reader->columns[i].name)) = i + 1;
}

size_t
shell_record_column(struct record_reader *reader, petal_slice name)
{
    struct record_column *column;
    size_t *slot;

    if (2 * (reader->column_count + 1) >= reader->slot_count)
        grow_slots(reader);
    slot = find_slot(reader, name);
    if (*slot != 0)
        return *slot - 1;
    if (reader->column_count == reader->column_capacity) {
        reader->column_capacity = 2 * reader->column_capacity + 32;
        reader->columns =
            memory_grow(reader->columns, reader->column_capacity * sizeof(*reader->columns));
    }
    column = &reader->columns[reader->column_count];
    *column = (struct record_column){.family = NULL};
    text_add_slice(&column->name, name);
    *slot = ++reader->column_count;
    return *slot - 1;
}

bool
shell_record_has_field(const struct record_reader *reader, size_t column)
{
    size_t field = reader->columns[column].field;

    return field < reader->field_count && reader->fields[field].column == column;
}

struct record_field *
shell_record_add_field(struct record_reader *reader, size_t column)
{
    struct record_field *field;

    if (reader->field_count == reader->field_capacity) {
        reader->field_capacity = 2 * reader->field_capacity + 32;
        reader->fields =
            memory_grow(reader->fields, reader->field_capacity * sizeof(*reader->fields));
    }
    reader->columns[column].field = reader->field_count;
    field = &reader->fields[reader->field_count++];
    *field = (struct record_field){.column = column, .begin = reader->bytes.size};
    return field;
}

/* The record is whole: check it against the store's limits. */
enum record_outcome
shell_record_finish(struct record_reader *reader, petal_slice row)
{
    if (row.size == 0)
        return shell_record_fail(reader, RECORD_BAD, reader->record_line,
                                 "the row is empty or missing");
    if (row.size > PETAL_MAX_ROW_BYTES)
        return shell_record_fail(reader, RECORD_BAD, reader->record_line,
                                 "the row has %zu bytes, more than %d", row.size,
                                 PETAL_MAX_ROW_BYTES);
    for (size_t i = 0; i < reader->field_count; i++)
        if (reader->fields[i].value.size > PETAL_MAX_VALUE_BYTES)
            return shell_record_fail(reader, RECORD_BAD, reader->record_line,
                                     "the value of %.80s has %zu bytes, more than %u",
                                     text_string(&reader->columns[reader->fields[i].column].name),
                                     reader->fields[i].value.size, PETAL_MAX_VALUE_BYTES);
    reader->row = row;
    return RECORD_GOOD;
}

enum record_outcome
shell_record_next(struct record_reader *reader)
{
    enum record_outcome outcome = reader->format == RECORD_DEB822 ? shell_record_next_deb822(reader)
                                                                  : shell_record_next_table(reader);

    if (outcome == RECORD_END && ferror(reader->file))
        return shell_record_fail(reader, RECORD_FAILED, reader->line, "reading failed: %s",
                                 strerror(reader->read_error));
    return outcome;
}
