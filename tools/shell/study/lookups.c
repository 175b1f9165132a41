/*
 * lookups.c -- kv-shell DIR lookups: what gets cost, measured beside what is to be expected.
 *
 * Each key of each list is read once, and the database's counters tell the work.  What is to be expected
 * is worked out from the data itself, not from the read under test: a first read of the whole row, with no
 * reason to skip a file but its row range, gives the cells' timestamps, and these tell which file holds which cell, for
 * the files of a family must have time ranges of their own (a table that was imported part by part has).  Then,
 * newest file first, a file whose row range holds the row costs
 *
 *     one data block        if its filter cannot say absent, or it holds what is asked;
 *     p data blocks         if its filter can, p being the rate it was built for, its share of the family's;
 *     nothing               once the one column that is asked has been found (unless that reason is not used).
 *
 * Which columns a file has recorded is not known here: when files were skipped for that, the expectation is an upper
 * bound, printed with <=.
 */
#include "tools/shell/data/query.h"
#include "tools/shell/files/intake.h"
#include "tools/shell/schema/attribute.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/text/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GREATEST_LISTS = 32, LEAST_FALSE_POSITIVES = 5 };

/* What the model knows of a store file. */
struct file_facts {
    struct text family, row_min, row_max;
    int64_t time_min, time_max;
    enum petal_bloom_type bloom;
    double error_rate;
    uint64_t filter_bytes;
};

struct lookups {
    struct session *session;
    const char *keys[GREATEST_LISTS]; /* NAME=FILE */
    size_t key_count;
    unsigned without; /* reasons not to be used */
    petal_table *table;
    struct file_facts *files; /* of the table, by family, the newest first */
    size_t file_count;
    bool times_overlap; /* then nothing can be expected */

    /* Sums over one list. */
    uint64_t lookups, found;
    double expected_blocks;
    double expected_false; /* the part of them that is for false positives .. */
    double could_deny;     /* .. of so many filters that could say absent */
    uint64_t
        row_only; /* files read for a row they hold without the column: no fault of a ROW filter */
};

static enum shell_status
fail(struct lookups *lookups, const petal_error *error)
{
    return session_fail_petal(lookups->session, error);
}

/* ---- Facts of the files ------------------------------------------------------------------------ */

static bool
add_file(void *argument, const petal_file_info *info)
{
    struct lookups *lookups = argument;
    struct file_facts *file;

    lookups->files =
        memory_grow(lookups->files, (lookups->file_count + 1) * sizeof(*lookups->files));
    file = &lookups->files[lookups->file_count++];
    *file = (struct file_facts){.time_min = info->time_min,
                                .time_max = info->time_max,
                                .bloom = info->bloom,
                                .error_rate = info->bloom_error_rate,
                                .filter_bytes = info->filter_bytes};
    text_add_slice(&file->family, info->family);
    text_add_slice(&file->row_min, info->row_min);
    text_add_slice(&file->row_max, info->row_max);
    return true;
}

static int
compare_files(const void *a, const void *b)
{
    const struct file_facts *left = a, *right = b;
    int order = slices_compare(text_slice(&left->family), text_slice(&right->family));

    if (order != 0)
        return order;
    return (left->time_max < right->time_max) - (left->time_max > right->time_max);
}

static void
forget_files(struct lookups *lookups)
{
    for (size_t i = 0; i < lookups->file_count; i++) {
        text_free(&lookups->files[i].family);
        text_free(&lookups->files[i].row_min);
        text_free(&lookups->files[i].row_max);
    }
    free(lookups->files);
    lookups->files = NULL;
    lookups->file_count = 0;
}

