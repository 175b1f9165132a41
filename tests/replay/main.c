/*
 * main.c -- replays recorded HBase shell sessions through kv-shell and compares what is printed.
 *
 *     replay-shell [OPTION..] PATH..     files, or folders with *.session below, whose format
 *                                        tests/replay/sessions/README.md has
 *
 *     --verbose         deliberate differences, too
 *     --shell PROGRAM   instead of the kv-shell beside this program
 *     --rules FOLDER    of masks.txt, loose.txt and DIFFERENCES, instead of tests/replay/sessions
 *
 * Each session runs on a database of its own, several sessions at once.  Commands are compared one
 * by one, then the exit status and, where it was recorded, the first line of standard error.
 *
 * Exit status: 0 all equal but for deliberate differences; 1 others; 2 wrong usage, or something
 * that cannot be read or run.
 */
#include "tests/replay/rules.h"
#include "tests/replay/run.h"
#include "tests/support/test_support.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GREATEST_THREADS = 16 };

struct settings {
    bool verbose;
    char shell[PATH_MAX], rules[PATH_MAX];
};

struct result {
    struct text report;
    size_t commands, deliberate, others;
    bool broken; /* could not be read or run */
};

/* What the threads share. */
struct replay {
    const struct settings *settings;
    struct rules rules;
    struct lines paths;
    struct result *results; /* of each path; whoever takes the path writes it */
    _Atomic(size_t) next;
};

/* ---- Paths
 * -------------------------------------------------------------------------------------------- */

static bool
complain(const char *path, const char *what)
{
    (void)fprintf(stderr, "%s: %s\n", path, what);
    return false;
}

static bool
is_session(const char *name)
{
    size_t length = strlen(name);

    return length > 8 && strcmp(name + length - 8, ".session") == 0;
}

