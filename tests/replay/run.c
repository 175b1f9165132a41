/* run.c -- see tests/replay/run.h. */
#include "tests/replay/run.h"

#include "tools/shell/text/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { GREATEST_SECONDS = 120, CANNOT_START = 127 };

/* The names of the files in the run's directory. */
static const char script_name[] = "commands", output_name[] = "output", error_name[] = "errors";

static bool
fail(const struct recorded_session *session, const char *what)
{
    (void)fprintf(stderr, "%s: %s: %s\n", session->path, what, strerror(errno));
    return false;
}

static char *
path_in(const char *directory, const char *name)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = memory_allocate(size);

    (void)snprintf(path, size, "%s/%s", directory, name);
    return path;
}

static void
write_lines(FILE *file, const struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        (void)fprintf(file, "%s\n", lines->items[i]);
}

/* All that is typed.  A script's answers are not: its standard input is empty. */
static bool
write_script(const struct recorded_session *session, const char *directory)
{
    char *path = path_in(directory, script_name);
    FILE *file = fopen(path, "w");

    free(path);
    if (file == NULL)
        return false;
    for (size_t i = 0; i < session->count; i++) {
        write_lines(file, &session->commands[i].input);
        if (session->mode != MODE_SCRIPT)
            write_lines(file, &session->commands[i].answers);
    }
    return fclose(file) == 0;
}

/* ---- The child
 * ------------------------------------------------------------------------------------ */

/* A terminal that changes no byte.  *slave is its other end. */
static int
open_terminal(unsigned columns, int *slave)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios settings;
    char name[128];

    *slave = -1;
    if (master < 0)
        return -1;
    if (grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, name, sizeof(name)) == 0)
        *slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*slave < 0 || tcgetattr(*slave, &settings) != 0) {
        (void)close(master);
        return -1;
    }
    cfmakeraw(&settings);
    (void)tcsetattr(*slave, TCSANOW, &settings);
    (void)ioctl(*slave, TIOCSWINSZ, &size);
    return master;
}

/* In the child: calls that are safe after fork in a program with threads only.  `output` -1: a
 * file. */
static void
run_child(const char *shell, const struct recorded_session *session, const char *directory,
          int output)
{
    const char *arguments[8] = {shell, "--echo", "--no-compaction", "--create", "db"};
    const char *input_name = session->mode == MODE_SCRIPT ? "/dev/null" : script_name;
    int input, errors;

    if (session->mode == MODE_SCRIPT || session->mode == MODE_PIPE_N) {
        arguments[4] = "-n";
        arguments[5] = "db";
        arguments[6] = session->mode == MODE_SCRIPT ? script_name : NULL;
    }
    if (chdir(directory) != 0)
        _exit(CANNOT_START);
    input = open(input_name, O_RDONLY);
    errors = open(error_name, O_WRONLY | O_CREAT, 0600);
    if (output < 0)
        output = open(output_name, O_WRONLY | O_CREAT, 0600);
    /* HBase's shell has its errors among its output, but in a stream of commands under -n. */
    if (session->mode == MODE_PIPE || session->mode == MODE_SCRIPT)
        errors = output;
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(errors, STDERR_FILENO) < 0)
        _exit(CANNOT_START);
    (void)alarm(GREATEST_SECONDS);
    (void)execv(shell, (char **)(uintptr_t)arguments);
    _exit(CANNOT_START);
}

/* What the program wrote to its terminal, until it ended. */
static void
read_terminal(int master, struct text *output)
{
    char buffer[4096];
    ssize_t size;

    while ((size = read(master, buffer, sizeof(buffer))) > 0 || (size < 0 && errno == EINTR))
        if (size > 0)
            text_add(output, buffer, (size_t)size);
}

/* Run the program; *output receives what it wrote. */
static bool
run_program(const char *shell, const struct recorded_session *session, const char *directory,
            struct text *output, int *exit_status)
{
    int master = -1, slave = -1, status;
    bool good = true;
    pid_t child;

