/* records.c -- workloads of `kv-bench cliffs`: records of many columns, as import reads
 * them. */
#include "tools/bench/cliffs/cliff.h"
#include "tools/shell/files/record.h"

#include <stdlib.h>

/* A file of two lines in memory: the names of n columns, and their values in one row. */
static char *
make_table(uint64_t n, char separator, size_t *size)
{
    char *bytes = NULL;
    FILE *file = open_memstream(&bytes, size);

    if (file == NULL)
        bench_fail("go on", "out of memory");
    fputs("row", file);
    for (uint64_t i = 0; i < n; i++)
        fprintf(file, "%cf:column%08llu", separator, (unsigned long long)i);
    fputs("\nr", file);
    for (uint64_t i = 0; i < n; i++)
        fprintf(file, "%cv", separator);
    fputc('\n', file);
    if (fclose(file) != 0)
        bench_fail("go on", "out of memory");
    return bytes;
}

/* Make such a file, and read its one record of n fields. */
static uint64_t
read_table(enum file_format format, char separator, uint64_t n)
{
    size_t size;
    char *bytes = make_table(n, separator, &size);
    FILE *file = fmemopen(bytes, size, "r");
    struct record_reader reader;

    if (file == NULL)
        bench_fail("go on", "out of memory");
    shell_record_reader_init(&reader, format, file);
    if (shell_record_header(&reader) != RECORD_GOOD)
        bench_fail("read a header", reader.message);
    shell_record_set_row(&reader, (size_t[]){0}, 1, (petal_slice){NULL, 0});
    if (shell_record_next(&reader) != RECORD_GOOD)
        bench_fail("read a record", reader.message);
    cliff_expect(reader.field_count, n);
    shell_record_reader_free(&reader);
    fclose(file);
    free(bytes);
    return n;
}

static uint64_t
read_csv(struct cliff_bed *bed, uint64_t n)
{
    (void)bed;
    return read_table(FILE_CSV, ',', n);
}

static uint64_t
read_tsv(struct cliff_bed *bed, uint64_t n)
{
    (void)bed;
    return read_table(FILE_TSV, '\t', n);
}

const struct cliff bench_cliffs_records[] = {
    {.name = "csv-columns",
     .shows = "import reads CSV of n columns",
     .unit = "column",
     .work = read_csv},
    {.name = "tsv-columns",
     .shows = "import reads TSV of n columns",
     .unit = "column",
     .work = read_tsv},
    {.name = NULL},
};
