/*
 * main.c -- runs recorded HBase cases against Petal's public interface and compares the answers.
 *
 *     conformance [OPTION..] PATH..      files, or folders with *.txt below, whose format
 *                                       tests/conformance/README.md has
 *
 *     --verbose             all differences, with whole answers
 *     --case NAME           run this case only, and print each operation with both answers
 *     --list                print the cases, run nothing
 *     --parse-only          read the files, run nothing
 *     --bloom KIND          NONE, ROW, ROWCOL, ROW_ROWCOL or ROWPREFIX for all families: no answer
 *                           may change
 *     --regions             split and merge the regions of the tables between the operations: the
 *                           same; PETAL_SEED says where
 *     --differences FILE    the list of deliberate differences, instead of
 *                           tests/conformance/DIFFERENCES
 *
 * Exit status: 0 all answers equal but for deliberate differences; 1 others; 2 malformed input or
 * wrong usage, nothing is run then.
 */
#include "tests/conformance/files.h"
#include "tests/conformance/history.h"
#include "tests/conformance/regions.h"
#include "tests/conformance/report.h"
#include "tests/conformance/store.h"
#include "tests/conformance/ties.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define PREFIX_BYTES 2 /* of --bloom ROWPREFIX, for families that have no length of their own */

struct settings {
    bool verbose, list, parse_only, regions;
    const char *only_case;
    enum petal_bloom_type bloom; /* 0: that of the families */
    const char *differences;
};

/* ---- names ---- */

struct seen_case {
    petal_slice name; /* in the file's bytes */
    const char *path;
    size_t line;
};

struct seen_cases {
    struct seen_case *cases;
    size_t count;
};

static int
compare_seen(const void *a, const void *b)
{
    const struct seen_case *left = a, *right = b;

    return slice_compare(left->name, right->name);
}

static bool
names_are_unique(struct seen_cases *seen)
{
    bool unique = true;

    if (seen->count > 0)
        qsort(seen->cases, seen->count, sizeof *seen->cases, compare_seen);
    for (size_t i = 1; i < seen->count; i++) {
        const struct seen_case *first = &seen->cases[i - 1], *second = &seen->cases[i];

        if (compare_seen(first, second) != 0)
            continue;
        unique = false;
        fprintf(stderr, "%s:%zu: the case %.*s is in %s:%zu, too\n", second->path, second->line,
                (int)second->name.size, (const char *)second->name.data, first->path, first->line);
    }
    return unique;
}

/* ---- reading all files first ---- */

static bool
is_case(const struct recorded_case *recorded, const char *name)
{
    return name == NULL || slice_is(recorded->name, name);
}

/* Read the file's cases, count them, run none. */
static bool
check_file(const struct settings *settings, const struct case_file *file, struct report *report,
           struct seen_cases *seen)
{
    struct arena arena = {NULL};
    struct reader reader;
    struct recorded_case recorded;

    reader_init(&reader, file->path, file->bytes, &arena);
    while (case_read(&reader, &recorded)) {
        seen->cases = test_reallocate(seen->cases, (seen->count + 1) * sizeof *seen->cases);
        seen->cases[seen->count++] = (struct seen_case){recorded.name, file->path, recorded.line};
        if (is_case(&recorded, settings->only_case)) {
            if (settings->list)
                printf("%s:%zu: %.*s, %zu operations\n", file->path, recorded.line,
                       (int)recorded.name.size, (const char *)recorded.name.data,
                       recorded.step_count);
            report_begin_case(report, file->path, &recorded);
            report->groups[report->at].answers += recorded.step_count;
        }
        arena_clear(&arena);
    }
    if (reader.failed)
        fprintf(stderr, "%s:%zu: %s\n", file->path, reader.error_line, reader.error);
    reader_fini(&reader);
    arena_clear(&arena);
    return !reader.failed;
}

/* Read all; with --list or --parse-only, say what was read.  *matching counts the cases that are to
 * run. */
