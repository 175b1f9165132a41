/*
 * session.c -- see tests/replay/session.h.
 *
 *     # text            header: the title
 *     #! key: value     header: group, mode, exit, and sometimes note or stderr
 *     hbase> text       a command begins
 *     hbase* text       a further line of the same command
 *     hbase? text       an answer to the command's question
 *     anything else     a line of output of the command above
 */
#include "tests/replay/session.h"

#include "tools/shell/text/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT_BYTES = 7 };

static char *
copy_string(const char *string)
{
    size_t size = strlen(string) + 1;
    char *copy = memory_allocate(size);

    return memcpy(copy, string, size);
}

static bool
complain(const struct recorded_session *session, size_t line, const char *what)
{
    (void)fprintf(stderr, "%s:%zu: %s\n", session->path, line, what);
    return false;
}

static bool
set_mode(struct recorded_session *session, const char *mode)
{
    static const char *const names[] = {"pipe", "script", "pipe-n"};
    static const char terminal[] = "terminal-";

    free(session->mode_name);
    session->mode_name = copy_string(mode);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(mode, names[i]) == 0) {
            session->mode = (enum session_mode)i;
            return true;
        }
    }
    session->mode = MODE_TERMINAL;
    session->columns = strncmp(mode, terminal, strlen(terminal)) == 0
                           ? (unsigned)strtoul(mode + strlen(terminal), NULL, 10)
                           : 0;
    return session->columns > 0 && session->columns < 10000;
}

/* The group and the name of the file. */
static void
set_name(struct recorded_session *session, const char *group)
{
    const char *slash = strrchr(session->path, '/');
    const char *name = slash != NULL ? slash + 1 : session->path;
    struct text text = {0};

    text_add_format(&text, "%s/%.*s", group, (int)(strrchr(name, '.') - name), name);
    free(session->name);
    session->name = copy_string(text_string(&text));
    text_free(&text);
}

static bool
take_header(struct recorded_session *session, const char *text, size_t line)
{
    static const char *const keys[] = {"group: ", "mode: ", "exit: ", "note: ", "stderr: "};
    size_t key = 0;
    const char *value;

    while (key < 5 && strncmp(text, keys[key], strlen(keys[key])) != 0)
        key++;
    if (key == 5)
        return complain(session, line, "an unknown key in the header");
    value = text + strlen(keys[key]);
    if (key == 0)
        set_name(session, value);
    else if (key == 1 && !set_mode(session, value))
        return complain(session, line, "an unknown mode");
    else if (key == 2)
        session->exit_status = atoi(value);
    else if (key == 3)
        session->note = copy_string(value);
    else if (key == 4)
        session->error_line = copy_string(value);
    return true;
}

static bool
take_line(struct recorded_session *session, const char *text, size_t number)
{
    struct recorded_command *command =
        session->count > 0 ? &session->commands[session->count - 1] : NULL;
    bool begins = strncmp(text, "hbase> ", PROMPT_BYTES) == 0;
    bool goes_on = strncmp(text, "hbase* ", PROMPT_BYTES) == 0;
    bool answers = strncmp(text, "hbase? ", PROMPT_BYTES) == 0;

    if (begins) {
        session->commands =
            memory_grow(session->commands, (session->count + 1) * sizeof(*session->commands));
        command = &session->commands[session->count++];
        *command = (struct recorded_command){.line = number};
    }
    if (command == NULL && strncmp(text, "#! ", 3) == 0)
        return take_header(session, text + 3, number);
    if (command == NULL)
        return text[0] == '#' || complain(session, number, "neither a header nor a command");
    if (begins || goes_on)
        lines_add(&command->input, text + PROMPT_BYTES, strlen(text + PROMPT_BYTES));
    else if (answers)
        lines_add(&command->answers, text + PROMPT_BYTES, strlen(text + PROMPT_BYTES));
    else
        lines_add(&command->output, text, strlen(text));
    return true;
}

bool
session_read(const char *path, struct recorded_session *session)
{
    struct text text = {0};
    struct lines lines = {0};
    bool good = true;

    *session = (struct recorded_session){.path = copy_string(path)};
    if (!read_file(path, &text))
        good = complain(session, 0, strerror(errno));
    lines_split(&lines, text_slice(&text));
    for (size_t i = 0; i < lines.count && good; i++)
        good = take_line(session, lines.items[i], i + 1);
    if (good && (session->name == NULL || session->mode_name == NULL || session->count == 0))
        good =
            complain(session, lines.count, "the header lacks group or mode, or no command follows");
    lines_free(&lines);
    text_free(&text);
    return good;
}

void
session_free(struct recorded_session *session)
{
    for (size_t i = 0; i < session->count; i++) {
        lines_free(&session->commands[i].input);
        lines_free(&session->commands[i].answers);
        lines_free(&session->commands[i].output);
    }
    free(session->commands);
    free(session->path);
    free(session->name);
    free(session->mode_name);
    free(session->note);
    free(session->error_line);
    *session = (struct recorded_session){0};
}
