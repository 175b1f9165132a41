/* shell_input.c -- see shell_input.h. */
#include "tools/shell_input.h"

#include "tools/shell_command.h"
#include "tools/shell_eval.h"

#include <histedit.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_LINES = 1000 };

/* Lines on their way to the evaluator. */
struct feed {
    struct session *session;
    struct lexer lexer;
    /* Reads a line, with or without its line end; false when there are no more.  `answer`: to a command's question. */
    bool (*read_line)(void *source, bool answer, struct text *line);
    void *source;
    unsigned line;       /* number of the next line, from 1 */
    unsigned input_line; /* of the input that is being gathered */
};

static void
drop_line_end(struct text *line)
{
    if (line->size > 0 && line->bytes[line->size - 1] == '\n')
        line->bytes[--line->size] = '\0';
    if (line->size > 0 && line->bytes[line->size - 1] == '\r')
        line->bytes[--line->size] = '\0';
}

/* A command asks: the line behind its own answers. */
static bool
feed_answer(void *context, struct text *answer)
{
    struct feed *feed = context;

    if (!feed->read_line(feed->source, true, answer))
        return false;
    drop_line_end(answer);
    feed->line++;
    return true;
}

static void
feed_init(struct feed *feed, struct session *session,
          bool (*read_line)(void *source, bool answer, struct text *line), void *source)
{
    *feed = (struct feed){
        .session = session, .read_line = read_line, .source = source, .line = 1, .input_line = 1};
    lexer_init(&feed->lexer, &session->arena);
    session->read_answer = feed_answer;
    session->answer_context = feed;
}

/* Add a line; run the input when it is whole. */
static void
feed_line(struct feed *feed, struct text *line)
{
    drop_line_end(line);
    if (feed->session->echo_input)
        output_plain(&feed->session->output, "petal%c %.*s", feed->lexer.input.size > 0 ? '*' : '>',
                     (int)line->size, text_string(line));
    lexer_add_line(&feed->lexer, text_slice(line));
    feed->line++;
    if (lexer_wants_more(&feed->lexer))
        return;
    eval_input(feed->session, &feed->lexer, feed->input_line);
    feed->input_line = feed->line;
}

/* The lines have ended, perhaps inside an input. */
static void
feed_finish(struct feed *feed)
{
    if (feed->lexer.input.size > 0 && !feed->session->ended)
        eval_input(feed->session, &feed->lexer, feed->input_line);
    lexer_free(&feed->lexer);
    feed->session->read_answer = NULL;
}

static void
feed_lines(struct feed *feed)
{
    struct text line = {0};

    while (!feed->session->ended && feed->read_line(feed->source, false, &line)) {
        feed_line(feed, &line);
        text_clear(&line);
    }
    text_free(&line);
}

static bool
read_stream_line(void *source, bool answer, struct text *line)
{
    FILE *stream = source;
    char *bytes = NULL;
    size_t capacity = 0;
    ssize_t size = getline(&bytes, &capacity, stream);

    (void)answer;
    if (size >= 0)
        text_add(line, bytes, (size_t)size);
    free(bytes);
    return size >= 0;
}

/* The source points to the rest of the text.  A question behind its last line is for standard input. */
static bool
read_text_line(void *source, bool answer, struct text *line)
{
    const char **rest = source;
    size_t size = strcspn(*rest, "\n");

    if (**rest == '\0')
        return answer && read_stream_line(stdin, answer, line);
    text_add(line, *rest, size);
    *rest += size + ((*rest)[size] == '\n');
    return true;
}

void
input_run_text(struct session *session, const char *text)
{
    struct feed feed;

    feed_init(&feed, session, read_text_line, &text);
    feed_lines(&feed);
    feed_finish(&feed);
}

void
input_run_stream(struct session *session, FILE *stream)
{
    struct feed feed;

    feed_init(&feed, session, read_stream_line, stream);
    feed_lines(&feed);
    if (ferror(stream)) {
        (void)fputs("kv-shell: reading the commands failed\n", stderr);
        session->worst = SHELL_DATA;
    }
    feed_finish(&feed);
}

/* ---- Terminal ---------------------------------------------------------------------------------- */

struct terminal {
    struct feed feed;
    EditLine *editor;
    History *history;
    HistEvent event;
    char history_file[4096]; /* "" when there is no home */
    char prompt[32];
    bool asking; /* a command's question is on the screen */
};

