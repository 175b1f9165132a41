/* intake.c -- see tools/shell/files/intake.h. */
#include "tools/shell/files/intake.h"

#include "tools/shell/schema/namespace.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/near.h"
#include "tools/shell/session/opening.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GREATEST_THREADS = 64, PIPE_BYTES = 1 << 16 };

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
parse_count(uint64_t *number, const char *word)
{
    char *end;

    errno = 0;
    *number = strtoull(word, &end, 10);
    return *word >= '0' && *word <= '9' && *end == '\0' && errno == 0;
}

/* What options there are, and what a value must be; NULL: they have none. */
static const struct {
    const char *name, *wants;
} options[] = {{"--format", "csv, tsv, jsonl or hbase"},
               {"--row", "a column, or several with commas"},
               {"--row-separator", "a text"},
               {"--row-number", NULL},
               {"--family", "a family"},
               {"--only-fields", "columns with commas"},
               {"--skip-fields", "columns with commas"},
               {"--part", "I/N, part I of N parts, such as 1/4"},
               {"--on-error", "skip or stop"},
               {"--skip-bad", NULL},
               {"--max-errors", "a number"},
               {"--create", NULL},
               {"--threads", "a number from 0 to 64"},
               {"--flush-every", "a number of records"}};

/* An option as whoever gave it wrote it: those of the command are keys. */
static void
add_option(struct text *text, const struct intake *intake, const char *option)
{
    if (!intake->by_command) {
        text_add_string(text, option);
        return;
    }
    for (option += strlen("--"); *option != '\0'; option++) {
        char letter = *option == '-' ? '_' : (char)toupper((unsigned char)*option);

        text_add(text, &letter, 1);
    }
}

/* Fail with what is wrong with an option, or with its value (NULL: there is none). */
static enum shell_status
fail_option(const struct intake *intake, const char *option, const char *value)
{
    const char *nearest = NULL, *wants = NULL;
    struct text text = {0};
    enum shell_status status;
    unsigned least = 0;
    bool known = false;

    for (size_t i = 0; i < COUNT_OF(options); i++) {
        if (strcmp(option, options[i].name) == 0) {
            known = true;
            wants = options[i].wants;
        }
        near_consider(slice_of_string(option), options[i].name, &nearest, &least);
    }
    if (known) {
        add_option(&text, intake, option);
        text_add_format(&text, intake->by_command ? " must be %s" : " must be followed by %s",
                        wants != NULL ? wants : "no value");
        if (value != NULL)
            text_add_format(&text, intake->by_command ? ", not %.200s" : ", not by %.200s", value);
    } else {
        text_add_format(&text, "there is no option %.200s", option);
        if (nearest != NULL)
            text_add_format(&text, "; did you mean %s?", nearest);
        text_add_string(&text, nearest != NULL ? "  The options are " : ".  The options are ");
        for (size_t i = 0; i < COUNT_OF(options); i++)
            text_add_format(&text, "%s%s", i > 0 ? ", " : "", options[i].name);
        text_add_string(&text, ": kv-shell --help says what they mean");
    }
    status = session_fail(intake->session, SHELL_USAGE, "%s", text_string(&text));
    text_free(&text);
    return status;
}

/* Take an option that has no value; false if it is none. */
static bool
parse_flag(struct intake *intake, const char *option)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--skip-bad", &intake->skip_bad},
                 {"--row-number", &intake->number_rows},
                 {"--create", &intake->create}};

    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        if (strcmp(option, flags[i].name) == 0)
            return *flags[i].flag = true;
    }
    return false;
}

/* Take one option with its value; false if there is no such option or the value is wrong. */
static bool
parse_option(struct intake *intake, const char *option, const char *value)
{
    if (strcmp(option, "--format") == 0)
        return intake->format_given = file_format_of_word(value, &intake->format);
    if (strcmp(option, "--part") == 0) {
        char behind;

        return sscanf(value, "%" SCNu64 "/%" SCNu64 "%c", &intake->part, &intake->parts, &behind) ==
                   2 &&
               intake->part >= 1 && intake->part <= intake->parts;
    }
    if (strcmp(option, "--flush-every") == 0)
        return parse_count(&intake->flush_every, value);
    if (strcmp(option, "--threads") == 0)
        return parse_count(&intake->threads, value) && intake->threads <= GREATEST_THREADS;
    if (strcmp(option, "--max-errors") == 0) {
        intake->skip_bad = true;
        return parse_count(&intake->most_bad, value);
    }
    if (strcmp(option, "--on-error") == 0) {
        intake->skip_bad = strcmp(value, "skip") == 0;
        return intake->skip_bad || strcmp(value, "stop") == 0;
    }
    if (strcmp(option, "--row") == 0)
        intake->row = value;
    else if (strcmp(option, "--row-separator") == 0)
        intake->row_separator = value;
    else if (strcmp(option, "--family") == 0)
        intake->family = value;
    else if (strcmp(option, "--only-fields") == 0)
        intake->only_fields = value;
    else if (strcmp(option, "--skip-fields") == 0)
        intake->skip_fields = value;
    else
        return false;
    return true;
}

enum shell_status
intake_parse(struct intake *intake, struct session *session, int argc, char **argv)
{
    *intake = (struct intake){.session = session,
                              .most_bad = UINT64_MAX,
                              .threads = 1,
                              .row_separator = "|",
                              .by_command = intake->by_command};
    for (int i = 0; i < argc; i++) {
        if (parse_flag(intake, argv[i])) {
            continue;
        } else if (argv[i][0] == '-' && argv[i][1] == '-') {
            if (i + 1 == argc || !parse_option(intake, argv[i], argv[i + 1]))
                return fail_option(intake, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
            i++;
        } else if (intake->table_name == NULL) {
            intake->table_name = argv[i];
        } else if (intake->file_name == NULL) {
            intake->file_name = argv[i];
        } else {
            return session_fail(session, SHELL_USAGE, "One file at a time, and not %s as well",
                                argv[i]);
        }
    }
    if (!intake->skip_bad)
        intake->most_bad = 0;
    if (intake->file_name == NULL)
        return session_fail(session, SHELL_USAGE,
                            "Say the table and the file, or - for standard input");
    if (intake->row != NULL && intake->number_rows)
        return session_fail(session, SHELL_USAGE,
                            "The row key is a column or a number, not both: --row, --row-number");
    if (!intake->format_given)
        (void)file_format_of_name(intake->file_name, &intake->format);
    return SHELL_FINE;
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
        return namespace_check_table(session, intake->name);
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
