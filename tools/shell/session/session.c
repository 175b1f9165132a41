/* session.c -- see tools/shell/session/session.h. */
#include "tools/shell/session/session.h"

#include "tools/shell/session/near.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
describe_petal_error(struct text *text, const petal_error *error)
{
    text_add_string(text, error->text[0] != '\0' ? error->text : petal_status_text(error->status));
    if (error->file[0] != '\0' && strstr(text_string(text), error->file) == NULL) {
        text_add_format(text, " (%s", error->file);
        if (error->offset != 0)
            text_add_format(text, ", offset %" PRIu64, error->offset);
        text_add_string(text, ")");
    }
}

void
session_describe_error(const struct session *session, struct text *text, const petal_error *error)
{
    if (error->status == PETAL_READ_ONLY && session->writer.size > 0) {
        text_add_slice(text, text_slice(&session->writer));
        text_add_string(text, ", so this shell only reads: to write, open the database anew once "
                              "that process has ended");
        return;
    }
    describe_petal_error(text, error);
    if (error->status == PETAL_CORRUPT &&
        strncmp(error->file, session->directory, strlen(session->directory)) == 0)
        text_add_format(text, "; \"kv-check verify %s\" lists what is damaged", session->directory);
}

enum shell_status
shell_status_of(enum petal_status status)
{
    switch (status) {
    case PETAL_OK:
        return SHELL_FINE;
    case PETAL_NOT_FOUND:
        return SHELL_NOT_FOUND;
    case PETAL_INVALID:
    case PETAL_EXISTS:
        return SHELL_USAGE;
    case PETAL_IO:
    case PETAL_CORRUPT:
    case PETAL_NO_MEMORY:
    case PETAL_BUSY:
    case PETAL_UNSUPPORTED:
    case PETAL_READ_ONLY:
    case PETAL_NO_SPACE:
    case PETAL_TIMEOUT:
    case PETAL_CONFLICT:
        break;
    }
    return SHELL_DATA;
}

static void
set_message(struct session *session, const char *format, va_list arguments)
{
    char message[1024];

    (void)vsnprintf(message, sizeof(message), format, arguments);
    text_clear(&session->message);
    text_add_string(&session->message, message);
}

enum shell_status
session_fail(struct session *session, enum shell_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    set_message(session, format, arguments);
    va_end(arguments);
    return status;
}

enum shell_status
session_fail_by_verdict(struct session *session, enum shell_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    set_message(session, format, arguments);
    va_end(arguments);
    session->verdict = true;
    return status;
}

enum shell_status
session_fail_petal(struct session *session, const petal_error *error)
{
    text_clear(&session->message);
    session_describe_error(session, &session->message, error);
    session->refused = session->reads_only && error->status == PETAL_READ_ONLY;
    return shell_status_of(error->status);
}

void
session_note(struct session *session, const struct text *line)
{
    if (strstr(text_string(&session->told), text_string(line)) != NULL)
        return;
    text_add_slice(&session->told, text_slice(line));
    output_flush(&session->output);
    (void)fputs(text_string(line), stderr);
}

enum shell_status
session_ask(struct session *session, bool *yes)
{
    struct text answer = {0};
    const char *first;
    bool answered;

    output_flush(&session->output);
    answered =
        session->read_answer != NULL && session->read_answer(session->answer_context, &answer);
    if (answered && session->echo_input)
        output_plain(&session->output, "petal? %s", text_string(&answer));
    first = text_string(&answer) + strspn(text_string(&answer), " \t");
    *yes = answered && (*first == 'y' || *first == 'Y');
    text_free(&answer);
    return answered ? SHELL_FINE
                    : session_fail(session, SHELL_USAGE,
                                   "No answer: the input has ended, so nothing was done");
}

bool
session_is_disabled(const struct session *session, petal_slice table)
{
    for (size_t i = 0; i < session->disabled_count; i++)
        if (slices_equal(text_slice(&session->disabled[i]), table))
            return true;
    return false;
}

void
session_set_disabled(struct session *session, petal_slice table, bool disabled)
{
    struct text *names = session->disabled;
    size_t count = session->disabled_count;

    if (session_is_disabled(session, table) == disabled)
        return;
    if (disabled) {
        names = memory_grow(names, (count + 1) * sizeof(*names));
        names[count] = (struct text){0};
        text_add_slice(&names[count], table);
        session->disabled = names;
        session->disabled_count++;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (slices_equal(text_slice(&names[i]), table)) {
            text_free(&names[i]);
            names[i] = names[count - 1];
            session->disabled_count--;
            return;
        }
    }
}

static bool
is_name_letter(unsigned char c)
{
    /* Bytes of UTF-8 pass as letters of other languages. */
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c >= 0x80;
}

/* The form of a table's or snapshot's name.  `whose` and `what` begin HBase's complaints. */
static enum shell_status
check_qualifier(struct session *session, const char *whose, const char *what, petal_slice name)
{
    const char *letters = name.data;

    if (name.size == 0)
        return session_fail(session, SHELL_USAGE, "%s qualifier must not be empty", what);
    if (letters[0] == '.' || letters[0] == '-')
        return session_fail(session, SHELL_USAGE,
                            "Illegal first character <%d> at 0. %s qualifiers can only start with "
                            "'alphanumeric characters' from any language: %.*s",
                            letters[0], whose, (int)name.size, letters);
    for (size_t i = 0; i < name.size; i++) {
        unsigned char letter = (unsigned char)letters[i];

        if (!is_name_letter(letter) && letter != '-' && letter != '.')
            return session_fail(session, SHELL_USAGE,
                                "Illegal character code:%d, <%c> at %zu. %s qualifiers may only "
                                "contain 'alphanumeric characters' and digits: %.*s",
                                letter, letter >= 0x20 && letter < 0x7f ? letter : '?', i, whose,
                                name.size < 256 ? (int)name.size : 256, letters);
    }
    return SHELL_FINE;
}