    if (session->mode == MODE_TERMINAL && (master = open_terminal(session->columns, &slave)) < 0)
        return fail(session, "opening a terminal");
    child = fork();
    if (child == 0)
        run_child(shell, session, directory, slave);
    if (slave >= 0)
        (void)close(slave);
    if (child > 0 && master >= 0)
        read_terminal(master, output);
    if (master >= 0)
        (void)close(master);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return fail(session, "running kv-shell");
    *exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (*exit_status == CANNOT_START)
        return fail(session, "starting kv-shell");
    if (session->mode != MODE_TERMINAL) {
        char *path = path_in(directory, output_name);

        good = read_file(path, output) || fail(session, path);
        free(path);
    }
    return good;
}

/* ---- Its output
 * -------------------------------------------------------------------------------------- */

/* Output on its way to the commands. */
struct cutter {
    const char *at, *end;
    struct text *outputs;
    size_t command; /* whose output is at hand */
};

/* Find where the line of input is shown next, after any prompt.  False if it is nowhere. */
static bool
find_echo(const struct cutter *cutter, const char *line, const char **begin, size_t *size)
{
    static const char prompts[] = ">*?";
    struct text echo = {0};
    const char *best = NULL;

    for (size_t i = 0; i < sizeof(prompts) - 1; i++) {
        const char *found;

        text_clear(&echo);
        text_add_format(&echo, "petal%c %s\n", prompts[i], line);
        found = memmem(cutter->at, (size_t)(cutter->end - cutter->at), echo.bytes, echo.size);
        if (found != NULL && (best == NULL || found < best))
            best = found;
    }
    *begin = best;
    *size = echo.size;
    text_free(&echo);
    return best != NULL;
}

/* What stands before the lines of input belongs to the command at hand, what follows to
 * `command`. */
static void
cut(struct cutter *cutter, size_t command, const struct lines *input)
{
    for (size_t i = 0; i < input->count; i++) {
        const char *begin;
        size_t size;

        if (!find_echo(cutter, input->items[i], &begin, &size))
            continue;
        text_add(&cutter->outputs[cutter->command], cutter->at, (size_t)(begin - cutter->at));
        cutter->at = begin + size;
        cutter->command = command;
    }
}

static void
cut_output(const struct recorded_session *session, const struct text *output,
           struct session_run *run)
{
    struct cutter cutter = {.at = text_string(output), .end = text_string(output) + output->size};

    cutter.outputs = memory_allocate(session->count * sizeof(*cutter.outputs));
    memset(cutter.outputs, 0, session->count * sizeof(*cutter.outputs));
    for (size_t i = 0; i < session->count; i++) {
        cut(&cutter, i, &session->commands[i].input);
        if (session->mode != MODE_SCRIPT)
            cut(&cutter, i, &session->commands[i].answers);
    }
    text_add(&cutter.outputs[cutter.command], cutter.at, (size_t)(cutter.end - cutter.at));
    run->count = session->count;
    run->outputs = memory_allocate(run->count * sizeof(*run->outputs));
    memset(run->outputs, 0, run->count * sizeof(*run->outputs));
    for (size_t i = 0; i < run->count; i++) {
        lines_split(&run->outputs[i], text_slice(&cutter.outputs[i]));
        text_free(&cutter.outputs[i]);
    }
    free(cutter.outputs);
}

bool
run_session(const char *shell, const struct recorded_session *session, const char *directory,
            struct session_run *run)
{
    char *error_path = path_in(directory, error_name);
    struct text output = {0}, errors = {0};
    bool good;

    *run = (struct session_run){0};
    good = write_script(session, directory) || fail(session, directory);
    good = good && run_program(shell, session, directory, &output, &run->exit_status);
    if (good) {
        cut_output(session, &output, run);
        (void)read_file(error_path, &errors);
        lines_split(&run->errors, text_slice(&errors));
    }
    free(error_path);
    text_free(&errors);
    text_free(&output);
    return good;
}

void
run_free(struct session_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        lines_free(&run->outputs[i]);
    free(run->outputs);
    lines_free(&run->errors);
}
