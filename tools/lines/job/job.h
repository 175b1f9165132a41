/*
 * job.h -- what all commands of kv-filter have in common: their options, what they say on standard
 * error, how far they are, and that Ctrl-C ends them.
 *
 * A function that fails says why, once, by job_fail, and returns false: whoever called it only has
 * to come to an end.
 *
 * Room job: it knows nothing of records.
 */
#ifndef PETAL_TOOLS_LINES_JOB_JOB_H
#define PETAL_TOOLS_LINES_JOB_JOB_H

#include "tools/command/command.h"
#include "tools/command/watch.h"

#include <stdint.h>

#define JOB_DEFAULT_MEMORY ((size_t)256 << 20)
#define JOB_MIN_MEMORY     ((size_t)1 << 20)

struct job {
    const struct command *command;
    size_t memory_bytes;   /* --memory: of the whole process, about */
    const char *temporary; /* --temporary: where files without names go */
    const char *output;    /* --output; NULL: the standard output */
    bool zero_terminated;  /* -z: records end with a zero byte, not with a newline */
    bool quiet;
    uint64_t salt; /* of the hashes of this run: at random, so that no input is made for it */
    struct watch watch;
    bool failed; /* it was said why */
};

/* Lines for --help, of the options that job_take_arguments adds. */
#define JOB_OPTIONS_HELP                                                                           \
    "  -z               records end with a zero byte, not with a newline\n"                        \
    "  --output FILE    written there, whole or not at all, not to the standard output\n"          \
    "  --memory SIZE    for the whole process, about (default 256M, at least 1M); a record has\n"  \
    "                   at most an eighth of it\n"                                                 \
    "  --temporary DIR  for what does not fit there (default $TMPDIR, or /tmp)\n"                  \
    "  --quiet          no progress on a terminal\n"

/* The work of a command, on its arguments that are no options. */
typedef bool (*job_work)(struct job *job, void *request, const char **places, size_t count);

/* Run a command that takes `least` to `most` arguments; returns its exit status. The options of all
 * jobs go with its own; "-" is an argument. Ctrl-C ends the job only where it asks job_go_on. */
int job_run(const struct command *command, int argc, char **argv, const struct command_option *own,
            size_t own_count, int least, int most, job_work work, void *request);

/* What the line of progress says from here on; `what` lives as long as the job. */
void job_phase(struct job *job, const char *what);

/* Is the job to go on? False after Ctrl-C, of which job_end tells. total 0: not known. */
bool job_go_on(struct job *job, uint64_t done, uint64_t total);

/* The same, where there is nothing to say of how far it is. */
bool job_is_interrupted(void);

/* Prints "kv-filter COMMAND: ...", unless the job has failed before. Always false. */
bool job_fail(struct job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same of what does not end the job. */
void job_warn(struct job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
