/* intake.c -- see tools/shell/files/intake.h. */
#include "tools/shell/files/intake.h"

#include "tools/command/option.h"
#include "tools/shell/schema/namespace.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/opening.h"
#include "tools/shell/session/words_of_values.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTIONS = 14, GREATEST_THREADS = 64, PIPE_BYTES = 1 << 16 };

const char intake_usage[] =
    "  --format csv|tsv|jsonl|hbase\n"
    "                            as FILE's name ends, else csv.  csv and tsv: a\n"
    "                            column for each family:qualifier, or what export\n"
    "                            writes; jsonl, hbase: the same\n"
    "  --row COLUMN[,COLUMN..]   csv, tsv: the row key is this column, or several\n"
    "                            joined.  Else it is the column called row, rowkey,\n"
    "                            row_key or HBASE_ROW_KEY, or the first one, if all\n"
    "                            others are family:qualifier\n"
    "  --row-separator TEXT      between the values of several columns (|)\n"
    "  --row-number              the row key is the number of the record, of 10\n"
    "                            digits\n"
    "  --family FAMILY           of columns that name none; else the table's only\n"
    "                            one\n"
    "  --only-fields A,B..       csv, tsv: leave all other columns out\n"
    "  --skip-fields A,B..       leave these columns out\n"
    "  --part I/N                csv, tsv: only part I of N: each field of a row\n"
    "                            falls into one part\n"
    "  --on-error skip|stop      pass over what cannot be read, telling its line, or\n"
    "                            stop there (stop)\n"
    "  --skip-bad                the same as --on-error skip\n"
    "  --max-errors N            pass over so many, and stop at the next\n";

static bool
list_has(const char *list, petal_slice word)
{
    while (list != NULL && *list != '\0') {
        size_t size = strcspn(list, ",");

        if (size == word.size && strncasecmp(list, word.data, size) == 0)
            return true;
        list += size + (list[size] == ',');
    }
    return false;
}

/* ---- Options --------------------------------------------------------------------------------- */

static bool
take_count(void *argument, char *value)
{
    char *end;

    errno = 0;
    *(uint64_t *)argument = strtoull(value, &end, 10);
    return *value >= '0' && *value <= '9' && *end == '\0' && errno == 0;
}

static bool
take_threads(void *argument, char *value)
{
    return take_count(argument, value) && *(uint64_t *)argument <= GREATEST_THREADS;
}

static bool
take_most_bad(void *argument, char *value)
{
    struct intake *intake = argument;

    intake->skip_bad = true;
    return take_count(&intake->most_bad, value);
}

static bool
take_on_error(void *argument, char *value)
{
    bool *skip = argument;

    *skip = strcmp(value, "skip") == 0;
    return *skip || strcmp(value, "stop") == 0;
}

static bool
take_format(void *argument, char *value)
{
    struct intake *intake = argument;

    return intake->format_given = file_format_of_word(value, &intake->format);
}

static bool
take_part(void *argument, char *value)
{
    struct intake *intake = argument;
    char behind;

    return sscanf(value, "%" SCNu64 "/%" SCNu64 "%c", &intake->part, &intake->parts, &behind) ==
               2 &&
           intake->part >= 1 && intake->part <= intake->parts;
}

static void
list_options(struct intake *intake, struct command_option options[OPTIONS])
{
    const struct command_option all[OPTIONS] = {
        {"--format", NULL, take_format, intake, "csv, tsv, jsonl or hbase"},
        {"--row", NULL, command_take_any_text, &intake->row, "a column, or several with commas"},
        {"--row-separator", NULL, command_take_any_text, &intake->row_separator, "a text"},
        {"--row-number", &intake->number_rows, NULL, NULL, NULL},
        {"--family", NULL, command_take_any_text, &intake->family, "a family"},
        {"--only-fields", NULL, command_take_any_text, &intake->only_fields, "columns with commas"},
        {"--skip-fields", NULL, command_take_any_text, &intake->skip_fields, "columns with commas"},
        {"--part", NULL, take_part, intake, "I/N, part I of N parts, such as 1/4"},
        {"--on-error", NULL, take_on_error, &intake->skip_bad, "skip or stop"},
        {"--skip-bad", &intake->skip_bad, NULL, NULL, NULL},
        {"--max-errors", NULL, take_most_bad, intake, "a number"},
        {"--create", &intake->create, NULL, NULL, NULL},
        {"--threads", NULL, take_threads, &intake->threads, "a number from 0 to 64"},
        {"--flush-every", NULL, take_count, &intake->flush_every, "a number of records"}};

    memcpy(options, all, sizeof(all));
}

