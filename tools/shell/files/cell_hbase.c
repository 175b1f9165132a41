/* cell_hbase.c -- cells as commands of the HBase shell: put, delete and deleteall.  See
 * tools/shell/files/cell.h. */
#include "tools/shell/files/cell.h"

#include <string.h>

/* ---- Writing --------------------------------------------------------------------------------- */

/* In double quotes, where # can begin an expression. */
static char *
put_quoted(char *to, petal_slice bytes)
{
    *to++ = '"';
    to = cell_put_binary(to, bytes, '"', '#');
    *to++ = '"';
    return to;
}

char *
cell_write_hbase(char *to, petal_slice table, const petal_cell *cell)
{
    bool version = cell->type == PETAL_DELETE || cell->type == PETAL_DELETE_FAMILY_VERSION;

    to = cell_put_string(to, cell->type == PETAL_PUT ? "put " : version ? "delete " : "deleteall ");
    to = put_quoted(to, table);
    to = cell_put_string(to, ", ");
    to = put_quoted(to, cell->row);
    to = cell_put_string(to, ", ");
    /* "f:q", or "f" of a marker for a whole family. */
    *to++ = '"';
    to = cell_put_binary(to, cell->family, '"', '#');
    if (cell->type != PETAL_DELETE_FAMILY && cell->type != PETAL_DELETE_FAMILY_VERSION) {
        *to++ = ':';
        to = cell_put_binary(to, cell->qualifier, '"', '#');
    }
    *to++ = '"';
    if (cell->type == PETAL_PUT) {
        to = cell_put_string(to, ", ");
        to = put_quoted(to, cell->value);
    }
    to = cell_put_string(to, ", ");
    to = cell_put_number(to, cell->timestamp);
    if (cell->has_ttl) {
        to = cell_put_string(to, ", TTL => ");
        to = cell_put_number(to, cell->ttl_ms);
    }
    return to;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const char *
skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* A backslash is at *at, in double quotes: add what it and what follows mean. */
static bool
take_escape(struct text *text, const char **at, const char *end)
{
    static const char letters[] = "ntr0abefsv", meanings[] = "\n\t\r\0\a\b\x1b\f \v";
    const char *found;
    char letter;
    int digit, more;

    if (end - *at < 2)
        return false;
    letter = (*at)[1];
    *at += 2;
    if (letter == 'x') {
        digit = *at < end ? text_hex_digit(**at) : -1;
        if (digit < 0)
            return false;
        more = ++*at < end ? text_hex_digit(**at) : -1;
        if (more >= 0)
            (*at)++;
        letter = (char)(more >= 0 ? digit << 4 | more : digit);
    } else if (letter == '0' && *at < end && **at >= '0' && **at <= '7') {
        return false;
    } else if ((found = memchr(letters, letter, sizeof(letters) - 1)) != NULL) {
        letter = meanings[found - letters];
    } else if ((letter >= '1' && letter <= '7') || letter == 'u' || letter == 'c' ||
               letter == 'C' || letter == 'M') {
        return false;
    }
    text_add(text, &letter, 1);
    return true;
}

/* Read 'single' or "double" quotes.  NULL, or what is wrong at *at. */
static const char *
take_string(struct cell_parser *parser, const char **at, const char *end, petal_slice *bytes)
{
    size_t begin = parser->bytes.size;
    char quote = *at < end ? **at : '\0';
    const char *from;

    if (quote != '"' && quote != '\'')
        return "a string in quotes must stand here";
    for (from = *at + 1; from < end && *from != quote;) {
        const char *plain = from;

        while (from < end && *from != quote && *from != '\\' && *from != '#')
            from++;
        text_add(&parser->bytes, plain, (size_t)(from - plain));
        if (from == end || *from == quote)
            break;
        if (*from == '#') {
            if (quote == '"' && from + 1 < end && memchr("{$@", from[1], 3) != NULL)
                return "#{..} in a string: import computes nothing";
            text_add(&parser->bytes, from++, 1);
        } else if (quote == '"') {
            if (!take_escape(&parser->bytes, &from, end))
                return "an escape that import does not know; run the script with -f";
        } else {
            from += end - from > 1 && (from[1] == '\\' || from[1] == '\'');
            text_add(&parser->bytes, from++, 1);
        }
    }
    if (from == end)
        return "a quote is not closed in its line";
    *bytes = (petal_slice){parser->bytes.bytes + begin, parser->bytes.size - begin};
    *at = from + 1;
    return NULL;
}

/* Is `word` at *at?  Then go after it and the blanks that follow. */
static bool
take_word(const char **at, const char *end, const char *word)
{
    size_t size = strlen(word);

    if ((size_t)(end - *at) < size || memcmp(*at, word, size) != 0)
        return false;
    *at = skip_blanks(*at + size, end);
    return true;
}

/* After the strings: a timestamp, TTL => milliseconds, both or none.  NULL, or what is wrong at
 * *at. */
static const char *
take_rest(struct cell_parser *parser, const char **at, const char *end)
{
    petal_cell *cell = &parser->cell;
    const char *wrong = NULL;
    bool comma = take_word(at, end, ",");

    if (comma && *at < end && ((**at >= '0' && **at <= '9') || **at == '-')) {
        wrong = cell_take_number(at, end, &cell->timestamp);
        if (wrong == NULL && cell->timestamp < 0)
            wrong = "the timestamp must be 0 or more";
        *at = skip_blanks(*at, end);
        comma = wrong == NULL && take_word(at, end, ",");
    }
    if (comma) {
        bool braces = take_word(at, end, "{");

        if (!take_word(at, end, "TTL") || !take_word(at, end, "=>"))
            return "only a timestamp or TTL => milliseconds can stand here";
        wrong = cell_take_number(at, end, &cell->ttl_ms);
        cell->has_ttl = wrong == NULL;
        *at = skip_blanks(*at, end);
        if (wrong == NULL && braces && !take_word(at, end, "}"))
            wrong = "a brace is not closed";
    }
    if (wrong == NULL)
        (void)take_word(at, end, ";");
    if (wrong == NULL && *at < end && **at != '#')
        wrong = "something follows the command in its line";
    return wrong;
}

/* Part the column and find the marker's kind.  NULL, or what is wrong. */
static const char *
set_column(petal_cell *cell, petal_slice column, bool put, bool all)
{
    const char *colon = column.size > 0 ? memchr(column.data, ':', column.size) : NULL;

    cell->family = column;
    if (colon != NULL) {
        cell->family.size = (size_t)(colon - (const char *)column.data);
        cell->qualifier = (petal_slice){colon + 1, column.size - cell->family.size - 1};
    }
    if (put)
        cell->type = PETAL_PUT;
    else if (colon != NULL)
        cell->type = all ? PETAL_DELETE_COLUMN : PETAL_DELETE;
    else
        cell->type = all ? PETAL_DELETE_FAMILY : PETAL_DELETE_FAMILY_VERSION;
    return cell->family.size > 0 ? NULL : "the column must be family:qualifier";
}

enum cell_outcome
cell_parse_hbase(struct cell_parser *parser, petal_slice line)
{
    const char *at = skip_blanks(line.data, (const char *)line.data + line.size);
    const char *end = (const char *)line.data + line.size, *wrong = NULL;
    petal_slice strings[4];
    bool put, all;
    size_t wanted;

    if (at == end || *at == '#' || take_word(&at, end, "create ") || take_word(&at, end, "alter "))
        return CELL_NONE;
    put = take_word(&at, end, "put ");
    all = !put && take_word(&at, end, "deleteall ");
    if (!put && !all && !take_word(&at, end, "delete "))
        return cell_fail(parser, line, at, "the line is neither put, delete nor deleteall");
    wanted = put ? 4 : 3;
    for (size_t i = 0; i < wanted && wrong == NULL; i++) {
        if (i > 0 && !take_word(&at, end, ","))
            return cell_fail(parser, line, at,
                             put ? "put takes a table, a row, a column and a value"
                                 : "a deletion takes a table, a row and a column");
        wrong = take_string(parser, &at, end, &strings[i]);
        if (wrong == NULL)
            at = skip_blanks(at, end);
    }
    if (wrong == NULL)
        wrong = take_rest(parser, &at, end);
    if (wrong == NULL)
        wrong = set_column(&parser->cell, strings[2], put, all);
    if (wrong != NULL)
        return cell_fail(parser, line, at, wrong);
    parser->table = strings[0];
    parser->cell.row = strings[1];
    if (put)
        parser->cell.value = strings[3];
    return CELL_GOOD;
}
