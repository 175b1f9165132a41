/* input.c -- see tools/shell/terminal/input.h. */
#include "tools/shell/terminal/input.h"

#include "tools/shell/ruby/ruby.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/terminal/history.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

enum { SESSION_LINES = 1000 }; /* to go back to, where no file keeps them */
enum { PASTE_MILLISECONDS = 50 };

/* Lines on their way to Ruby. */
struct feed {
    struct session *session;
    struct text input; /* lines, each with its end, that are no whole input yet */
    /* Reads a line, with or without its line end; false when there are no more.  `answer`: to a
     * command's question. */
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

/* A command asks: the line after its own answers. */
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
    ruby_open(session);
    session->read_answer = feed_answer;
    session->answer_context = feed;
}

/* False: it has a syntax error. */
static bool
run_input(struct feed *feed)
{
    bool whole = ruby_run(feed->session, text_slice(&feed->input), feed->input_line);

    text_clear(&feed->input);
    feed->input_line = feed->line;
    return whole;
}

/* Lines that were pasted together come at once, or one shortly after the other. */
static bool
drop_waiting_lines(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    bool dropped = false;

    while (poll(&input, 1, PASTE_MILLISECONDS) > 0 && input.revents == POLLIN &&
           tcflush(STDIN_FILENO, TCIFLUSH) == 0)
        dropped = true;
    return dropped;
}

void
input_leave_rest(struct session *session)
{
    if (session->ended || (session->conversation && !drop_waiting_lines()))
        return;
    session->ended = !session->conversation;
    (void)fputs("kv-shell: what follows is not run: it may belong to the lines that have this "
                "mistake\n",
                stderr);
}

/* Add a line; run the input when it is whole. */
static void
feed_line(struct feed *feed, struct text *line)
{
    bool several;

    drop_line_end(line);
    if (feed->line == 1)
        text_drop_byte_order_mark(line);
    if (feed->session->echo_input)
        output_plain(&feed->session->output, "petal%c %.*s", feed->input.size > 0 ? '*' : '>',
                     (int)line->size, text_string(line));
    text_add_slice(&feed->input, text_slice(line));
    text_add_string(&feed->input, "\n");
    feed->line++;
    if (ruby_wants_more(feed->session, text_slice(&feed->input)))
        return;
    several = feed->line - feed->input_line > 1;
    if (!run_input(feed) && several)
        input_leave_rest(feed->session);
}

/* The lines have ended; false: inside an input. */
static bool
feed_finish(struct feed *feed)
{
    bool whole = true;

    if (feed->input.size > 0 && !feed->session->ended && !interrupt_pending())
        whole = run_input(feed);
    text_free(&feed->input);
    feed->session->read_answer = NULL;
    return whole;
}