static bool
check_files(const struct settings *settings, const struct case_files *files, uint64_t *matching)
{
    struct report report = {.verbose = false};
    struct seen_cases seen = {NULL, 0};
    bool fine = true;

    *matching = 0;
    for (size_t i = 0; i < files->count; i++)
        fine = check_file(settings, &files->files[i], &report, &seen) && fine;
    fine = names_are_unique(&seen) && fine;
    for (size_t i = 0; i < report.group_count; i++)
        *matching += report.groups[i].cases;
    if (fine && settings->parse_only)
        report_finish(&report, true);
    free(seen.cases);
    report_fini(&report);
    return fine;
}

/* ---- running ---- */

/* What is being run, for the last words of a program that dies in it. */
static char running[PATH_MAX + 200];

static void
last_words(int number)
{
    ssize_t ignored = write(STDERR_FILENO, running, strlen(running));

    (void)ignored;
    signal(number, SIG_DFL);
    raise(number);
}

static void
watch_for_death(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], last_words);
}

static void
override_bloom(struct recorded_case *recorded, enum petal_bloom_type bloom)
{
    for (size_t i = 0; bloom != PETAL_BLOOM_DEFAULT && i < recorded->family_count; i++) {
        petal_family_options *family = &recorded->families[i];

        family->bloom = bloom;
        if (bloom != PETAL_BLOOM_ROW_PREFIX)
            family->bloom_prefix_bytes = 0;
        else if (family->bloom_prefix_bytes == 0)
            family->bloom_prefix_bytes = PREFIX_BYTES;
    }
}

/* Whether the operation's line holds a word, in upper or lower case. */
static bool
line_has(const struct recorded_step *step, const char *word)
{
    petal_slice line = step->operation.text;
    size_t length = strlen(word);

    for (size_t at = 0; at + length <= line.size; at++) {
        if (strncasecmp((const char *)line.data + at, word, length) == 0)
            return true;
    }
    return false;
}

static bool
names_columns(const struct recorded_read *read)
{
    for (size_t i = 0; i < read->column_count; i++) {
        if (!read->columns[i].whole_family)
            return true;
    }
    return false;
}

/* Whether a read's filter is one with which HBase is known to answer wrongly. */
static bool
filter_explains(enum difference_rule rule, const struct recorded_step *step)
{
    const struct recorded_read *read = &step->operation.read;

    if (rule == RULE_SKIP_RANGES)
        return line_has(step, "skip") && line_has(step, "MultiRowRangeFilter");
    if (rule == RULE_WHILE_RANGES)
        return read->reversed && line_has(step, "while") && line_has(step, "MultiRowRangeFilter");
    if (rule == RULE_DONE_BRANCH)
        return (line_has(step, "or(") || line_has(step, " or ")) &&
               line_has(step, "DependentColumnFilter");
    return step->operation.kind == OPERATION_SCAN && line_has(step, "while") &&
           read->start.size == 0 && names_columns(read);
}

/* The entry of the list that allows the answer, NULL if none does. */
static const struct listed_difference *
find_entry(const struct difference_list *list, const struct recorded_case *recorded,
           struct tie_ledger *ties, const struct history *history, const struct recorded_step *step,
           const struct answer *actual)
{
    const struct listed_difference *entry =
        difference_list_find(list, RULE_EQUAL_TIMESTAMPS, recorded);

    if (entry != NULL && ties_explain(ties, false, step, actual))
        return entry;
    entry = difference_list_find(list, RULE_EQUAL_INSIDE, recorded);
    if (entry != NULL && ties_explain(ties, true, step, actual))
        return entry;
    if (step->answer.kind == ANSWER_BATCH && answer_lists_error(&step->answer) &&
        actual->kind != ANSWER_FAILED)
        return difference_list_find(list, RULE_BATCH_ERROR, recorded);
    for (enum difference_rule rule = RULE_SKIP_RANGES; rule < RULES; rule++) {
        entry = difference_list_find(list, rule, recorded);
        if (entry != NULL &&
            (rule < RULE_KEPT_MARKER ? filter_explains(rule, step)
                                     : history_explains(history, rule, step, actual)))
            return entry;
    }
    return NULL;
}

