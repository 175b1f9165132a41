/*
 * process.h -- a kv-shell at work, on a pseudo terminal or in a pipe, and what it printed.
 *
 * A test types letters and waits for what they must bring about, however long that takes; a shell
 * that says nothing for a long while fails it.
 */
#ifndef PETAL_TESTS_TOOLS_SHELL_PROCESS_H
#define PETAL_TESTS_TOOLS_SHELL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct shell_process {
    pid_t process;
    int input, output;
    char *text;  /* all that it printed */
    size_t size; /* of it */
    size_t from; /* where the next words are looked for */
};

/* The program in the folder above that of the tests. */
const char *shell_process_path(void);

/* Run it with these arguments after its name, the last one NULL.  On a terminal, or with its
 * standard output and error in a pipe.  One runs at a time: an earlier one is killed. */
void shell_process_start(struct shell_process *shell, unsigned short columns, char **arguments);
void shell_process_pipe(struct shell_process *shell, char **arguments);

void shell_process_type(struct shell_process *shell, const char *letters);

/* Ctrl-C. The signal comes from here: that of a terminal throws away what is printed just then,
 * perhaps the answer to it. */
void shell_process_interrupt(struct shell_process *shell);

/* Send signals, with pauses, until it ends; the status. */
int shell_process_interrupt_to_end(struct shell_process *shell);

/* Read until the words stand after those found before, and what was there when letters were typed
 * last. */
void shell_process_expect(struct shell_process *shell, const char *words);

/* Read to its end; the status that waitpid gives.  The text stays until shell_process_free. */
int shell_process_wait(struct shell_process *shell);
void shell_process_free(struct shell_process *shell);

#endif