enum shell_status
session_check_namespace(struct session *session, petal_slice name, const char *before)
{
    const unsigned char *letters = name.data;

    if (name.size == 0)
        return session_fail(session, SHELL_USAGE, "Namespace name must not be empty");
    for (size_t i = 0; i < name.size; i++)
        if (!is_name_letter(letters[i]))
            return session_fail(session, SHELL_USAGE,
                                "%sIllegal character <%c> at %zu. Namespaces may only contain "
                                "'alphanumeric characters' from any language and digits: %.*s",
                                before, letters[i] >= 0x20 && letters[i] < 0x7f ? letters[i] : '?',
                                i, SLICE_UP_TO(256, name));
    return SHELL_FINE;
}

/* The table in the name of a region, `table,first row,id.`; empty if the name has another form. */
static petal_slice
table_of_region(petal_slice name)
{
    const char *bytes = name.data;
    size_t end = name.size > 0 && bytes[name.size - 1] == '.' ? name.size - 1 : name.size;
    size_t last = end;
    const char *comma = name.size > 0 ? memchr(bytes, ',', name.size) : NULL;

    while (last > 0 && bytes[last - 1] >= '0' && bytes[last - 1] <= '9')
        last--;
    if (comma == NULL || last == end || bytes[last - 1] != ',' || comma == bytes + last - 1)
        return (petal_slice){NULL, 0};
    return (petal_slice){bytes, (size_t)(comma - bytes)};
}

enum shell_status
session_table_name(struct session *session, const struct value *value, petal_slice *name)
{
    petal_slice full = value_to_bytes(&session->arena, value);
    const char *colon = full.size > 0 ? memchr(full.data, ':', full.size) : NULL;
    petal_slice qualifier = full, region_table;

    if (value->kind == VALUE_NIL)
        return session_fail(session, SHELL_USAGE, "Table name must not be nil");
    region_table = table_of_region(full);
    if (region_table.size > 0)
        return session_fail(session, SHELL_USAGE,
                            "%.*s is the name of a region of table %.*s, and not of a table: split "
                            "and merge_region take regions; tables and families are flushed and "
                            "compacted, not single regions",
                            SLICE_UP_TO(256, full), SLICE_UP_TO(256, region_table));
    if (colon != NULL) {
        petal_slice before = {full.data, (size_t)(colon - (const char *)full.data)};

        if (session_check_namespace(session, before, "") != SHELL_FINE)
            return SHELL_USAGE;
        qualifier = (petal_slice){colon + 1, full.size - before.size - 1};
        if (slice_is(before, "default"))
            full = qualifier;
    }
    *name = full;
    return check_qualifier(session, "User-space table", "Table", qualifier);
}

enum shell_status
session_snapshot_name(struct session *session, const struct value *value, petal_slice *name)
{
    if (value->kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "Snapshot name must be of type String");
    *name = value->as.bytes;
    return check_qualifier(session, "Snapshot", "Snapshot", *name);
}

static enum shell_status
open_table(struct session *session, petal_slice name, const char *before, const char *behind,
           petal_table **table)
{
    petal_error error;
    enum petal_status outcome = petal_table_open(session->db, name, table, &error);

    if (outcome == PETAL_NOT_FOUND || outcome == PETAL_INVALID) {
        (void)session_fail(session, SHELL_NOT_FOUND, "%s%.*s%s", before, SLICE(name), behind);
        near_suggest_table(session, name);
        return SHELL_NOT_FOUND;
    }
    return outcome == PETAL_OK ? SHELL_FINE : session_fail_petal(session, &error);
}

enum shell_status
session_any_table(struct session *session, const struct value *argument, const char *before,
                  const char *behind, petal_table **table)
{
    petal_slice name;

    if (session_table_name(session, argument, &name) != SHELL_FINE)
        return SHELL_USAGE;
    return open_table(session, name, before, behind, table);
}

enum shell_status
session_table(struct session *session, petal_slice name, petal_table **table)
{
    enum shell_status status = open_table(session, name, "Unknown table ", "!", table);

    if (status == SHELL_FINE && session_is_disabled(session, name))
        return session_fail(session, SHELL_USAGE, "Table %.*s is disabled!", SLICE(name));
    return status;
}

enum shell_status
session_enabled_table(struct session *session, const struct value *argument, petal_table **table)
{
    petal_slice name;

    if (session_table_name(session, argument, &name) != SHELL_FINE)
        return SHELL_USAGE;
    return session_table(session, name, table);
}

enum shell_status
session_family(struct session *session, petal_table *table, petal_slice name, petal_family **family)
{
    petal_error error;
    enum petal_status status;

    if (name.size == 0)
        return session_fail(session, SHELL_USAGE, "Family cannot be empty");
    status = petal_table_family(table, name, family, &error);
    if (status == PETAL_NOT_FOUND || status == PETAL_INVALID) {
        petal_slice table_name = petal_table_name(table);

        text_clear(&session->scratch);
        text_add_binary(&session->scratch, name);
        (void)session_fail(session, SHELL_NOT_FOUND,
                           "Column family %.200s does not exist in table %.*s",
                           text_string(&session->scratch), SLICE(table_name));
        near_suggest_family(session, table, name);
        return SHELL_NOT_FOUND;
    }
    return status == PETAL_OK ? SHELL_FINE : session_fail_petal(session, &error);
}