static void
begin(struct intake *intake, struct session *session, struct command_option options[OPTIONS])
{
    *intake = (struct intake){
        .session = session, .most_bad = UINT64_MAX, .threads = 1, .row_separator = "|"};
    list_options(intake, options);
}

/* All options are taken. */
static enum shell_status
end(struct intake *intake)
{
    if (!intake->skip_bad)
        intake->most_bad = 0;
    if (intake->row != NULL && intake->number_rows)
        return session_fail(intake->session, SHELL_USAGE,
                            "The row key is a column or a number, not both: --row, --row-number");
    if (!intake->format_given)
        (void)file_format_of_name(intake->file_name, &intake->format);
    return SHELL_FINE;
}

enum shell_status
intake_parse(struct intake *intake, struct session *session, int argc, char **argv)
{
    struct command_option options[OPTIONS];
    struct text why = {0};

    begin(intake, session, options);
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] == '-') {
            if (!option_take(options, OPTIONS, argc, argv, &i, &why)) {
                (void)session_fail(session, SHELL_USAGE, "%s", text_string(&why));
                text_free(&why);
                return SHELL_USAGE;
            }
        } else if (intake->table_name == NULL) {
            intake->table_name = argv[i];
        } else if (intake->file_name == NULL) {
            intake->file_name = argv[i];
        } else {
            return session_fail(session, SHELL_USAGE, "One file at a time, and not %s as well",
                                argv[i]);
        }
    }
    text_free(&why);
    if (intake->file_name == NULL)
        return session_fail(session, SHELL_USAGE,
                            "Say the table and the file, or - for standard input");
    return end(intake);
}

/* The option that a key such as ROW_NUMBER is; NULL: none. */
static const struct command_option *
option_of_key(const struct command_option options[OPTIONS], const char *key)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const char *name = options[i].name + strlen("--");
        size_t at = 0;

        while (name[at] != '\0' && (name[at] == '-' ? '_' : toupper(name[at])) == key[at])
            at++;
        if (name[at] == key[at])
            return &options[i];
    }
    return NULL;
}

/* A value as an option's: a list has commas between its items. */
static char *
option_value(struct session *session, const struct value *value)
{
    struct text text = {0};
    char *string;

    if (value->kind != VALUE_ARRAY)
        return value_to_string(&session->arena, value);
    for (size_t i = 0; i < value->count; i++) {
        text_add_string(&text, i > 0 ? "," : "");
        text_add_slice(&text, value_to_bytes(&session->arena, &value->as.items[i]));
    }
    string = arena_copy(&session->arena, text_string(&text), text.size + 1);
    text_free(&text);
    return string;
}

static enum shell_status
take_key(struct session *session, const struct command_option options[OPTIONS],
         const struct value_pair *pair)
{
    const char *key = value_to_string(&session->arena, &pair->key);
    const struct command_option *option = option_of_key(options, key);
    enum shell_status status = SHELL_FINE;
    struct text why = {0};

    if (option == NULL)
        return session_fail(session, SHELL_USAGE, "import has no key %s", key);
    if (option->flag != NULL)
        *option->flag = value_read_boolean(session, &pair->value);
    else if (!option_take_value(option, key, option_value(session, &pair->value), &why))
        status = session_fail(session, SHELL_USAGE, "%s", text_string(&why));
    text_free(&why);
    return status;
}