/* Change regions before the operation. */
static void
change_regions(struct region_changes *changes, struct store *store,
               const struct recorded_case *recorded, size_t index, struct report *report)
{
    petal_error error;

    if (region_changes_make(changes, store, recorded, index, &error) != PETAL_OK)
        report_trouble(report, "regions cannot be split or merged", error.text);
}

/* `changes` NULL: the table keeps its one region. */
static void
run_steps(const struct settings *settings, struct store *store, const struct difference_list *list,
          struct recorded_case *recorded, struct region_changes *changes, struct arena *arena,
          struct report *report)
{
    struct tie_ledger ties = {.arena = arena};
    struct history history = {.arena = arena, .recorded = recorded};

    for (size_t i = 0; i < recorded->step_count; i++) {
        const struct recorded_step *step = &recorded->steps[i];
        struct arena answer_arena = {NULL};
        struct answer actual;

        snprintf(running, sizeof running, "\nwhile running %s:%zu, case %.*s\n", report->path,
                 step->operation.line, (int)(recorded->name.size < 100 ? recorded->name.size : 100),
                 (const char *)recorded->name.data);
        if (changes != NULL)
            change_regions(changes, store, recorded, i, report);
        store_run(store, &step->operation, &answer_arena, &actual);
        if (settings->only_case != NULL)
            report_step(report, step, &actual);
        ties_note(&ties, step);
        history_note(&history, step);
        if (answer_equal(&step->answer, &actual))
            report_equal(report);
        else
            report_difference(report, step, &actual,
                              find_entry(list, recorded, &ties, &history, step, &actual));
        arena_clear(&answer_arena);
    }
}

static void
run_case(const struct settings *settings, const struct difference_list *list, const char *path,
         struct recorded_case *recorded, struct region_changes *changes, struct arena *arena,
         struct report *report)
{
    struct store store;
    petal_error error = {.status = PETAL_OK};
    enum petal_status status;

    report_begin_case(report, path, recorded);
    override_bloom(recorded, settings->bloom);
    snprintf(running, sizeof running, "\nwhile beginning %s:%zu\n", path, recorded->line);
    status = store_init(&store, recorded, &error);
    if (status == PETAL_OK)
        run_steps(settings, &store, list, recorded, changes, arena, report);
    else
        report_trouble(report, "the table cannot be made", error.text);
    status = store_fini(&store, &error);
    if (status != PETAL_OK)
        report_trouble(report, "the database cannot be closed", error.text);
    report_end_case(report);
}

static uint64_t
run_files(const struct settings *settings, const struct case_files *files,
          const struct difference_list *list)
{
    struct report report = {.verbose = settings->verbose};
    struct region_changes changes = {.tell = settings->only_case != NULL};
    uint64_t unlisted;

    if (settings->regions)
        changes.seed = test_seed();
    watch_for_death();
    for (size_t i = 0; i < files->count; i++) {
        struct arena arena = {NULL};
        struct reader reader;
        struct recorded_case recorded;

        reader_init(&reader, files->files[i].path, files->files[i].bytes, &arena);
        while (case_read(&reader, &recorded)) {
            if (is_case(&recorded, settings->only_case))
                run_case(settings, list, files->files[i].path, &recorded,
                         settings->regions ? &changes : NULL, &arena, &report);
            arena_clear(&arena);
        }
        reader_fini(&reader);
        arena_clear(&arena);
    }
    unlisted = report_finish(&report, false);
    if (settings->regions)
        test_counted("%" PRIu64 " splits and %" PRIu64 " merges of regions between operations",
                     changes.splits, changes.merges);
    report_fini(&report);
    return unlisted;
}

/* ---- the list of differences ---- */

/* From the root of the repository, or beside the folder of the program. */
static bool
find_differences(char path[PATH_MAX + 64])
{
    static const char name[] = "tests/conformance/DIFFERENCES";
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

    if (length > 0) {
        path[length] = 0;
        for (int i = 0; i < 2 && strrchr(path, '/') != NULL; i++)
            *strrchr(path, '/') = 0;
        strcat(path, "/");
        strcat(path, name);
        if (access(path, R_OK) == 0)
            return true;
    }
    strcpy(path, name);
    return access(path, R_OK) == 0;
}

