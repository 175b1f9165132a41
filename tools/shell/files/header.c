/* header.c -- see tools/shell/files/header.h. */
#include "tools/shell/files/header.h"

#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/near.h"
#include "tools/shell/session/opening.h"
#include "tools/shell/session/words_of_values.h"
#include "tools/shell/text/memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MOST_SHOWN = 40 };

static const char DEFAULT_FAMILY[] = "cf";

static petal_slice
column_name(const struct intake *intake, size_t column)
{
    return text_slice(&intake->reader.columns[column].name);
}

static bool
names_family(const struct intake *intake, size_t column)
{
    petal_slice name = column_name(intake, column);

    return name.size > 0 && memchr(name.data, ':', name.size) != NULL;
}

/* ---- The row --------------------------------------------------------------------------------- */

/* The columns that make the row; none: records are numbered. */
struct choice {
    size_t *columns; /* room for all */
    size_t count;
};

/* The column of that name, or of that number from 1; false if there is none. */
static bool
find_column(const struct intake *intake, petal_slice word, size_t *column)
{
    size_t count = intake->reader.column_count, number = 0;
    const char *digits = word.data;

    for (size_t i = 0; i < count; i++) {
        *column = i;
        if (slices_equal(column_name(intake, i), word))
            return true;
    }
    for (size_t i = 0; i < word.size && number <= count; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        number = number * 10 + (size_t)(digits[i] - '0');
    }
    *column = number - 1;
    return number >= 1 && number <= count;
}

static petal_slice
without_blanks(petal_slice word)
{
    const char *begin = word.data, *end = begin + word.size;

    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (petal_slice){begin, (size_t)(end - begin)};
}

/* The columns' names with commas between, or the first of them. */
static void
list_columns(struct text *text, const struct intake *intake)
{
    size_t count = intake->reader.column_count;

    for (size_t i = 0; i < count && i < MOST_SHOWN; i++) {
        text_add_string(text, i > 0 ? ", " : "");
        text_add_binary(text, column_name(intake, i));
    }
    if (count > MOST_SHOWN)
        text_add_string(text, ", ..");
}

/* Fail because there is no such column, with those that there are. */
static enum shell_status
fail_without_column(const struct intake *intake, petal_slice name, const char *asked_by)
{
    struct session *session = intake->session;
    petal_slice nearest = {NULL, 0};
    enum shell_status status;
    struct text columns = {0};
    unsigned least = 0;

    list_columns(&columns, intake);
    status =
        session_fail(session, SHELL_USAGE, "%s has no column %.*s %s.  Its columns are: %s",
                     intake->file_name, SLICE_UP_TO(200, name), asked_by, text_string(&columns));
    for (size_t i = 0; i < intake->reader.column_count; i++)
        near_consider_bytes(name, column_name(intake, i), &nearest, &least);
    near_suggest(session, nearest);
    text_free(&columns);
    return status;
}

static bool
add_to_row(struct choice *choice, size_t column)
{
    for (size_t i = 0; i < choice->count; i++)
        if (choice->columns[i] == column)
            return false;
    choice->columns[choice->count++] = column;
    return true;
}

/* A word among those that shall make the row that does not. */
struct wrong_word {
    petal_slice word;
    bool twice; /* it is a column that was named before, else none */
};

/* Read a column, or several with commas between. */
static bool
read_row(const struct intake *intake, petal_slice words, struct choice *choice,
         struct wrong_word *wrong)
{
    const char *at = words.data, *end = at + words.size;
    size_t column;

    choice->count = 0;
    if (find_column(intake, words, &column))
        return add_to_row(choice, column);
    for (;;) {
        const char *comma = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;

        wrong->word =
            without_blanks((petal_slice){at, (size_t)((comma != NULL ? comma : end) - at)});
        wrong->twice = find_column(intake, wrong->word, &column);
        if (!wrong->twice || !add_to_row(choice, column))
            return false;
        if (comma == NULL)
            return true;
        at = comma + 1;
    }
}

/* Does the first line tell by itself? */
static bool
tells_row(const struct intake *intake, struct choice *choice)
{
    static const char *const names[] = {"row", "rowkey", "row_key", "HBASE_ROW_KEY"};
    size_t count = intake->reader.column_count, without_family = 0;

    for (size_t i = 0; i < count; i++) {
        without_family += !names_family(intake, i);
        for (size_t j = 0; j < COUNT_OF(names); j++)
            if (equals_ignoring_case(column_name(intake, i), names[j]))
                return add_to_row(choice, i);
    }
    return without_family == 1 && !names_family(intake, 0) && add_to_row(choice, 0);
}

