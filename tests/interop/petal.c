/*
 * petal.c -- Petal's side of `make interop`: tables for HBase to load, and answers to the questions
 * that HBase is asked (tests/interop/Interop.java says how a case lies in its directory).
 *
 *     petal make SEED CASE..             fills a table with random writes, of which every case has
 *                                        another codec, encoding and Bloom type, exports it to
 *                                        CASE/hfiles, makes up CASE/questions, and answers them
 *                                        into CASE/petal.answers
 *     petal answer FOLDER ANSWERS CASE.. imports CASE/FOLDER, as CASE/hfiles describes it, or
 *                                        itself where there is no such folder, and answers
 *                                        CASE/questions into CASE/ANSWERS
 *     petal speed CELLS DIRECTORY        how many megabytes of cells an export writes, and an
 *                                        import brings in, in a second of a processor; the files
 *                                        stay in DIRECTORY/hfiles0
 */
#include "tests/support/test_support.h"
#include "tools/hfile/petal_hfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_LINE_BYTES (1u << 17)
#define MOST_WORDS      5
#define MOST_NAMES      256
#define MOST_NAME_BYTES 24

static void
require(enum petal_status status, const petal_error *error, const char *what)
{
    if (status == PETAL_OK)
        return;
    (void)fprintf(stderr, "petal: %s: %s\n", what, error->text);
    exit(1);
}

static FILE *
open_file(const char *directory, const char *name, const char *mode)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, mode);
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

/* ---- Bytes as text --------------------------------------------------------------------------- */

static void
escape(FILE *out, petal_slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned char byte = ((const unsigned char *)bytes.data)[i];

        if (byte >= 0x21 && byte <= 0x7e && byte != '\\')
            putc(byte, out);
        else
            (void)fprintf(out, "\\x%02X", byte);
    }
}