static void
feed_lines(struct feed *feed)
{
    struct text line = {0};

    while (!feed->session->ended && feed->read_line(feed->source, false, &line)) {
        /* In a conversation a signal is for what runs, and nothing did: libedit may send it
         * twice. */
        if (interrupt_pending() && !feed->session->conversation)
            break;
        interrupt_clear();
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
    ssize_t size;

    (void)answer;
    interrupt_ends_process(true);
    errno = 0;
    size = getline(&bytes, &capacity, stream);
    interrupt_ends_process(false);
    if (size >= 0)
        text_add(line, bytes, (size_t)size);
    free(bytes);
    return size >= 0;
}

/* The source points to the rest of the text.  A question after its last line is for standard
 * input. */
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

bool
input_run_text(struct session *session, const char *text)
{
    struct feed feed;

    feed_init(&feed, session, read_text_line, &text);
    feed_lines(&feed);
    return feed_finish(&feed);
}

static bool
read_script_line(void *source, bool answer, struct text *line)
{
    return read_stream_line(answer ? stdin : source, answer, line);
}

static void
run_stream(struct session *session, FILE *stream,
           bool (*read_line)(void *source, bool answer, struct text *line))
{
    struct feed feed;

    feed_init(&feed, session, read_line, stream);
    feed_lines(&feed);
    if (ferror(stream)) {
        const char *reason = errno != 0 ? strerror(errno) : "the input broke off";

        (void)fprintf(stderr, "kv-shell: reading the commands failed: %s\n", reason);
        session->worst = SHELL_DATA;
        session->failed = true;
    }
    (void)feed_finish(&feed);
}

void
input_run_stream(struct session *session, FILE *stream)
{
    run_stream(session, stream, read_stream_line);
}

void
input_run_script(struct session *session, FILE *stream)
{
    run_stream(session, stream, read_script_line);
}

/* ---- Terminal -------------------------------------------------------------------------------- */

struct terminal {
    struct feed feed;
    EditLine *editor;
    History *history;
    HistEvent event;
    struct line_history lines;
    char prompt[32];
    bool asking; /* a command's question is on the screen */
    locale_t characters;
};

/*
 * What is typed is UTF-8, whatever the environment says.  The editor, which works with wide
 * characters, learns it from the thread's locale, which is that of C for all else: regular
 * expressions are of bytes.
 */
static locale_t
begin_characters(const struct terminal *terminal)
{
    return terminal->characters != (locale_t)0 ? uselocale(terminal->characters) : (locale_t)0;
}

static void
end_characters(locale_t before)
{
    if (before != (locale_t)0)
        (void)uselocale(before);
}

/* petal:001:0> with the line's number and the depth of open brackets; * for > inside an input. */
static char *
show_prompt(EditLine *editor)
{
    struct terminal *terminal;
    bool begins;

    (void)el_get(editor, EL_CLIENTDATA, &terminal);
    begins = terminal->feed.input.size == 0;
    if (terminal->asking)
        return strcpy(terminal->prompt, "");
    (void)snprintf(terminal->prompt, sizeof(terminal->prompt), "petal:%03u:%d%c ",
                   terminal->feed.line, begins ? 0 : ruby_depth(terminal->feed.session),
                   begins ? '>' : '*');
    return terminal->prompt;
}

/* Tab: type on as far as all words agree; if they part here, show them below the line. */
static unsigned char
complete(EditLine *editor, int key)
{
    const LineInfo *info = el_line(editor);
    struct text line = {0}, insert = {0}, words = {0};
    unsigned char answer = CC_REFRESH_BEEP;
    struct terminal *terminal;
    int width = 0;

    (void)key;
    (void)el_get(editor, EL_CLIENTDATA, &terminal);
    if (terminal->asking)
        return CC_REFRESH_BEEP;
    if (el_get(terminal->editor, EL_GETTC, "co", &width) != 0 || width <= 0)
        width = 80;
    text_add_slice(&line, text_slice(&terminal->feed.input));
    text_add(&line, info->buffer, (size_t)(info->cursor - info->buffer));
    ruby_complete(terminal->feed.session, text_slice(&line), (size_t)width, &insert, &words);
    if (insert.size > 0 && el_insertstr(editor, text_string(&insert)) == 0)
        answer = CC_REFRESH;
    if (words.size > 0) {
        (void)printf("\n%s", text_string(&words));
        (void)fflush(stdout);
        answer = CC_REDISPLAY;
    }
    text_free(&line);
    text_free(&insert);
    text_free(&words);
    return answer;
}

/* libedit takes a signal first, and sends it once more for us. */
static bool
signal_waits(void)
{
    sigset_t waiting;

    return sigpending(&waiting) == 0 && sigismember(&waiting, SIGINT) == 1;
}

/*
 * The next key. A signal is let in while this waits for one, and at no other time while a line is
 * read: one that came between a look at the flag and a blocking read would be seen with the next
 * key only.
 */
static int
read_key(EditLine *editor, wchar_t *key)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    mbstate_t state = {0};
    sigset_t before;
    char byte;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &before);
    (void)sigdelset(&before, SIGINT);
    for (;;) {
        size_t used;

        if (ppoll(&input, 1, NULL, &before) < 0) {
            if (interrupt_pending() || errno != EINTR)
                return -1;
            if (!signal_waits()) /* back from a stop, or another width */
                (void)el_set(editor, EL_REFRESH);
            continue;
        }
        if (read(STDIN_FILENO, &byte, 1) != 1)
            return 0;
        used = mbrtowc(key, &byte, 1, &state);
        if (used == (size_t)-1)
            state = (mbstate_t){0}; /* no character: left out */
        else if (used != (size_t)-2)
            return 1;
    }
}