/* Who reads answers?  Nobody where the file comes from standard input, or nobody sits there. */
static bool
can_ask(const struct intake *intake)
{
    if (intake->by_command)
        return intake->session->conversation && intake->session->read_answer != NULL;
    return strcmp(intake->file_name, "-") != 0 && isatty(STDIN_FILENO) == 1 &&
           isatty(STDERR_FILENO) == 1;
}

/* A line from the terminal; false at its end, or when Ctrl-C comes in place of it. */
static bool
read_terminal_line(struct text *line)
{
    char letter;

    while (interrupt_wait_input(STDIN_FILENO) && read(STDIN_FILENO, &letter, 1) == 1) {
        if (letter == '\n')
            return true;
        text_add(line, &letter, 1);
    }
    return false;
}

static bool
read_answer(const struct intake *intake, struct text *answer)
{
    struct session *session = intake->session;

    text_clear(answer);
    return intake->by_command ? session->read_answer(session->answer_context, answer)
                              : read_terminal_line(answer);
}

static void
print_columns(const struct intake *intake)
{
    size_t count = intake->reader.column_count;
    struct text text = {0};

    text_add_format(&text, "Nothing says which column of %s names the row.  They are:\n",
                    intake->file_name);
    for (size_t i = 0; i < count && i < MOST_SHOWN; i++) {
        text_add_format(&text, "%6zu  ", i + 1);
        text_add_binary(&text, column_name(intake, i));
        text_add_string(&text, "\n");
    }
    if (count > MOST_SHOWN)
        text_add_format(&text, "        and %zu more\n", count - MOST_SHOWN);
    (void)fprintf(stderr,
                  "%sWhich one is the row key?  Its name or number; or several with commas, to be "
                  "joined by %s;\n"
                  "or # to number the records.  Nothing but Enter imports nothing.\n",
                  text_string(&text), intake->row_separator);
    text_free(&text);
}

/* Ask until there is an answer.  It stays, for the file may be read once more. */
static enum shell_status
ask_for_row(struct intake *intake, struct choice *choice)
{
    struct session *session = intake->session;
    enum shell_status status = SHELL_USAGE;
    struct text answer = {0};
    struct wrong_word wrong;

    output_flush(&session->output);
    print_columns(intake);
    for (;;) {
        bool answered;
        petal_slice words;

        (void)fputs("row key? ", stderr);
        answered = read_answer(intake, &answer);
        words = without_blanks(text_slice(&answer));
        if (!answered || words.size == 0)
            break;
        intake->number_rows = slice_is(words, "#");
        if (intake->number_rows || read_row(intake, words, choice, &wrong)) {
            intake->row = arena_copy(&session->arena, text_string(&answer), answer.size + 1);
            status = SHELL_FINE;
            break;
        }
        (void)fprintf(stderr,
                      wrong.twice ? "Column %.*s is named twice.\n" : "There is no column %.*s.\n",
                      SLICE(wrong.word));
    }
    text_free(&answer);
    if (status == SHELL_FINE || interrupt_check(session) != SHELL_FINE)
        return status;
    return session_fail(session, SHELL_USAGE, "No row key was chosen, so nothing is imported");
}

/* Fail; the columns are in the message, or the first of them. */
static enum shell_status
fail_without_row(const struct intake *intake)
{
    struct text text = {0};
    enum shell_status status;

    list_columns(&text, intake);
    status = session_fail(
        intake->session, SHELL_USAGE,
        intake->by_command
            ? "Nothing says which column of %s names the row.  Say ROW => 'column', or ROW => "
              "['column', 'column'] to join several, or ROW_NUMBER => true to number the records.  "
              "Its columns are: %s"
            : "Nothing says which column of %s names the row.  Say --row COLUMN, or --row "
              "COLUMN,COLUMN to join several, or --row-number to number the records.  Its columns "
              "are: %s",
        intake->file_name, text_string(&text));
    text_free(&text);
    return status;
}

static enum shell_status
choose_row(struct intake *intake, struct choice *choice)
{
    struct wrong_word wrong;

    if (intake->number_rows)
        return SHELL_FINE;
    if (intake->row != NULL) {
        if (read_row(intake, slice_of_string(intake->row), choice, &wrong))
            return SHELL_FINE;
        if (!wrong.twice)
            return fail_without_column(intake, wrong.word, "to name the row");
        return session_fail(intake->session, SHELL_USAGE,
                            "%s names column %.*s of %s twice; each column can be in the row once",
                            intake->by_command ? "ROW" : "--row", SLICE_UP_TO(200, wrong.word),
                            intake->file_name);
    }
    if (tells_row(intake, choice))
        return SHELL_FINE;
    return can_ask(intake) ? ask_for_row(intake, choice) : fail_without_row(intake);
}

