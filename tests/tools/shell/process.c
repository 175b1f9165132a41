/* process.c -- see tests/tools/shell/process.h. */
#include "tests/tools/shell/process.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000, TEXT_BYTES = 4 << 20, ROWS = 40 };

/* What runs, until it was waited for; 0: nothing. */
static pid_t running;

const char *
shell_process_path(void)
{
    static char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 16);
    char *tests;

    assert_true(size > 0);
    path[size] = '\0';
    tests = strstr(path, "/tests/tools/shell/");
    assert_non_null(tests);
    *tests = '\0';
    return strcat(path, "/kv-shell");
}

/* In the child.  Whoever runs tests in the background has them ignore interrupts; a person's shell
 * does not. */
static void
become_shell(const char *path, char **arguments)
{
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGQUIT, SIG_DFL);
    (void)execv(path, arguments);
    _exit(127);
}

/* A test that failed left its shell after, which holds the database that the next one opens. */
static void
prepare(struct shell_process *shell)
{
    if (running > 0) {
        (void)kill(running, SIGKILL);
        (void)waitpid(running, NULL, 0);
        running = 0;
    }
    *shell = (struct shell_process){.text = test_allocate(TEXT_BYTES)};
    shell->text[0] = '\0';
}

void
shell_process_start(struct shell_process *shell, unsigned short columns, char **arguments)
{
    struct winsize size = {.ws_row = ROWS, .ws_col = columns};
    const char *path = shell_process_path();

    prepare(shell);
    shell->process = forkpty(&shell->output, NULL, NULL, &size);
    assert_true(shell->process >= 0);
    if (shell->process == 0)
        become_shell(path, arguments);
    running = shell->process;
    shell->input = shell->output;
}

void
shell_process_pipe(struct shell_process *shell, char **arguments)
{
    const char *path = shell_process_path();
    int ends[2];

    prepare(shell);
    assert_int_equal(pipe(ends), 0);
    shell->process = fork();
    assert_true(shell->process >= 0);
    if (shell->process == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        become_shell(path, arguments);
    }
    running = shell->process;
    (void)close(ends[1]);
    shell->output = shell->input = ends[0];
}

/* More of what it prints; false at its end.  Zeros are padding for slow terminals. */
static bool
read_some(struct shell_process *shell)
{
    struct pollfd output = {.fd = shell->output, .events = POLLIN};
    char bytes[4096];
    ssize_t size;

    assert_true(shell->size + sizeof(bytes) < TEXT_BYTES);
    if (poll(&output, 1, PATIENCE_MS) == 0) {
        (void)kill(shell->process, SIGKILL);
        fail_msg("nothing more comes behind: %s", shell->text + shell->from);
    }
    do {
        size = read(shell->output, bytes, sizeof(bytes));
    } while (size < 0 && errno == EINTR);
    for (ssize_t i = 0; i < size; i++)
        if (bytes[i] != '\0')
            shell->text[shell->size++] = bytes[i];
    shell->text[shell->size] = '\0';
    return size > 0; /* a terminal whose other end is gone fails */
}

void
shell_process_type(struct shell_process *shell, const char *letters)
{
    shell->from = shell->size;
    assert_int_equal(write(shell->input, letters, strlen(letters)), (ssize_t)strlen(letters));
}

void
shell_process_interrupt(struct shell_process *shell)
{
    shell->from = shell->size;
    assert_int_equal(kill(shell->process, SIGINT), 0);
}

int
shell_process_interrupt_to_end(struct shell_process *shell)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    int status;

    while (waitpid(shell->process, &status, WNOHANG) == 0) {
        (void)kill(shell->process, SIGINT);
        (void)nanosleep(&pause, NULL);
    }
    running = 0;
    (void)close(shell->output);
    return status;
}

void
shell_process_expect(struct shell_process *shell, const char *words)
{
    const char *found;

    while ((found = strstr(shell->text + shell->from, words)) == NULL)
        if (!read_some(shell))
            fail_msg("no '%s' in: %s", words, shell->text + shell->from);
    shell->from = (size_t)(found - shell->text) + strlen(words);
}

int
shell_process_wait(struct shell_process *shell)
{
    int status;

    while (read_some(shell))
        ;
    assert_int_equal(waitpid(shell->process, &status, 0), shell->process);
    running = 0;
    (void)close(shell->output);
    return status;
}

void
shell_process_free(struct shell_process *shell)
{
    free(shell->text);
}