/* A line, NULL at the end of the input or when a signal came. */
static const char *
read_typed(struct terminal *terminal, int *size)
{
    locale_t before = begin_characters(terminal);
    const char *typed;

    interrupt_hold(true);
    typed = el_gets(terminal->editor, size);
    interrupt_hold(false);
    end_characters(before);
    return typed;
}

/* Ctrl-C takes away what was typed of the input. */
static void
begin_anew(struct terminal *terminal)
{
    struct feed *feed = &terminal->feed;

    interrupt_clear();
    (void)fputs("^C\n", stdout);
    (void)fflush(stdout);
    if (terminal->asking)
        return;
    text_clear(&feed->input);
    feed->input_line = feed->line;
}

static bool
read_terminal_line(void *source, bool answer, struct text *line)
{
    struct terminal *terminal = source;
    const char *typed;
    int size = 0;

    terminal->asking = answer;
    typed = read_typed(terminal, &size);
    while (typed == NULL && interrupt_pending()) {
        begin_anew(terminal);
        if (answer)
            return false;
        typed = read_typed(terminal, &size);
    }
    if (typed == NULL || size <= 0)
        return false;
    if (!answer && typed[0] != '\n') {
        (void)history(terminal->history, &terminal->event, H_ENTER, typed);
        line_history_add(&terminal->lines, typed);
    }
    text_add(line, typed, (size_t)size);
    return true;
}

static void
add_history(void *context, const char *line)
{
    struct terminal *terminal = context;

    (void)history(terminal->history, &terminal->event, H_ENTER, line);
}

static bool
terminal_open_editor(struct terminal *terminal, struct session *session)
{
    feed_init(&terminal->feed, session, read_terminal_line, terminal);
    terminal->editor = el_init("kv-shell", stdin, stdout, stderr);
    terminal->history = history_init();
    if (terminal->editor == NULL || terminal->history == NULL)
        return false;
    line_history_init(&terminal->lines);
    (void)history(terminal->history, &terminal->event, H_SETSIZE,
                  terminal->lines.greatest > 0 ? (int)terminal->lines.greatest : SESSION_LINES);
    (void)history(terminal->history, &terminal->event, H_SETUNIQUE, 1);
    line_history_load(&terminal->lines, add_history, terminal);
    (void)el_set(terminal->editor, EL_CLIENTDATA, terminal);
    (void)el_set(terminal->editor, EL_PROMPT, show_prompt);
    (void)el_set(terminal->editor, EL_EDITOR, "emacs");
    (void)el_set(terminal->editor, EL_SIGNAL, 1);
    (void)el_set(terminal->editor, EL_GETCFN, read_key);
    (void)el_set(terminal->editor, EL_HIST, history, terminal->history);
    /* The narrow call would copy both and never free them. */
    (void)el_wset(terminal->editor, EL_ADDFN, L"complete", L"Complete the word", complete);
    (void)el_set(terminal->editor, EL_BIND, "^I", "complete", NULL);
    (void)el_source(terminal->editor, NULL);
    return true;
}

static bool
terminal_open(struct terminal *terminal, struct session *session)
{
    locale_t before;
    bool opened;

    memset(terminal, 0, sizeof(*terminal));
    terminal->characters = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    before = begin_characters(terminal);
    opened = terminal_open_editor(terminal, session);
    end_characters(before);
    return opened;
}

static void
terminal_close(struct terminal *terminal)
{
    (void)feed_finish(&terminal->feed);
    if (terminal->history != NULL)
        history_end(terminal->history);
    if (terminal->editor != NULL)
        el_end(terminal->editor);
    if (terminal->characters != (locale_t)0)
        freelocale(terminal->characters);
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
    if (session->db == NULL)
        output_plain(&session->output,
                     "There is no database in %s yet: create 'table', 'family' makes it.",
                     session->directory);
    feed_lines(&terminal.feed);
    if (!session->ended)
        output_plain(&session->output, "%s", "");
    terminal_close(&terminal);
}