/* ---- Families -------------------------------------------------------------------------------- */

/* The family of columns that name none. */
static enum shell_status
choose_family(const struct intake *intake, petal_slice column, petal_slice *family)
{
    petal_slice table = slice_of_string(intake->table_name);

    *family = slice_of_string(intake->family != NULL ? intake->family : DEFAULT_FAMILY);
    if (intake->family != NULL || intake->table == NULL)
        return SHELL_FINE;
    if (petal_table_family_count(intake->table) == 1) {
        *family = petal_family_name(petal_table_family_at(intake->table, 0));
        return SHELL_FINE;
    }
    return session_fail(
        intake->session, SHELL_USAGE,
        "Column %.*s of %s names no family, and table %.*s has several.  Say %s, or name "
        "columns family:qualifier",
        SLICE_UP_TO(80, column), intake->file_name, SLICE_UP_TO(256, table),
        intake->by_command ? "FAMILY => 'family'" : "--family FAMILY");
}

/* Where the column goes; *family is what columns go to that name none. */
static enum shell_status
place_column(const struct intake *intake, size_t number, petal_slice *family)
{
    struct record_column *column = &intake->reader.columns[number];
    petal_slice name = text_slice(&column->name);
    const char *colon = name.size > 0 ? memchr(name.data, ':', name.size) : NULL;
    enum shell_status status = SHELL_FINE;

    if (colon != NULL) {
        column->family_name = (petal_slice){name.data, (size_t)(colon - (const char *)name.data)};
        column->qualifier = (petal_slice){colon + 1, name.size - column->family_name.size - 1};
        return SHELL_FINE;
    }
    if (name.size == 0)
        return session_fail(intake->session, SHELL_USAGE, "%s:1: column %zu has no name",
                            intake->file_name, number + 1);
    if (family->size == 0)
        status = choose_family(intake, name, family);
    column->family_name = *family;
    column->qualifier = name;
    return status;
}

static bool
has_column(const struct intake *intake, petal_slice word)
{
    for (size_t i = 0; i < intake->reader.column_count; i++) {
        petal_slice name = column_name(intake, i);

        if (name.size == word.size && strncasecmp(name.data, word.data, word.size) == 0)
            return true;
    }
    return false;
}

/* Has the file all columns that the list names? */
static enum shell_status
check_list(const struct intake *intake, const char *list, const char *asked_by)
{
    while (list != NULL && *list != '\0') {
        petal_slice word = {list, strcspn(list, ",")};

        if (word.size > 0 && !has_column(intake, word))
            return fail_without_column(intake, word, asked_by);
        list += word.size + (list[word.size] == ',');
    }
    return SHELL_FINE;
}

/* Do --only-fields and --skip-fields name columns that the file has? */
static enum shell_status
check_lists(const struct intake *intake)
{
    bool by_command = intake->by_command;
    enum shell_status status =
        check_list(intake, intake->only_fields,
                   by_command ? "for ONLY_FIELDS to choose" : "for --only-fields to choose");

    if (status != SHELL_FINE)
        return status;
    return check_list(intake, intake->skip_fields,
                      by_command ? "for SKIP_FIELDS to leave out"
                                 : "for --skip-fields to leave out");
}

static enum shell_status
place_columns(struct intake *intake)
{
    struct session *session = intake->session;
    petal_slice family = {NULL, 0}; /* of columns that name none; empty while there is no such */
    enum shell_status status = SHELL_FINE;
    size_t cells = 0;

    for (size_t i = 0; i < intake->reader.column_count && status == SHELL_FINE; i++) {
        struct record_column *column = &intake->reader.columns[i];

        column->wanted = !column->in_row && intake_wants_column(intake, text_slice(&column->name));
        cells += !column->in_row;
        if (column->wanted)
            status = place_column(intake, i, &family);
    }
    if (status == SHELL_FINE && cells == 0)
        status = session_fail(session, SHELL_USAGE,
                              "%s:1: there is no column beside the row, so there is nothing "
                              "to put into cells",
                              intake->file_name);
    if (status == SHELL_FINE && family.size > 0 && intake->family == NULL && !intake->told)
        output_plain(&session->output, "Columns that name no family are in the family %.*s",
                     SLICE(family));
    intake->told = true;
    return status;
}

/* ---- The separator --------------------------------------------------------------------------- */

static bool
has_byte(petal_slice name, char byte)
{
    return name.size > 0 && memchr(name.data, byte, name.size) != NULL;
}

/* A first line that is one name, with what parts names in files of another kind, is of such a
 * file. */