static enum shell_status
learn_files(struct lookups *lookups)
{
    petal_error error;

    forget_files(lookups);
    if (petal_table_files(lookups->table, add_file, lookups, &error) != PETAL_OK)
        return fail(lookups, &error);
    if (lookups->file_count > 0)
        qsort(lookups->files, lookups->file_count, sizeof(*lookups->files), compare_files);
    lookups->times_overlap = false;
    for (size_t i = 1; i < lookups->file_count; i++) {
        const struct file_facts *newer = &lookups->files[i - 1], *older = &lookups->files[i];

        if (slices_equal(text_slice(&newer->family), text_slice(&older->family)) &&
            older->time_max >= newer->time_min)
            lookups->times_overlap = true;
    }
    return SHELL_FINE;
}

/* ---- The expectation ----------------------------------------------------------------------------- */

/* What one lookup asks: a row, or one column of it. */
struct asked {
    petal_slice row;
    bool column;
    petal_slice family, qualifier;
};

/* Does the file hold the row, and does it hold what is asked? */
static void
look_for(const struct file_facts *file, const struct asked *asked, const petal_result *cells,
         bool *row, bool *wanted)
{
    *row = *wanted = false;
    for (size_t i = 0; i < petal_result_count(cells); i++) {
        const petal_cell *cell = petal_result_cell(cells, i);

        if (cell->timestamp < file->time_min || cell->timestamp > file->time_max ||
            !slices_equal(cell->family, text_slice(&file->family)))
            continue;
        *row = true;
        if (!asked->column || slices_equal(cell->qualifier, asked->qualifier))
            *wanted = true;
    }
}

/* Can the file's filter tell that it lacks what is asked? */
static bool
filter_helps(const struct file_facts *file, const struct asked *asked, bool holds_row)
{
    switch (file->bloom) {
    case PETAL_BLOOM_ROW:
    case PETAL_BLOOM_ROW_PREFIX:
    case PETAL_BLOOM_DEFAULT:
        return !holds_row;
    case PETAL_BLOOM_ROWCOL:
        return asked->column;
    case PETAL_BLOOM_ROW_ROWCOL:
        return asked->column || !holds_row;
    case PETAL_BLOOM_NONE:
        break;
    }
    return false;
}

static void
expect(struct lookups *lookups, const struct asked *asked, const petal_result *cells)
{
    bool settled = false;

    for (size_t i = 0; i < lookups->file_count && !settled; i++) {
        const struct file_facts *file = &lookups->files[i];
        bool holds_row, holds_wanted;

        if (asked->column && !slices_equal(text_slice(&file->family), asked->family))
            continue;
        if (slices_compare(asked->row, text_slice(&file->row_min)) < 0 ||
            slices_compare(asked->row, text_slice(&file->row_max)) > 0)
            continue;
        look_for(file, asked, cells, &holds_row, &holds_wanted);
        if (!holds_wanted && filter_helps(file, asked, holds_row) &&
            !(lookups->without & PETAL_WITHOUT(PETAL_SKIP_BLOOM))) {
            lookups->expected_blocks += file->error_rate;
            lookups->expected_false += file->error_rate;
            lookups->could_deny += 1;
        } else {
            lookups->expected_blocks += 1;
            lookups->row_only += !holds_wanted && holds_row && file->bloom == PETAL_BLOOM_ROW;
        }
        settled = asked->column && holds_wanted &&
                  !(lookups->without & PETAL_WITHOUT(PETAL_SKIP_FOUND_NEWER));
    }
}

/* ---- Lists of keys --------------------------------------------------------------------------------- */

static enum shell_status
visit_key(struct lookups *lookups, const struct asked *asked, bool measure)
{
    struct session *session = lookups->session;
    petal_read_options options = {.size = sizeof(options)};
    petal_column column = {.qualifier = asked->qualifier};
    enum shell_status status = SHELL_FINE;
    petal_error error;

    if (asked->column)
        status = session_family(session, lookups->table, asked->family, &column.family);
    if (status != SHELL_FINE)
        return status;
    options.without = measure ? lookups->without : 0;
    if (!measure) {
        options.keep_out_of_cache = true;
    } else if (asked->column) {
        options.columns = &column;
        options.column_count = 1;
    }
    if (petal_get(lookups->table, asked->row, &options, session->result, &error) != PETAL_OK)
        return fail(lookups, &error);
    if (!measure) {
        expect(lookups, asked, session->result);
    } else {
        lookups->lookups++;
        lookups->found += petal_result_count(session->result) > 0;
    }
    return SHELL_FINE;
}

