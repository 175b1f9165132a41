/* print.c -- kv-hfile print: what is in an HFile, as `hbase hfile` shows it, and as JSON. */
#include "tools/command/print.h"
#include "tools/command/row.h"
#include "tools/hfile/commands/commands.h"
#include "tools/hfile/petal_hfile.h"
#include "tools/shell/text/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct what {
    bool cells, meta, blocks, statistics, json;
    petal_slice row; /* empty: all */
};

/* ---- Meta ------------------------------------------------------------------------------------ */

static void
print_bloom(struct print *print, const petal_hfile *file, enum petal_hfile_filter filter,
            const char *name)
{
    petal_hfile_bloom bloom;

    if (!petal_hfile_bloom_get(file, filter, &bloom))
        return;
    print_object(print, name);
    print_number(print, "chunks", bloom.chunks);
    print_number(print, "bytes", bloom.total_bytes);
    print_number(print, "keys", bloom.keys);
    print_number(print, "most keys", bloom.most_keys);
    print_number(print, "hash functions", (uint64_t)bloom.hash_count);
    print_text(print, "hash",
               bloom.hash_type == 0   ? "JENKINS"
               : bloom.hash_type == 1 ? "MURMUR"
                                      : "MURMUR3");
    print_bytes(print, "comparator", bloom.comparator);
    print_bytes(print, "last key", bloom.last_key);
    print_end(print);
}