/* In place. */
static petal_slice
unescape(char *text)
{
    char *to = text;

    for (const char *at = text; *at != '\0'; at++) {
        unsigned byte;

        if (*at != '\\') {
            *to++ = *at;
        } else if (sscanf(at, "\\x%2x", &byte) == 1) {
            *to++ = (char)byte;
            at += 3;
        }
    }
    return (petal_slice){text, (size_t)(to - text)};
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void
print_cell(FILE *out, const petal_cell *cell)
{
    escape(out, cell->row);
    putc('\t', out);
    escape(out, cell->family);
    putc('\t', out);
    escape(out, cell->qualifier);
    (void)fprintf(out, "\t%" PRId64 "\t%s\t", cell->timestamp, petal_hfile_type_text(cell->type));
    escape(out, cell->value);
    putc('\n', out);
}

static void
scan(FILE *out, petal_table *table, const petal_scan_options *options)
{
    petal_cursor *cursor;
    const petal_cell *cell;
    petal_error error;

    require(petal_cursor_open(table, options, &cursor, &error), &error, "scan");
    for (;;) {
        require(petal_cursor_next(cursor, &cell, &error), &error, "scan");
        if (cell == NULL)
            break;
        print_cell(out, cell);
    }
    petal_cursor_close(cursor);
}

static void
get(FILE *out, petal_table *table, petal_result *result, petal_slice row,
    const petal_read_options *options)
{
    petal_error error;

    require(petal_get(table, row, options, result, &error), &error, "get");
    for (size_t i = 0; i < petal_result_count(result); i++)
        print_cell(out, petal_result_cell(result, i));
}

static void
answer_one(FILE *out, petal_table *table, petal_result *result, char *words[])
{
    petal_scan_options all = {.read = {.versions = PETAL_ALL_VERSIONS}, .raw = true};
    petal_scan_options plain = {.reversed = strcmp(words[0], "reverse") == 0};
    petal_read_options options = {0};
    petal_column column = {0};
    petal_error error;

    if (strcmp(words[0], "raw") == 0) {
        scan(out, table, &all);
        return;
    }
    if (strcmp(words[0], "scan") == 0 || plain.reversed) {
        scan(out, table, &plain);
        return;
    }
    if (strcmp(words[0], "column") == 0) {
        require(petal_table_family(table, unescape(words[2]), &column.family, &error), &error,
                "question");
        column.qualifier = unescape(words[3]);
        options.columns = &column;
        options.column_count = 1;
    } else if (strcmp(words[0], "row") != 0) {
        options.versions = PETAL_ALL_VERSIONS;
    }
    if (strcmp(words[0], "time") == 0) {
        options.has_time_range = true;
        options.time_min = strtoll(words[2], NULL, 10);
        options.time_limit = strtoll(words[3], NULL, 10);
    }
    get(out, table, result, unescape(words[1]), &options);
}

static void
answer(petal_db *db, petal_table *table, const char *directory, const char *name)
{
    FILE *questions = open_file(directory, "questions", "r"),
         *out = open_file(directory, name, "w");
    char *line = test_allocate(MOST_LINE_BYTES);
    petal_result *result;
    petal_error error;

    require(petal_result_new(db, &result, &error), &error, "answers");
    while (fgets(line, (int)MOST_LINE_BYTES, questions) != NULL) {
        char *words[MOST_WORDS] = {line}, *at = line;
        size_t count = 1;

        line[strcspn(line, "\n")] = '\0';
        (void)fprintf(out, "? %s\n", line);
        while ((at = strchr(at, '\t')) != NULL && count < MOST_WORDS) {
            *at++ = '\0';
            words[count++] = at;
        }
        answer_one(out, table, result, words);
    }
    petal_result_free(result);
    free(line);
    (void)fclose(questions);
    (void)fclose(out);
}

/* ---- Random tables --------------------------------------------------------------------------- */

struct name {
    char bytes[MOST_NAME_BYTES];
    size_t size;
};

struct pool {
    struct test_random random;
    struct name rows[MOST_NAMES], qualifiers[16];
    size_t row_count, qualifier_count;
    /* Of a column that is asked for, HBase passes over markers of families where the empty
     * qualifier has a later put: so a table has the one or the others. */
    bool has_family_markers;
    /* Some family has KEEP_DELETED_CELLS: an export that makes markers earlier by a millisecond
     * shows in what a time range sees of it. */
    bool keeps_deleted;
};

static void
make_name(struct pool *pool, struct name *name, size_t most)
{
    name->size = 1 + test_random_below(&pool->random, most);
    for (size_t i = 0; i < name->size; i++)
        name->bytes[i] = (char)(test_random_chance(&pool->random, 25)
                                    ? test_random_below(&pool->random, 256)
                                    : 'a' + test_random_below(&pool->random, 3));
}

static petal_slice
slice_of(const struct name *name)
{
    return (petal_slice){name->bytes, name->size};
}

static void
make_pool(struct pool *pool, uint64_t seed)
{
    test_random_init(&pool->random, seed);
    pool->row_count = 20 + test_random_below(&pool->random, MOST_NAMES - 20);
    pool->qualifier_count = 3 + test_random_below(&pool->random, 13);
    for (size_t i = 0; i < pool->row_count; i++)
        make_name(pool, &pool->rows[i], 20);
    pool->has_family_markers = test_random_chance(&pool->random, 50);
    pool->qualifiers[0].size = 0;
    for (size_t i = pool->has_family_markers ? 0 : 1; i < pool->qualifier_count; i++)
        make_name(pool, &pool->qualifiers[i], 10);
}

static void
change(struct pool *pool, petal_db *db, petal_table *table)
{
    static const enum petal_cell_type kinds[] = {PETAL_DELETE, PETAL_DELETE_COLUMN,
                                                 PETAL_DELETE_FAMILY_VERSION, PETAL_DELETE_FAMILY};
    struct test_random *random = &pool->random;
    petal_family *family = petal_table_family_at(table, test_random_below(random, 2));
    petal_slice row = slice_of(&pool->rows[test_random_below(random, pool->row_count)]);
    petal_slice qualifier =
        slice_of(&pool->qualifiers[test_random_below(random, pool->qualifier_count)]);
    int64_t timestamp = 1 + (int64_t)test_random_below(random, 30);
    uint64_t chance = test_random_below(random, 1000);
    petal_write_options options = {.durability = PETAL_SKIP_WAL};
    char value[5000];
    size_t size = test_random_below(random, test_random_chance(random, 1) ? sizeof value : 20);
    petal_error error;

    if (chance < 750) {
        memset(value, 'a' + (int)test_random_below(random, 26), size);
        options.has_ttl = test_random_chance(random, 3);
        options.ttl_ms = !options.has_ttl                 ? 0
                         : test_random_chance(random, 50) ? 1
                                                          : (int64_t)1 << 50;
        require(petal_put(family, row, qualifier, timestamp, (petal_slice){value, size}, &options,
                          &error),
                &error, "put");
    } else if (chance < 990) {
        enum petal_cell_type kind =
            kinds[test_random_below(random, pool->has_family_markers ? 4 : 2)];
        bool of_family = kind == PETAL_DELETE_FAMILY || kind == PETAL_DELETE_FAMILY_VERSION;

        require(petal_delete(family, row, of_family ? (petal_slice){0} : qualifier, timestamp, kind,
                             &options, &error),
                &error, "delete");
    } else if (chance < 998) {
        require(petal_flush(db, table, &error), &error, "flush");
    } else {
        require(petal_compact(table, NULL, &error), &error, "compact");
    }
}

static void
ask(struct pool *pool, const char *directory, petal_table *table)
{
    FILE *out = open_file(directory, "questions", "w");
    struct name other;

    (void)fputs("scan\nreverse\n", out);
    for (size_t i = 0; i < pool->row_count + 20; i++) {
        const struct name *row = i < pool->row_count ? &pool->rows[i] : &other;
        uint64_t from = 1 + test_random_below(&pool->random, 30);

        make_name(pool, &other, 20);
        (void)fputs("row\t", out);
        escape(out, slice_of(row));
        (void)fputs("\nversions\t", out);
        escape(out, slice_of(row));
        if (!pool->keeps_deleted) {
            (void)fputs("\ntime\t", out);
            escape(out, slice_of(row));
            (void)fprintf(out, "\t%" PRIu64 "\t%" PRIu64, from,
                          from + 1 + test_random_below(&pool->random, 20));
        }
        putc('\n', out);
        for (size_t f = 0; f < 2; f++) {
            for (size_t q = 0; q < pool->qualifier_count; q++) {
                (void)fputs("column\t", out);
                escape(out, slice_of(row));
                putc('\t', out);
                escape(out, petal_family_name(petal_table_family_at(table, f)));
                putc('\t', out);
                escape(out, slice_of(&pool->qualifiers[q]));
                putc('\n', out);
            }
        }
    }
    (void)fclose(out);
}

/* ---- The two works --------------------------------------------------------------------------- */

static petal_db *
open_database(const char *directory, const char *name)
{
    /* Compactions in the background change answers, as petal.h says. */
    petal_options options = {.create = true, .no_compaction = true};
    petal_db *db;
    petal_error error;
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    require(petal_open(path, &options, &db, &error), &error, path);
    return db;
}

static void
make(const char *directory, uint64_t seed, size_t number)
{
    static const enum petal_hfile_codec codecs[] = {PETAL_HFILE_CODEC_NONE, PETAL_HFILE_CODEC_GZ,
                                                    PETAL_HFILE_CODEC_LZ4,
                                                    PETAL_HFILE_CODEC_SNAPPY};
    static const enum petal_bloom_type blooms[] = {PETAL_BLOOM_NONE, PETAL_BLOOM_ROW,
                                                   PETAL_BLOOM_ROWCOL};
    struct pool pool;
    petal_family_options families[2] = {{.name = {"a", 1}}, {.name = {"bc", 2}}};
    petal_table_options table_options = {.name = {"t", 1}, .families = families, .family_count = 2};
    petal_hfile_write_options file = {
        .codec = codecs[number % 4],
        .encoding = (enum petal_hfile_encoding)(PETAL_HFILE_ENCODING_NONE + number / 4 % 5)};
    petal_hfile_export_options options = {.file = &file, .like_family = true};
    petal_hfile_export_counts counts;
    petal_slice split = {"b", 1};
    petal_table *table;
    petal_db *db;
    petal_error error;
    FILE *out;
    char path[4096];

    (void)mkdir(directory, 0777);
    make_pool(&pool, seed);
    pool.keeps_deleted = false;
    for (size_t i = 0; i < 2; i++) {
        families[i].versions = 1 + (uint32_t)test_random_below(&pool.random, 4);
        families[i].bloom = blooms[number / 20 % 3];
        families[i].block_bytes = 1024u << test_random_below(&pool.random, 7);
        families[i].keep_deleted_cells = test_random_chance(&pool.random, 25)
                                             ? PETAL_KEEP_DELETED_TRUE
                                             : PETAL_KEEP_DELETED_FALSE;
        pool.keeps_deleted |= families[i].keep_deleted_cells == PETAL_KEEP_DELETED_TRUE;
    }
    db = open_database(directory, "db");
    require(petal_table_create(db, &table_options, &table, &error), &error, "create");
    for (uint64_t i = 200 + test_random_below(&pool.random, 1500); i > 0; i--)
        change(&pool, db, table);
    ask(&pool, directory, table);
    answer(db, table, directory, "petal.answers");
    snprintf(path, sizeof path, "%s/hfiles", directory);
    options.split_keys = &split;
    options.split_key_count = test_random_chance(&pool.random, 50) ? 1 : 0;
    require(petal_hfile_export(db, table, path, &options, &counts, &error), &error, "export");
    out = open_file(directory, "table", "w");
    for (size_t i = 0; i < 2; i++)
        (void)fprintf(out, "%.*s\t%u\t%s\t%s\t%s\t%s\n", (int)families[i].name.size,
                      (const char *)families[i].name.data, families[i].versions,
                      families[i].bloom == PETAL_BLOOM_NONE  ? "NONE"
                      : families[i].bloom == PETAL_BLOOM_ROW ? "ROW"
                                                             : "ROWCOL",
                      families[i].keep_deleted_cells == PETAL_KEEP_DELETED_TRUE ? "TRUE" : "FALSE",
                      petal_hfile_codec_text(file.codec), petal_hfile_encoding_text(file.encoding));
    (void)fclose(out);
    printf("%s: %" PRIu64 " cells in %" PRIu64 " files, %s, %s; %" PRIu64 " markers moved, %" PRIu64
           " markers and %" PRIu64 " puts left; seed %" PRIu64 "\n",
           directory, counts.cells, counts.files, petal_hfile_codec_text(file.codec),
           petal_hfile_encoding_text(file.encoding), counts.moved_markers, counts.left_markers,
           counts.left_puts, seed);
    require(petal_close(db, &error), &error, "close");
}

static void
import(const char *directory, const char *folder, const char *answers)
{
    petal_hfile_set *described, *set;
    petal_hfile_import_counts counts;
    petal_table_options options;
    petal_table *table;
    petal_db *db;
    petal_error error;
    bool is_described;
    char path[4096];

    require(petal_hfile_set_new(&described, &error), &error, "set");
    require(petal_hfile_set_new(&set, &error), &error, "set");
    snprintf(path, sizeof path, "%s/hfiles", directory);
    if (access(path, F_OK) != 0)
        snprintf(path, sizeof path, "%s/%s", directory, folder);
    require(petal_hfile_set_add(described, path, &error), &error, path);
    require(petal_hfile_set_table(described, &options, &is_described, &error), &error, path);
    if (!is_described) {
        (void)fprintf(stderr, "petal: %s has no .tableinfo\n", path);
        exit(1);
    }
    snprintf(path, sizeof path, "%s/%s", directory, folder);
    require(petal_hfile_set_add(set, path, &error), &error, path);
    snprintf(path, sizeof path, "db-of-%s", folder);
    db = open_database(directory, path);
    require(petal_table_create(db, &options, &table, &error), &error, "create");
    require(petal_hfile_import(table, set, NULL, &counts, &error), &error, "import");
    answer(db, table, directory, answers);
    printf("%s: %" PRIu64 " cells of %" PRIu64 " files of %s, %" PRIu64 " superseded; %" PRIu64
           " split regions and %" PRIu64 " compacted files left out\n",
           directory, counts.cells, counts.files, folder, counts.superseded, counts.split_regions,
           counts.compacted_files);
    petal_hfile_set_free(described);
    petal_hfile_set_free(set);
    require(petal_close(db, &error), &error, "close");
}

/* ---- Speed ----------------------------------------------------------------------------------- */

#define SPEED_ROUNDS 5

static int
compare_numbers(const void *a, const void *b)
{
    const double *first = a, *second = b;

    return *first < *second ? -1 : *first > *second;
}

/* Megabytes in a second of a processor, all threads of the process together. */
static double
rate(uint64_t bytes, clock_t begin, clock_t end)
{
    return (double)bytes / 1e6 / ((double)(end - begin) / CLOCKS_PER_SEC);
}

/* Rows of 16 bytes, values of 100, of which half is random. */
static void
load_rows(petal_table *table, uint64_t cells)
{
    petal_family *family = petal_table_family_at(table, 0);
    petal_bulk *bulk;
    petal_error error;
    struct test_random random;

    test_random_init(&random, cells);
    require(petal_bulk_begin(table, NULL, &bulk, &error), &error, "load");
    for (uint64_t i = 0; i < cells; i++) {
        char row[17], value[100];
        petal_cell cell = {.row = {row, 16},
                           .qualifier = {"q", 1},
                           .value = {value, sizeof value},
                           .timestamp = (int64_t)(1700000000000 + i),
                           .type = PETAL_PUT};

        snprintf(row, sizeof row, "row%013" PRIu64, i % UINT64_C(10000000000000));
        memset(value, 'v', sizeof value);
        test_random_bytes(&random, value, sizeof value / 2);
        require(petal_bulk_add(bulk, family, &cell, &error), &error, "load");
    }
    require(petal_bulk_commit(bulk, &error), &error, "load");
    petal_bulk_free(bulk);
}

static void
measure(uint64_t cells, const char *directory)
{
    petal_family_options family = {.name = {"f", 1}};
    petal_table_options options = {.name = {"t", 1}, .families = &family, .family_count = 1};
    petal_hfile_write_options file = {.codec = PETAL_HFILE_CODEC_LZ4};
    petal_hfile_export_options exporting = {.file = &file};
    double exported[SPEED_ROUNDS], imported[SPEED_ROUNDS];
    petal_table *table;
    petal_db *db;
    petal_error error;

    (void)mkdir(directory, 0777);
    db = open_database(directory, "db");
    require(petal_table_create(db, &options, &table, &error), &error, "create");
    load_rows(table, cells);
    for (int i = 0; i < SPEED_ROUNDS; i++) {
        petal_hfile_export_counts out;
        petal_hfile_import_counts in;
        petal_hfile_set *set;
        petal_table *other;
        char path[4096], name[2] = {(char)('a' + i)};
        clock_t begin = clock(), end;

        snprintf(path, sizeof path, "%s/hfiles%d", directory, i);
        require(petal_hfile_export(db, table, path, &exporting, &out, &error), &error, "export");
        end = clock();
        exported[i] = rate(out.cell_bytes, begin, end);
        options.name = (petal_slice){name, 1};
        require(petal_table_create(db, &options, &other, &error), &error, "create");
        require(petal_hfile_set_new(&set, &error), &error, "set");
        require(petal_hfile_set_add(set, path, &error), &error, "set");
        begin = clock();
        require(petal_hfile_import(other, set, NULL, &in, &error), &error, "import");
        imported[i] = rate(in.cell_bytes, begin, clock());
        petal_hfile_set_free(set);
    }
    qsort(exported, SPEED_ROUNDS, sizeof *exported, compare_numbers);
    qsort(imported, SPEED_ROUNDS, sizeof *imported, compare_numbers);
    printf("Petal: imports %.0f MB/s (%.0f to %.0f), exports %.0f MB/s (%.0f to %.0f)\n",
           imported[SPEED_ROUNDS / 2], imported[0], imported[SPEED_ROUNDS - 1],
           exported[SPEED_ROUNDS / 2], exported[0], exported[SPEED_ROUNDS - 1]);
    require(petal_close(db, &error), &error, "close");
}

int
main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "speed") == 0) {
        measure(strtoull(argv[2], NULL, 10), argv[3]);
        return 0;
    }
    if (argc > 3 && strcmp(argv[1], "make") == 0) {
        for (int i = 3; i < argc; i++)
            make(argv[i], (uint64_t)strtoull(argv[2], NULL, 10) + (uint64_t)i, (size_t)(i - 3));
        return 0;
    }
    if (argc > 4 && strcmp(argv[1], "answer") == 0) {
        for (int i = 4; i < argc; i++)
            import(argv[i], argv[2], argv[3]);
        return 0;
    }
    (void)fputs(
        "usage: petal make SEED CASE.. | answer FOLDER ANSWERS CASE.. | speed CELLS DIRECTORY\n",
        stderr);
    return 2;
}