/* Visit each line of the list: to work the expectation out, or to measure. */
static enum shell_status
visit_list(struct lookups *lookups, const char *path, bool measure)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    enum shell_status status = SHELL_FINE;
    ssize_t size;

    if (file == NULL) {
        (void)fprintf(stderr, "kv-shell: cannot open %s\n", path);
        return SHELL_NOT_FOUND;
    }
    while (status == SHELL_FINE && (size = getline(&line, &capacity, file)) >= 0) {
        struct asked asked = {.column = false};
        const char *tab;

        if (size > 0 && line[size - 1] == '\n')
            size--;
        asked.row = (petal_slice){line, (size_t)size};
        tab = memchr(line, '\t', (size_t)size);
        if (tab != NULL) {
            asked.row.size = (size_t)(tab - line);
            column_part((petal_slice){tab + 1, (size_t)size - asked.row.size - 1}, &asked.family,
                        &asked.qualifier, &asked.column);
        }
        if (asked.row.size > 0)
            status = visit_key(lookups, &asked, measure);
        if (status == SHELL_FINE)
            status = interrupt_check(lookups->session);
    }
    free(line);
    (void)fclose(file);
    return status;
}

/* ---- The table that is printed ------------------------------------------------------------------------ */

static const char *
bloom_of(const struct lookups *lookups)
{
    return lookups->file_count > 0 ? schema_bloom_name(lookups->files[0].bloom) : "-";
}

static void
print_header(void)
{
    (void)printf("%-10s %-20s %6s %6s %7s |%7s %7s %7s %7s %7s |%8s %9s |%10s %7s |%8s %6s\n",
                 "filter", "lookups of", "gets", "found", "files", "range", "time", "newer",
                 "columns", "Bloom", "blocks", "expected", "filter KB", "fetched", "false +",
                 "wanted");
}

/*
 * The share of the keys a filter was asked for in vain that it let pass, as a percentage.  Where few are to be expected it says nothing;
 * nor can files that hold the row alone be told apart when some of them were skipped for their columns.
 */
static void
format_false_rate(const struct lookups *lookups, const petal_stats *before, const petal_stats *now,
                  char *text, size_t size)
{
    uint64_t passed = now->filter_false_positives - before->filter_false_positives;
    uint64_t refused = now->filter_negatives - before->filter_negatives;
    bool columns = now->skipped_columns > before->skipped_columns;

    (void)snprintf(text, size, "-");
    if (lookups->times_overlap || passed < lookups->row_only || (columns && lookups->row_only > 0))
        return;
    passed -= lookups->row_only;
    if (lookups->expected_false >= LEAST_FALSE_POSITIVES && passed + refused > 0)
        (void)snprintf(text, size, "%.3f%%", 100 * (double)passed / (double)(passed + refused));
}