static void
print_meta(struct print *print, const petal_hfile *file)
{
    const petal_hfile_info *info = petal_hfile_info_get(file);
    petal_slice key, value;

    print_object(print, "trailer");
    print_number(print, "file bytes", info->file_bytes);
    print_number(print, "major version", info->major_version);
    print_number(print, "minor version", info->minor_version);
    print_text(print, "compression", petal_hfile_codec_text(info->codec));
    print_bytes(print, "comparator", info->comparator);
    print_number(print, "cells", info->cells);
    print_number(print, "load on open offset", info->load_on_open_offset);
    print_number(print, "file info offset", info->file_info_offset);
    print_number(print, "index levels", info->index_levels);
    print_number(print, "root entries", info->root_entries);
    print_number(print, "index bytes", info->index_bytes);
    print_number(print, "uncompressed bytes", info->uncompressed_bytes);
    print_number(print, "meta entries", info->meta_entries);
    if (info->has_data_blocks) {
        print_number(print, "first data block offset", info->first_data_block_offset);
        print_number(print, "last data block offset", info->last_data_block_offset);
    }
    print_end(print);
    print_object(print, "facts");
    print_text(print, "encoding", petal_hfile_encoding_text(info->encoding));
    print_text(print, "bloom filter", petal_hfile_bloom_type_text(info->bloom_type));
    print_bytes(print, "first row", info->first_row);
    print_bytes(print, "last row", info->last_row);
    print_boolean(print, "has tags", info->has_tags);
    print_boolean(print, "has sequences", info->has_sequences);
    if (info->has_time_range) {
        print_signed(print, "least timestamp", info->time_min);
        print_signed(print, "greatest timestamp", info->time_max);
    }
    if (info->has_delete_family_cells)
        print_number(print, "family markers", info->delete_family_cells);
    if (info->has_sequence_id)
        print_signed(print, "sequence id", info->sequence_id);
    if (info->created_ms != 0)
        print_signed(print, "created", info->created_ms);
    print_boolean(print, "bulk loaded", info->is_bulk_loaded);
    print_boolean(print, "major compacted", info->is_major_compacted);
    print_end(print);
    print_list(print, "file info");
    for (size_t i = 0; petal_hfile_info_entry(file, i, &key, &value); i++) {
        print_line(print, "entry");
        print_bytes(print, print->json ? "key" : "", key);
        print_bytes(print, print->json ? "value" : "=", value);
        print_end(print);
    }
    print_end(print);
    print_bloom(print, file, PETAL_HFILE_FILTER_GENERAL, "general bloom filter");
    print_bloom(print, file, PETAL_HFILE_FILTER_DELETE_FAMILY, "delete family bloom filter");
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

struct block_list {
    struct print *print;
    uint64_t damaged, first_damaged; /* how many, and the offset of the first */
};

static bool
print_block(void *argument, const petal_hfile_block *block)
{
    struct block_list *list = argument;
    struct print *print = list->print;

    if (!block->checksum_is_right && list->damaged++ == 0)
        list->first_damaged = block->offset;
    print_line(print, "block");
    print_number(print, "offset", block->offset);
    print_text(print, "type", petal_hfile_block_kind_text(block->kind));
    print_number(print, "stored", block->stored_bytes);
    print_number(print, "uncompressed", block->uncompressed_bytes);
    print_signed(print, "previous", block->previous_offset);
    print_text(print, "checksum", petal_hfile_checksum_text(block->checksum));
    if (!block->checksum_is_right || print->json)
        print_boolean(print, "right", block->checksum_is_right);
    print_end(print);
    return true;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

struct statistics {
    uint64_t cells, rows, puts, markers, tags;
    uint64_t key_bytes, value_bytes, most_value_bytes, most_row_cells, row_cells;
    struct text last_row;
};

/* The cell's own time to live, which is a tag; false: it has none. */
static bool
find_ttl(petal_slice tags, int64_t *ttl_ms)
{
    petal_slice payload;
    int type;

    while (petal_hfile_tag_next(&tags, &type, &payload) == 1) {
        const uint8_t *bytes = payload.data;
        uint64_t number = 0;

        if (type != PETAL_HFILE_TAG_TTL || payload.size != 8)
            continue;
        for (size_t i = 0; i < 8; i++)
            number = number << 8 | bytes[i];
        *ttl_ms = (int64_t)number;
        return true;
    }
    return false;
}

static void
show_cell(struct print *print, const petal_hfile_cell *cell)
{
    petal_cell plain = {.row = cell->row,
                        .family = cell->family,
                        .qualifier = cell->qualifier,
                        .value = cell->value,
                        .timestamp = cell->timestamp,
                        .type = (enum petal_cell_type)cell->type};

    plain.has_ttl = find_ttl(cell->tags, &plain.ttl_ms);
    print_line(print, "cell");
    print_cell(print, &plain, petal_hfile_type_text(cell->type));
    print_signed(print, "sequence", cell->sequence);
    if (cell->tags.size > 0)
        print_bytes(print, "tags", cell->tags);
    print_end(print);
}

static void
count_cell(struct statistics *statistics, const petal_hfile_cell *cell)
{
    bool same_row = statistics->cells > 0 && statistics->last_row.size == cell->row.size &&
                    memcmp(statistics->last_row.bytes, cell->row.data, cell->row.size) == 0;

    if (!same_row) {
        statistics->rows++;
        statistics->row_cells = 0;
        text_clear(&statistics->last_row);
        text_add_slice(&statistics->last_row, cell->row);
    }
    statistics->cells++;
    statistics->puts += cell->type == PETAL_PUT;
    statistics->markers += cell->type != PETAL_PUT;
    statistics->tags += cell->tags.size > 0;
    statistics->key_bytes += cell->row.size + cell->family.size + cell->qualifier.size + 12;
    statistics->value_bytes += cell->value.size;
    if (cell->value.size > statistics->most_value_bytes)
        statistics->most_value_bytes = cell->value.size;
    if (++statistics->row_cells > statistics->most_row_cells)
        statistics->most_row_cells = statistics->row_cells;
}

static void
print_statistics(struct print *print, const struct statistics *statistics)
{
    print_object(print, "statistics");
    print_number(print, "cells", statistics->cells);
    print_number(print, "rows", statistics->rows);
    print_number(print, "puts", statistics->puts);
    print_number(print, "markers", statistics->markers);
    print_number(print, "cells with tags", statistics->tags);
    print_number(print, "key bytes", statistics->key_bytes);
    print_number(print, "value bytes", statistics->value_bytes);
    print_number(print, "longest value", statistics->most_value_bytes);
    print_number(print, "most cells in a row", statistics->most_row_cells);
    print_end(print);
}

static enum petal_status
walk_cells(struct print *print, petal_hfile *file, const struct what *what,
           struct statistics *statistics, petal_error *error)
{
    const petal_slice row = what->row;
    petal_hfile_scanner *scanner;
    const petal_hfile_cell *cell;
    enum petal_status status = petal_hfile_scanner_new(file, &scanner, error);

    if (status != PETAL_OK)
        return status;
    status = row.size == 0 ? petal_hfile_scanner_first(scanner, &cell, error)
                           : petal_hfile_scanner_seek_row(scanner, row, &cell, error);
    while (status == PETAL_OK && cell != NULL) {
        if (row.size != 0 &&
            (cell->row.size != row.size || memcmp(cell->row.data, row.data, row.size) != 0))
            break;
        if (what->cells)
            show_cell(print, cell);
        count_cell(statistics, cell);
        status = petal_hfile_scanner_next(scanner, &cell, error);
    }
    petal_hfile_scanner_free(scanner);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Nothing can be told of the file; people are told on the standard error. */
static void
print_failure(struct print *print, const char *path, const petal_error *error)
{
    if (!print->json)
        return;
    print_object(print, "hfile");
    print_text(print, "file", path);
    print_text(print, "error", error->text);
    print_end(print);
}

/* All blocks; wrong checksums are told at the end. */
static enum petal_status
print_blocks(struct print *print, petal_hfile *file, const char *path, petal_error *error)
{
    struct block_list list = {.print = print};
    enum petal_status status;

    print_list(print, "blocks");
    status = petal_hfile_blocks(file, print_block, &list, error);
    print_end(print);
    if (status != PETAL_OK || list.damaged == 0)
        return status;
    *error = (petal_error){.status = PETAL_CORRUPT, .offset = list.first_damaged};
    snprintf(error->text, sizeof error->text,
             "%.200s: blocks with a wrong checksum: %" PRIu64 ", the first at %" PRIu64, path,
             list.damaged, list.first_damaged);
    return PETAL_CORRUPT;
}

static enum petal_status
print_file(struct print *print, const char *path, const struct what *what, petal_error *error)
{
    const bool only_facts = !what->cells && !what->blocks && !what->statistics;
    petal_hfile_read_options options = {.size = sizeof options, .facts_only = only_facts};
    struct statistics statistics = {0};
    petal_hfile *file;
    enum petal_status status = petal_hfile_open(path, &options, &file, error);

    if (status != PETAL_OK) {
        print_failure(print, path, error);
        return status;
    }
    print_object(print, "hfile");
    print_text(print, "file", path);
    if (what->meta)
        print_meta(print, file);
    if (what->blocks)
        status = print_blocks(print, file, path, error);
    if (status == PETAL_OK && (what->cells || what->statistics)) {
        print_list(print, "cells");
        status = walk_cells(print, file, what, &statistics, error);
        print_end(print);
    }
    if (status == PETAL_OK && what->statistics)
        print_statistics(print, &statistics);
    if (status != PETAL_OK && print->json)
        print_text(print, "error", error->text);
    print_end(print);
    text_free(&statistics.last_row);
    petal_hfile_close(file);
    return status;
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct what what = {0};
    const struct command_option options[] = {
        {.name = "-p", .flag = &what.cells},
        {.name = "--cells", .flag = &what.cells},
        {.name = "-m", .flag = &what.meta},
        {.name = "--meta", .flag = &what.meta},
        {.name = "-b", .flag = &what.blocks},
        {.name = "--blocks", .flag = &what.blocks},
        {.name = "-s", .flag = &what.statistics},
        {.name = "--stats", .flag = &what.statistics},
        {.name = "-w", .take = row_take, .argument = &what.row, .wants = "a row, bytes as \\xHH"},
        {.name = "--json", .flag = &what.json}};
    const char **places = calloc((size_t)argc + 1, sizeof *places);
    struct print print;
    petal_error error;
    int count, exit_status = COMMAND_FINE;

    if (places == NULL)
        return COMMAND_FAILED;
    count = command_take_arguments(command, argc, argv, options, sizeof options / sizeof *options,
                                   places, 1, argc);
    if (what.row.size != 0)
        what.cells = true;
    if (!what.cells && !what.blocks && !what.statistics)
        what.meta = true;
    if (count > 0) {
        print_start(&print, stdout, what.json);
        print_list(&print, "files");
    }
    for (int i = 0; i < count; i++) {
        enum petal_status status = print_file(&print, places[i], &what, &error);

        if (status == PETAL_OK)
            continue;
        (void)fflush(stdout);
        (void)fprintf(stderr, "kv-hfile: %s\n", error.text);
        if (status != PETAL_CORRUPT)
            exit_status = COMMAND_FAILED;
        else if (exit_status == COMMAND_FINE)
            exit_status = COMMAND_FAULTS;
    }
    if (count > 0) {
        print_end(&print);
        print_finish(&print);
    }
    free(places);
    return count > 0 ? exit_status : COMMAND_FAILED;
}

const struct command hfile_print = {
    .name = "print",
    .meaning = "show what is in HFiles",
    .usage = "kv-hfile print [-m] [-p] [-b] [-s] [-w ROW] [--json] FILE...\n"
             "  -m, --meta    trailer, facts, FILE_INFO, Bloom filters (as without an option);\n"
             "                reads no more of the file than that\n"
             "  -p, --cells   every cell\n"
             "  -w ROW        the cells of this row\n"
             "  -b, --blocks  every block, with its checksum compared\n"
             "  -s, --stats   counts and sizes of all cells\n"
             "  --json        as one JSON object\n",
    .run = run,
};