static bool
load_differences(const struct settings *settings, struct difference_list *list)
{
    char found[PATH_MAX + 64], error[200];
    const char *path = settings->differences;
    petal_slice text;
    bool fine;

    *list = (struct difference_list){.count = 0};
    if (path == NULL) {
        path = found;
        if (!find_differences(found)) {
            fprintf(stderr, "no list of deliberate differences found: no difference is allowed\n");
            return true;
        }
    }
    if (!read_whole_file(path, &text)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    fine = difference_list_read(list, text, error, sizeof error);
    if (!fine)
        fprintf(stderr, "%s: %s\n", path, error);
    free((void *)(uintptr_t)text.data);
    return fine;
}

/* ---- the command line ---- */

static int
usage(const char *what, const char *which)
{
    fprintf(stderr,
            "conformance: %s%s\n"
            "usage: conformance [--verbose] [--case NAME] [--list] [--parse-only] [--bloom KIND]\n"
            "                   [--regions] [--differences FILE] PATH..\n",
            what, which);
    return 2;
}

static bool
set_bloom(struct settings *settings, const char *kind)
{
    static const struct {
        const char *name;
        enum petal_bloom_type bloom;
    } kinds[] = {{"NONE", PETAL_BLOOM_NONE},
                 {"ROW", PETAL_BLOOM_ROW},
                 {"ROWCOL", PETAL_BLOOM_ROWCOL},
                 {"ROW_ROWCOL", PETAL_BLOOM_ROW_ROWCOL},
                 {"ROWPREFIX", PETAL_BLOOM_ROW_PREFIX},
                 {"ROWPREFIX_FIXED_LENGTH", PETAL_BLOOM_ROW_PREFIX}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, kind) == 0)
            settings->bloom = kinds[i].bloom;
    }
    return settings->bloom != PETAL_BLOOM_DEFAULT;
}

/* 0, or the exit status. */
static int
read_options(int count, char **arguments, struct settings *settings)
{
    static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
                                            {"case", required_argument, NULL, 'c'},
                                            {"list", no_argument, NULL, 'l'},
                                            {"parse-only", no_argument, NULL, 'p'},
                                            {"bloom", required_argument, NULL, 'b'},
                                            {"regions", no_argument, NULL, 'r'},
                                            {"differences", required_argument, NULL, 'd'},
                                            {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        settings->verbose = settings->verbose || option == 'v';
        settings->list = settings->list || option == 'l';
        settings->parse_only = settings->parse_only || option == 'p';
        settings->regions = settings->regions || option == 'r';
        if (option == 'c')
            settings->only_case = optarg;
        else if (option == 'd')
            settings->differences = optarg;
        else if (option == 'b' && !set_bloom(settings, optarg))
            return usage("no such kind of filter: ", optarg);
        else if (option == '?')
            return usage("these options cannot be used so", "");
    }
    return optind == count ? usage("no file or folder is given", "") : 0;
}

/* The exit status. */
static int
run(const struct settings *settings, struct case_files *files, char **paths)
{
    struct difference_list list;
    bool fine = true;
    uint64_t matching, unlisted;

    for (; *paths != NULL; paths++)
        fine = case_files_add(files, *paths) && fine;
    if (!check_files(settings, files, &matching) || !fine)
        return 2;
    if (matching == 0 && settings->only_case != NULL)
        return usage("no such case: ", settings->only_case);
    if (settings->list || settings->parse_only)
        return 0;
    if (!load_differences(settings, &list)) {
        difference_list_fini(&list);
        return 2;
    }
    unlisted = run_files(settings, files, &list);
    difference_list_fini(&list);
    return unlisted > 0 ? 1 : 0;
}

int
main(int argument_count, char **arguments)
{
    struct settings settings = {.verbose = false};
    struct case_files files = {NULL, 0};
    int status = read_options(argument_count, arguments, &settings);

    if (status != 0)
        return status;
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was said is not lost if the library dies */
    status = run(&settings, &files, arguments + optind);
    case_files_fini(&files);
    return status;
}