/* petal:001:0> with the line's number and the depth of open brackets; * for > inside an input. */
static char *
show_prompt(EditLine *editor)
{
    struct terminal *terminal;
    const struct lexer *lexer;

    (void)el_get(editor, EL_CLIENTDATA, &terminal);
    lexer = &terminal->feed.lexer;
    if (terminal->asking)
        return strcpy(terminal->prompt, "");
    (void)snprintf(terminal->prompt, sizeof(terminal->prompt), "petal:%03u:%d%c ",
                   terminal->feed.line, lexer->depth > 0 ? lexer->depth : 0,
                   lexer->input.size > 0 ? '*' : '>');
    return terminal->prompt;
}

/* Complete the command at the start of the line: as far as all candidates agree. */
static unsigned char
complete_command(EditLine *editor, int key)
{
    const LineInfo *info = el_line(editor);
    size_t typed = (size_t)(info->cursor - info->buffer);
    const struct command *command;
    char common[64] = "";
    size_t agreed = 0, candidates = 0;

    (void)key;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        size_t same = 0;

        if (strncmp(command->name, info->buffer, typed) != 0 || typed > strlen(command->name))
            continue;
        while (candidates > 0 && same < agreed && common[same] == command->name[same])
            same++;
        if (candidates++ == 0) {
            (void)snprintf(common, sizeof(common), "%s", command->name);
            same = strlen(common);
        }
        agreed = same;
    }
    if (typed == 0 || candidates == 0 || (candidates > 1 && agreed <= typed))
        return CC_REFRESH_BEEP;
    common[agreed] = '\0';
    (void)el_insertstr(editor, common + typed);
    if (candidates == 1)
        (void)el_insertstr(editor, " ");
    return CC_REFRESH;
}

static bool
read_terminal_line(void *source, bool answer, struct text *line)
{
    struct terminal *terminal = source;
    const char *typed;
    int size = 0;

    terminal->asking = answer;
    typed = el_gets(terminal->editor, &size);
    if (typed == NULL || size <= 0)
        return false;
    if (!answer && typed[0] != '\n')
        (void)history(terminal->history, &terminal->event, H_ENTER, typed);
    text_add(line, typed, (size_t)size);
    return true;
}

static bool
terminal_open(struct terminal *terminal, struct session *session)
{
    const char *home = getenv("HOME");

    memset(terminal, 0, sizeof(*terminal));
    feed_init(&terminal->feed, session, read_terminal_line, terminal);
    terminal->editor = el_init("kv-shell", stdin, stdout, stderr);
    terminal->history = history_init();
    if (terminal->editor == NULL || terminal->history == NULL)
        return false;
    (void)history(terminal->history, &terminal->event, H_SETSIZE, HISTORY_LINES);
    (void)history(terminal->history, &terminal->event, H_SETUNIQUE, 1);
    if (home != NULL && strlen(home) < sizeof(terminal->history_file) - 32)
        (void)snprintf(terminal->history_file, sizeof(terminal->history_file), "%s/.petal_history",
                       home);
    if (terminal->history_file[0] != '\0')
        (void)history(terminal->history, &terminal->event, H_LOAD, terminal->history_file);
    (void)el_set(terminal->editor, EL_CLIENTDATA, terminal);
    (void)el_set(terminal->editor, EL_PROMPT, show_prompt);
    (void)el_set(terminal->editor, EL_EDITOR, "emacs");
    (void)el_set(terminal->editor, EL_SIGNAL, 1);
    (void)el_set(terminal->editor, EL_HIST, history, terminal->history);
    (void)el_set(terminal->editor, EL_ADDFN, "complete", "Complete a command", complete_command);
    (void)el_set(terminal->editor, EL_BIND, "^I", "complete", NULL);
    (void)el_source(terminal->editor, NULL);
    return true;
}

static void
terminal_close(struct terminal *terminal)
{
    feed_finish(&terminal->feed);
    if (terminal->history != NULL && terminal->history_file[0] != '\0')
        (void)history(terminal->history, &terminal->event, H_SAVE, terminal->history_file);
    if (terminal->history != NULL)
        history_end(terminal->history);
    if (terminal->editor != NULL)
        el_end(terminal->editor);
}

void
input_run_terminal(struct session *session)
{
    struct terminal terminal;

    if (!terminal_open(&terminal, session)) {
        terminal_close(&terminal);
        input_run_stream(session, stdin);
        return;
    }
    output_plain(&session->output, "Petal shell. help lists the commands, exit or Ctrl-D ends.");
    feed_lines(&terminal.feed);
    if (!session->ended)
        output_plain(&session->output, "%s", "");
    terminal_close(&terminal);
}