static void
print_list(const struct lookups *lookups, const char *name, size_t name_size,
           const petal_stats *before, const petal_stats *now)
{
    double gets = lookups->lookups > 0 ? (double)lookups->lookups : 1;
    uint64_t blocks =
        now->data_cached + now->data_fetched - before->data_cached - before->data_fetched;
    uint64_t filter_bytes = 0;
    char expected[24] = "-", rate[16], wanted[16] = "-";

    for (size_t i = 0; i < lookups->file_count; i++)
        filter_bytes += lookups->files[i].filter_bytes;
    if (!lookups->times_overlap)
        (void)snprintf(expected, sizeof(expected), "%s%.4f",
                       now->skipped_columns > before->skipped_columns ? "<=" : "",
                       lookups->expected_blocks / gets);
    format_false_rate(lookups, before, now, rate, sizeof(rate));
    if (!lookups->times_overlap && lookups->could_deny > 0)
        (void)snprintf(wanted, sizeof(wanted), "%.3f%%",
                       100 * lookups->expected_false / lookups->could_deny);
#define PER_GET(counter) ((double)(now->counter - before->counter) / gets)
    (void)printf("%-10s %-20.*s %6" PRIu64 " %6" PRIu64
                 " %7.3f |%7.3f %7.3f %7.3f %7.3f %7.3f |%8.4f %9s |%10.1f %7.3f |%8s %6s\n",
                 bloom_of(lookups), (int)name_size, name, lookups->lookups, lookups->found,
                 PER_GET(files_considered), PER_GET(skipped_row_range), PER_GET(skipped_time_range),
                 PER_GET(skipped_found_newer), PER_GET(skipped_columns), PER_GET(skipped_bloom),
                 (double)blocks / gets, expected, (double)filter_bytes / 1024,
                 PER_GET(filter_fetched), rate, wanted);
#undef PER_GET
}

static enum shell_status
measure_list(struct lookups *lookups, const char *list)
{
    size_t name_size = strcspn(list, "=");
    const char *path = list + name_size + 1;
    petal_stats before, now;
    enum shell_status status;

    lookups->lookups = lookups->found = 0;
    lookups->expected_blocks = lookups->expected_false = lookups->could_deny = 0;
    lookups->row_only = 0;
    status = visit_list(lookups, path, false);
    if (status != SHELL_FINE)
        return status;
    petal_stats_get(lookups->session->db, &before);
    status = visit_list(lookups, path, true);
    petal_stats_get(lookups->session->db, &now);
    if (status == SHELL_FINE)
        print_list(lookups, list, name_size, &before, &now);
    return status;
}

static enum shell_status
measure_table(struct lookups *lookups, const char *name)
{
    enum shell_status status =
        session_table(lookups->session, slice_of_string(name), &lookups->table);

    if (status != SHELL_FINE)
        return status;
    status = learn_files(lookups);
    for (size_t i = 0; i < lookups->key_count && status == SHELL_FINE; i++)
        status = measure_list(lookups, lookups->keys[i]);
    forget_files(lookups);
    return status;
}

static bool
take_option(struct lookups *lookups, const char *option, const char *value)
{
    if (strcmp(option, "--keys") == 0 && lookups->key_count < GREATEST_LISTS &&
        strchr(value, '=') != NULL) {
        lookups->keys[lookups->key_count++] = value;
        return true;
    }
    for (int skip = PETAL_SKIP_NONE + 1; skip < PETAL_SKIP_COUNT; skip++) {
        if (strcmp(option, "--without") == 0 &&
            strcmp(value, petal_skip_text((enum petal_skip)skip)) == 0) {
            lookups->without |= PETAL_WITHOUT(skip);
            return true;
        }
    }
    return false;
}

enum shell_status
lookups_main(struct session *session, int argc, char **argv)
{
    struct lookups lookups = {.session = session};
    enum shell_status status = SHELL_FINE;
    int first_table = 0;

    while (first_table + 1 < argc && strncmp(argv[first_table], "--", 2) == 0) {
        if (!take_option(&lookups, argv[first_table], argv[first_table + 1])) {
            (void)fprintf(stderr, "kv-shell: what does %s %s mean?  See kv-shell --help\n",
                          argv[first_table], argv[first_table + 1]);
            return SHELL_USAGE;
        }
        first_table += 2;
    }
    if (lookups.key_count == 0 || first_table == argc) {
        (void)fputs("kv-shell: lookups takes --keys NAME=FILE, some times, and tables\n", stderr);
        return SHELL_USAGE;
    }
    print_header();
    for (int i = first_table; i < argc && status == SHELL_FINE; i++)
        status = measure_table(&lookups, argv[i]);
    return status;
}