static enum shell_status
check_separator(const struct intake *intake)
{
    struct session *session = intake->session;
    bool tsv = intake->format == FILE_TSV;
    const char *file = intake->file_name;
    petal_slice name = column_name(intake, 0);
    char other = has_byte(name, ';') ? ';' : '|';

    if (intake->reader.column_count != 1)
        return SHELL_FINE;
    if (has_byte(name, tsv ? ',' : '\t'))
        return session_fail(session, SHELL_USAGE,
                            "%s is read as %s, but its first line has %s.  If these part its "
                            "columns, say %s%s%s",
                            file, tsv ? "tsv" : "csv",
                            tsv ? "commas and no tabs" : "tabs and no commas",
                            intake->by_command ? "FORMAT => '" : "--format ", tsv ? "csv" : "tsv",
                            intake->by_command ? "'" : "");
    if (has_byte(name, other))
        return session_fail(session, SHELL_USAGE,
                            "%s is read as %s, but its first line has %c and no %s.  If %c parts "
                            "its columns, convert it to commas or tabs first; else give the "
                            "column a name without %c",
                            file, tsv ? "tsv" : "csv", other, tsv ? "tabs" : "commas", other,
                            other);
    return SHELL_FINE;
}

/* ---- The table ------------------------------------------------------------------------------- */

static enum shell_status
check_families(const struct intake *intake)
{
    petal_slice table = petal_table_name(intake->table);
    petal_family *family;
    petal_error error;

    for (size_t i = 0; i < intake->reader.column_count; i++) {
        const struct record_column *column = &intake->reader.columns[i];

        if (column->wanted && petal_table_family(intake->table, column->family_name, &family,
                                                 &error) == PETAL_NOT_FOUND)
            return session_fail(intake->session, SHELL_NOT_FOUND,
                                "Table %.*s is there already, and has no family %.*s for column "
                                "%.80s.  alter '%.*s', '%.*s' adds it",
                                SLICE(table), SLICE_UP_TO(127, column->family_name),
                                text_string(&column->name), SLICE(table),
                                SLICE_UP_TO(127, column->family_name));
    }
    return SHELL_FINE;
}

static enum shell_status
make_table(struct intake *intake)
{
    struct session *session = intake->session;
    size_t count = 0, most = intake->reader.column_count;
    petal_family_options *families = memory_allocate(most * sizeof(*families));
    petal_table_options options = {
        .size = sizeof(options), .name = intake->name, .families = families};
    enum shell_status status = SHELL_FINE;
    petal_error error;

    for (size_t i = 0; i < most; i++) {
        const struct record_column *column = &intake->reader.columns[i];
        size_t same = 0;

        if (!column->wanted)
            continue;
        while (same < count && !slices_equal(families[same].name, column->family_name))
            same++;
        families[same] =
            (petal_family_options){.size = sizeof(*families), .name = column->family_name};
        count += same == count;
    }
    options.family_count = count;
    if (petal_table_check(&options, &error) != PETAL_OK)
        status = session_fail_petal(session, &error);
    if (status == SHELL_FINE)
        status = session_make_database(session);
    if (status == SHELL_FINE &&
        petal_table_create(session->db, &options, &intake->table, &error) != PETAL_OK)
        status = session_fail_petal(session, &error);
    free(families);
    if (status != SHELL_FINE)
        return status;
    text_clear(&session->scratch);
    intake_describe_table(&session->scratch, intake->table);
    output_plain(&session->output, "%s", text_string(&session->scratch));
    return SHELL_FINE;
}

enum shell_status
header_read(struct intake *intake, bool *there)
{
    struct record_reader *reader = &intake->reader;
    enum record_outcome outcome = shell_record_header(reader);
    enum shell_status status = SHELL_FINE;
    struct choice choice = {NULL, 0};

    *there = outcome == RECORD_GOOD;
    if (outcome == RECORD_END && intake->table == NULL)
        return session_fail(intake->session, SHELL_USAGE,
                            "%s is empty: there is no first line to make a table from",
                            intake->file_name);
    if (outcome == RECORD_END)
        return SHELL_FINE;
    if (outcome != RECORD_GOOD)
        return intake_fail(intake);
    status = check_separator(intake);
    if (status != SHELL_FINE)
        return status;
    choice.columns = memory_allocate(reader->column_count * sizeof(*choice.columns));
    status = choose_row(intake, &choice);
    if (status == SHELL_FINE) {
        shell_record_set_row(reader, choice.columns, choice.count,
                             slice_of_string(intake->row_separator));
        status = check_lists(intake);
    }
    if (status == SHELL_FINE)
        status = place_columns(intake);
    free(choice.columns);
    if (status == SHELL_FINE && intake->create)
        status = intake->table != NULL ? check_families(intake) : make_table(intake);
    return status;
}