static int
is_wanted(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool
add_folder(struct lines *paths, const char *path)
{
    struct dirent **names = NULL;
    int count = scandir(path, &names, is_wanted, alphasort);
    bool good = count >= 0 || complain(path, strerror(errno));

    for (int i = 0; i < count; i++) {
        char *inner = test_path(path, names[i]->d_name);
        struct stat info;

        if (stat(inner, &info) != 0)
            good = complain(inner, strerror(errno));
        else if (S_ISDIR(info.st_mode))
            good = add_folder(paths, inner) && good;
        else if (is_session(inner))
            lines_add(paths, inner, strlen(inner));
        free(inner);
        free(names[i]);
    }
    free(names);
    return good;
}

static bool
add_path(struct lines *paths, const char *path)
{
    size_t before = paths->count;
    struct stat info;

    if (stat(path, &info) != 0)
        return complain(path, strerror(errno));
    if (!S_ISDIR(info.st_mode)) {
        if (!is_session(path))
            return complain(path, "no *.session file");
        lines_add(paths, path, strlen(path));
        return true;
    }
    return add_folder(paths, path) &&
           (paths->count > before || complain(path, "no *.session files in this folder"));
}

/* ---- One session
 * ----------------------------------------------------------------------------------------- */

static void
judge(struct replay *replay, struct comparison *comparison, size_t line, struct result *result)
{
    const struct difference_entry *entry;
    enum verdict verdict = compare(&replay->rules, comparison, &entry);

    result->deliberate += verdict == DELIBERATE;
    result->others += verdict == DIFFERENT;
    if (verdict == DIFFERENT || (verdict == DELIBERATE && replay->settings->verbose)) {
        text_add_format(&result->report, "%s:%zu: ", comparison->session->path, line);
        text_add_string(&result->report, comparison->command);
        if (entry != NULL)
            text_add_format(&result->report, "    (deliberate: %s)", entry->name);
        text_add_string(&result->report, "\n");
        add_difference(&result->report, &comparison->expected, &comparison->actual);
    }
    lines_free(&comparison->expected);
    lines_free(&comparison->actual);
}

static void
judge_command(struct replay *replay, const struct recorded_session *session, size_t index,
              const struct session_run *run, struct result *result)
{
    const struct recorded_command *recorded = &session->commands[index];
    struct comparison comparison = {.session = session};
    struct text command = {0};

    for (size_t i = 0; i < recorded->input.count; i++) {
        text_add_string(&command, i > 0 ? " " : "");
        text_add_string(&command, recorded->input.items[i]);
    }
    comparison.command = text_string(&command);
    lines_copy(&comparison.expected, &recorded->output);
    lines_copy(&comparison.actual, &run->outputs[index]);
    judge(replay, &comparison, recorded->line, result);
    text_free(&command);
}

/* The exit status, and the first line of standard error where it was recorded. */
static void
judge_end(struct replay *replay, const struct recorded_session *session,
          const struct session_run *run, struct result *result)
{
    struct comparison comparison = {.session = session, .command = "(exit status)"};
    struct text number = {0};

    text_add_format(&number, "%d", session->exit_status);
    lines_split(&comparison.expected, text_slice(&number));
    text_clear(&number);
    text_add_format(&number, "%d", run->exit_status);
    lines_split(&comparison.actual, text_slice(&number));
    text_free(&number);
    judge(replay, &comparison, 1, result);

    if (session->error_line == NULL)
        return;
    comparison.command = "(standard error)";
    lines_add(&comparison.expected, session->error_line, strlen(session->error_line));
    if (run->errors.count > 0)
        lines_add(&comparison.actual, run->errors.items[0], strlen(run->errors.items[0]));
    judge(replay, &comparison, 1, result);
}

static void
replay_session(struct replay *replay, const char *path, struct result *result)
{
    struct recorded_session session;
    struct session_run run = {0};
    char *directory = test_directory_new();

    result->broken = !session_read(path, &session) ||
                     !run_session(replay->settings->shell, &session, directory, &run);
    if (!result->broken) {
        for (size_t i = 0; i < session.count; i++)
            judge_command(replay, &session, i, &run, result);
        judge_end(replay, &session, &run, result);
        result->commands = session.count;
    }
    run_free(&run);
    session_free(&session);
    test_directory_free(directory);
}

static void *
run_thread(void *context)
{
    struct replay *replay = context;
    size_t index;

    while ((index = atomic_fetch_add(&replay->next, 1)) < replay->paths.count)
        replay_session(replay, replay->paths.items[index], &replay->results[index]);
    return NULL;
}

/* ---- All of them
 * --------------------------------------------------------------------------------------- */

static void
run_threads(struct replay *replay)
{
    pthread_t threads[GREATEST_THREADS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = processors < 1                  ? 1
                    : processors > GREATEST_THREADS ? GREATEST_THREADS
                                                    : (size_t)processors;
    size_t started = 0;

    while (started + 1 < wanted && pthread_create(&threads[started], NULL, run_thread, replay) == 0)
        started++;
    (void)run_thread(replay);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
}

static int
print_results(const struct replay *replay)
{
    struct result sum = {.broken = false};

    for (size_t i = 0; i < replay->paths.count; i++) {
        const struct result *result = &replay->results[i];

        (void)fputs(text_string(&result->report), stdout);
        sum.commands += result->commands;
        sum.deliberate += result->deliberate;
        sum.others += result->others;
        sum.broken = sum.broken || result->broken;
    }
    for (size_t i = 0; i < replay->rules.entry_count; i++)
        if (!replay->rules.entries[i].used)
            (void)printf("DIFFERENCES:%zu: not used: %s\n", replay->rules.entries[i].line,
                         replay->rules.entries[i].name);
    (void)printf("%zu sessions, %zu commands, %zu differences: %zu deliberate, %zu others\n",
                 replay->paths.count, sum.commands, sum.deliberate + sum.others, sum.deliberate,
                 sum.others);
    return sum.broken ? 2 : sum.others > 0 ? 1 : 0;
}

static int
run(const struct settings *settings, char **paths)
{
    struct replay replay = {.settings = settings};
    bool good = rules_read(settings->rules, &replay.rules);
    int status = 2;

    for (; *paths != NULL; paths++)
        good = add_path(&replay.paths, *paths) && good;
    if (good) {
        replay.results = test_allocate(replay.paths.count * sizeof(*replay.results));
        memset(replay.results, 0, replay.paths.count * sizeof(*replay.results));
        run_threads(&replay);
        status = print_results(&replay);
        for (size_t i = 0; i < replay.paths.count; i++)
            text_free(&replay.results[i].report);
        free(replay.results);
    }
    lines_free(&replay.paths);
    rules_free(&replay.rules);
    return status;
}

/* ---- The command line
 * -------------------------------------------------------------------------------------- */

static int
usage(void)
{
    (void)fputs("usage: replay-shell [--verbose] [--shell PROGRAM] [--rules FOLDER] PATH..\n",
                stderr);
    return 2;
}

/* The kv-shell beside this program, and the rules in the folder above: where the Makefile puts
 * it. */
static void
set_defaults(struct settings *settings)
{
    char path[PATH_MAX - 32];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    path[length > 0 ? length : 0] = '\0';
    if (strrchr(path, '/') != NULL)
        *strrchr(path, '/') = '\0';
    (void)snprintf(settings->shell, sizeof(settings->shell), "%s/kv-shell", path);
    (void)snprintf(settings->rules, sizeof(settings->rules), "tests/replay/sessions");
    for (int i = 0; i < 3 && access(settings->rules, R_OK) != 0 && strrchr(path, '/') != NULL;
         i++) {
        *strrchr(path, '/') = '\0';
        (void)snprintf(settings->rules, sizeof(settings->rules), "%s/tests/replay/sessions", path);
    }
}

int
main(int argument_count, char **arguments)
{
    static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
                                            {"shell", required_argument, NULL, 's'},
                                            {"rules", required_argument, NULL, 'r'},
                                            {NULL, 0, NULL, 0}};
    struct settings settings = {.verbose = false};
    int option;

    set_defaults(&settings);
    while ((option = getopt_long(argument_count, arguments, "", options, NULL)) != -1) {
        if (option == '?')
            return usage();
        settings.verbose = settings.verbose || option == 'v';
        if (option == 's' && realpath(optarg, settings.shell) == NULL)
            return complain(optarg, strerror(errno)) ? 0 : 2;
        if (option == 'r')
            (void)snprintf(settings.rules, sizeof(settings.rules), "%s", optarg);
    }
    if (optind == argument_count)
        return usage();
    (void)setenv("TZ", "UTC", 1);
    return run(&settings, arguments + optind);
}