enum shell_status
intake_parse_command(struct intake *intake, struct session *session, const struct value *arguments,
                     size_t count)
{
    struct command_option options[OPTIONS];
    enum shell_status status = SHELL_FINE;

    begin(intake, session, options);
    intake->by_command = true;
    intake->table_name = value_to_string(&session->arena, &arguments[0]);
    intake->file_name = value_to_string(&session->arena, &arguments[1]);
    for (size_t i = 0; count == 3 && i < arguments[2].count && status == SHELL_FINE; i++)
        status = take_key(session, options, &arguments[2].as.pairs[i]);
    return status == SHELL_FINE ? end(intake) : status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Wait for bytes of the file that the cookie is, but for a signal as well. */
static ssize_t
read_pipe(void *cookie, char *bytes, size_t size)
{
    int file = fileno(cookie);

    return interrupt_wait_input(file) ? read(file, bytes, size) : -1;
}

static int
close_pipe(void *cookie)
{
    return cookie != stdin ? fclose(cookie) : 0;
}

/* Pass over a byte order mark at the file's start, with the errno of a read that fails.  Bytes that
 * are none go back: the C library takes these few. */
static int
pass_byte_order_mark(FILE *file)
{
    int bytes[sizeof(BYTE_ORDER_MARK) - 1], count = 0;

    for (; count < (int)sizeof(BYTE_ORDER_MARK) - 1; count++) {
        bytes[count] = getc(file);
        if (bytes[count] == EOF && ferror(file))
            return errno;
        if (bytes[count] == EOF)
            break;
        if (bytes[count] != (unsigned char)BYTE_ORDER_MARK[count]) {
            (void)ungetc(bytes[count], file);
            break;
        }
    }
    while (count < (int)sizeof(BYTE_ORDER_MARK) - 1 && count-- > 0)
        (void)ungetc(bytes[count], file);
    return 0;
}

static enum shell_status
fail_without_database(const struct intake *intake)
{
    if (intake->by_command)
        return session_fail(intake->session, SHELL_NOT_FOUND,
                            "there is no database in %.900s: import with CREATE => true makes it, "
                            "and the table from the file",
                            intake->session->directory);
    return session_fail(intake->session, SHELL_NOT_FOUND,
                        "there is no database in %.900s: import %.256s %.900s --create makes it, "
                        "and the table from the file",
                        intake->session->directory, intake->table_name, intake->file_name);
}

/* Open the table; one that is not there, but shall be made, needs a namespace. */
static enum shell_status
open_table(struct intake *intake)
{
    struct session *session = intake->session;
    struct value value = value_string(slice_of_string(intake->table_name));
    enum shell_status status = session_table_name(session, &value, &intake->name);
    petal_error error;

    intake->table = NULL;
    if (status == SHELL_FINE && !intake->create) {
        status = session_want_database(session);
        if (status == SHELL_NOT_FOUND)
            return fail_without_database(intake);
    }
    if (status != SHELL_FINE)
        return status;
    if (session->db != NULL &&
        petal_table_open(session->db, intake->name, &intake->table, &error) != PETAL_NOT_FOUND)
        return session_table(session, intake->name, &intake->table);
    if (intake->create)
        return namespace_check_new_table(session, intake->name);
    return session_fail(session, SHELL_NOT_FOUND, "Unknown table %.*s!  %s makes it from the file",
                        SLICE(intake->name), intake->by_command ? "CREATE => true" : "--create");
}

enum shell_status
intake_open(struct intake *intake)
{
    struct stat facts;
    enum shell_status status;
    int error;

    status = open_table(intake);
    if (status != SHELL_FINE)
        return status;
    intake->file = strcmp(intake->file_name, "-") == 0 ? stdin : fopen(intake->file_name, "r");
    if (intake->file == NULL) {
        error = errno;

        return session_fail(intake->session, error == ENOENT ? SHELL_NOT_FOUND : SHELL_DATA,
                            "cannot open %s: %s", intake->file_name, strerror(error));
    }
    intake->file_bytes = 0;
    if (fstat(fileno(intake->file), &facts) == 0) {
        if (S_ISREG(facts.st_mode) && facts.st_size > 0)
            intake->file_bytes = (uint64_t)facts.st_size;
        /* A read of it may wait for someone: so as a stream of ours.  Of standard input commands
         * may be in memory already. */
        if (!S_ISREG(facts.st_mode) &&
            (intake->file != stdin || intake->session->running == NULL)) {
            FILE *stream = fopencookie(
                intake->file, "r", (cookie_io_functions_t){.read = read_pipe, .close = close_pipe});

            if (stream != NULL) {
                (void)setvbuf(stream, NULL, _IOFBF, PIPE_BYTES);
                intake->file = stream;
            }
        }
    }
    error = pass_byte_order_mark(intake->file);
    intake->progress = (struct progress){.what = NULL};
    shell_record_reader_init(&intake->reader, intake->format, intake->file);
    intake->reader.read_error = error;
    return SHELL_FINE;
}

void
intake_close(struct intake *intake)
{
    shell_record_reader_free(&intake->reader);
    if (intake->file != NULL && intake->file != stdin)
        (void)fclose(intake->file);
    intake->file = NULL;
}

bool
intake_is_cells(struct intake *intake, struct cell_parser *header)
{
    struct record_reader *reader = &intake->reader;

    header->format = reader->format;
    if (reader->format == FILE_JSON || reader->format == FILE_HBASE)
        return true;
    if (!shell_record_read_line(reader))
        return false;
    reader->line_pending =
        !cell_parser_header(header, (petal_slice){reader->line_bytes, reader->line_size});
    return !reader->line_pending;
}

void
intake_say_where(const struct intake *intake, struct text *text, uint64_t line, size_t place,
                 const char *what)
{
    text_clear(text);
    text_add_format(text, "%s:%" PRIu64 ":", intake->file_name, line);
    if (place > 0)
        text_add_format(text, " byte %zu:", place);
    text_add_format(text, " %s", what);
}

enum cell_outcome
intake_cell(const struct intake *intake, struct cell_parser *parser, petal_slice line,
            uint64_t number, petal_slice table, struct text *why)
{
    enum cell_outcome outcome = cell_parse(parser, line);
    const char *wrong;

    if (outcome == CELL_NONE)
        return CELL_NONE;
    if (outcome == CELL_BAD)
        wrong = parser->message;
    else if (parser->format == FILE_HBASE && table.size > 0 && !slices_equal(parser->table, table))
        wrong = "the commands before it are about another table";
    else
        wrong = cell_check(&parser->cell);
    if (wrong == NULL)
        return CELL_GOOD;
    intake_say_where(intake, why, number, outcome == CELL_BAD ? parser->place : 0, wrong);
    return CELL_BAD;
}

enum shell_status
intake_refuse_options_of_records(const struct intake *intake)
{
    if (intake->row == NULL && !intake->number_rows && intake->family == NULL &&
        intake->only_fields == NULL && intake->skip_fields == NULL && intake->parts == 0)
        return SHELL_FINE;
    return session_fail(intake->session, SHELL_USAGE,
                        "%s has a cell in each line, which names its row and its family: %s are "
                        "for records, which have a column for each field",
                        intake->file_name,
                        intake->by_command ? "ROW, ROW_NUMBER, FAMILY, ONLY_FIELDS and SKIP_FIELDS"
                                           : "--row, --row-number, --family, --only-fields, "
                                             "--skip-fields and --part");
}

bool
intake_wants_column(const struct intake *intake, petal_slice name)
{
    return !list_has(intake->skip_fields, name) &&
           (intake->only_fields == NULL || list_has(intake->only_fields, name));
}

enum shell_status
intake_fail(const struct intake *intake)
{
    return session_fail(intake->session, ferror(intake->file) ? SHELL_DATA : SHELL_USAGE, "%s:%s",
                        intake->file_name, intake->reader.message);
}

enum shell_status
intake_next(struct intake *intake, bool *more, uint64_t *bad)
{
    struct record_reader *reader = &intake->reader;
    enum shell_status status = SHELL_FINE;
    enum record_outcome outcome;

    while ((outcome = shell_record_next(reader)) == RECORD_BAD && *bad < intake->most_bad) {
        (*bad)++;
        if (intake->bad_told)
            continue;
        if (intake->complaints != NULL) {
            text_add_format(intake->complaints, "kv-shell: %s:%s\n", intake->file_name,
                            reader->message);
            continue;
        }
        progress_hide(&intake->progress);
        (void)fprintf(stderr, "kv-shell: %s:%s\n", intake->file_name, reader->message);
    }
    *more = outcome == RECORD_GOOD;
    intake->at_line = outcome == RECORD_BAD;
    if (outcome == RECORD_BAD || outcome == RECORD_FAILED)
        return intake_fail(intake);
    for (size_t i = 0; i < reader->field_count && *more && status == SHELL_FINE; i++) {
        struct record_column *column = &reader->columns[reader->fields[i].column];

        if (!column->resolved) {
            if (column->wanted)
                status = session_family(intake->session, intake->table, column->family_name,
                                        &column->family);
            column->resolved = status == SHELL_FINE;
        }
    }
    return status;
}

/* FNV-1a over the row's bytes, then a mix with the column's number. */
uint64_t
intake_hash(petal_slice row, uint64_t column)
{
    const uint8_t *byte = row.data;
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < row.size; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    hash ^= (column + 1) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

bool
intake_wants(const struct intake *intake, const struct record_field *field)
{
    const struct record_reader *reader = &intake->reader;

    if (!reader->columns[field->column].wanted)
        return false;
    if (intake->parts == 0)
        return true;
    return (intake_hash(reader->row, 0) % intake->parts + field->column) % intake->parts ==
           intake->part - 1;
}

void
intake_describe_table(struct text *text, const petal_table *table)
{
    size_t count = petal_table_family_count(table);

    text_add_string(text, "Created table ");
    text_add_slice(text, petal_table_name(table));
    text_add_string(text, count == 1 ? " with the family " : " with the families ");
    for (size_t i = 0; i < count; i++) {
        text_add_string(text, i > 0 ? ", " : "");
        text_add_binary(text, petal_family_name(petal_table_family_at(table, i)));
    }
}
