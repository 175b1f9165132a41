/* store_file.c -- the dump of a store file; see sstable/FORMAT.md. */
#include "tools/check/dump/dump.h"

#include "base/coding.h"
#include "bloom/bloom.h"
#include "sstable/block/data_block.h"
#include "sstable/file/facts.h"
#include "sstable/file/trailer.h"
#include "sstable/sst_walk.h"

#include <stdlib.h>

static const char *
bloom_name(enum petal_bloom_type type)
{
    static const char *const names[] = {"default", "NONE",       "ROW",
                                        "ROWCOL",  "ROW_ROWCOL", "ROW_PREFIX"};

    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "unknown";
}

static const char *
layout_name(unsigned layout)
{
    static const char *const names[] = {
        [BLOOM_STANDARD] = "STANDARD", [BLOOM_BLOCKED] = "BLOCKED", [BLOOM_RIBBON] = "RIBBON"};

    return layout > 0 && layout < sizeof names / sizeof *names ? names[layout] : "unknown";
}

static const char *
origin_name(enum file_origin origin)
{
    static const char *const names[] = {"unknown", "flush", "compaction of some files",
                                        "compaction of all files", "bulk"};

    return (unsigned)origin < sizeof names / sizeof *names ? names[origin] : "unknown";
}

static void
print_facts(struct print *print, const struct file_facts *facts)
{
    print_object(print, "facts");
    if (facts->owner.table.size > 0) {
        print_bytes(print, "table", facts->owner.table);
        print_number(print, "table id", facts->owner.table_id);
        print_bytes(print, "family", facts->owner.family);
        print_number(print, "family id", facts->owner.family_id);
    }
    print_text(print, "written by", origin_name(facts->origin));
    print_signed(print, "written ms", facts->written_ms);
    print_number(print, "cells", facts->cells);
    print_number(print, "rows", facts->rows);
    print_number(print, "puts", facts->puts);
    print_number(print, "deletes", facts->deletes);
    print_number(print, "family version deletes", facts->family_version_deletes);
    print_number(print, "column deletes", facts->column_deletes);
    print_number(print, "family deletes", facts->family_deletes);
    print_text(print, "one cell per column", facts->single_cells ? "yes" : "no");
    print_number(print, "cells with a time to live", facts->ttl_cells);
    print_bytes(print, "least row", facts->row_min);
    print_bytes(print, "greatest row", facts->row_max);
    print_signed(print, "least timestamp", facts->time_min);
    print_signed(print, "greatest timestamp", facts->time_max);
    print_number(print, "least sequence", facts->sequence_min);
    print_number(print, "greatest sequence", facts->sequence_max);
    print_number(print, "data blocks", facts->data_blocks);
    print_number(print, "data bytes", facts->data_bytes);
    print_number(print, "raw data bytes", facts->raw_data_bytes);
    print_number(print, "index bytes", facts->index_bytes);
    print_number(print, "filter bytes", facts->bloom_bytes);
    print_number(print, "block bytes", facts->block_bytes);
    print_text(print, "compression", facts->compression == PETAL_COMPRESSION_LZ4 ? "LZ4" : "NONE");
    print_text(print, "filter", bloom_name(facts->bloom));
    if (facts->bloom != PETAL_BLOOM_NONE) {
        print_text(print, "filter layout", layout_name(facts->bloom_layout));
        print_number(print, "filter keys", facts->bloom_keys);
        print_number(print, "filter chunks", facts->bloom_chunks);
        print_real(print, "filter rate", facts->bloom_error_rate);
        print_number(print, "filter prefix bytes", facts->bloom_prefix_bytes);
        print_hex(print, "salt", facts->salt);
    }
    print_list(print, "qualifiers");
    for (uint32_t i = 0; i < facts->qualifier_count; i++) {
        print_line(print, "qualifier");
        print_bytes(print, "bytes", facts->qualifiers[i]);
        print_end(print);
    }
    print_end(print);
    if (!facts->qualifiers_exact)
        print_text(print, "further qualifiers", "many");
    print_end(print);
}

static void
print_trailer(struct dump *dump, const char *path, uint64_t file_bytes)
{
    struct print *print = dump->print;
    struct trailer trailer;
    petal_error error;
    size_t size;
    uint64_t offset = file_bytes - TRAILER_BYTES;
    uint8_t *bytes;

    if (file_bytes < TRAILER_BYTES)
        return;
    bytes = dump_read(dump, path, offset, TRAILER_BYTES, &size);
    if (bytes == NULL)
        return;
    if (size == TRAILER_BYTES &&
        trailer_decode(&trailer, bytes, file_bytes, path, &error) == PETAL_OK) {
        print_line(print, "trailer");
        print_number(print, "offset", offset);
        print_number(print, "version", get_le32(bytes + TRAILER_BYTES - 16));
        print_hex(print, "identity", trailer.file_identity);
        print_number(print, "facts", trailer.facts.offset);
        print_number(print, "index root", trailer.data_root.offset);
        if (trailer.bloom_root.size > 0)
            print_number(print, "filter root", trailer.bloom_root.offset);
        if (trailer.stated_shift > 0)
            print_number(print, "sequence shift", trailer.stated_shift - 1);
        print_end(print);
    }
    free(bytes);
}

/* ---- blocks ---- */

static void
print_cells(struct dump *dump, const struct sst_walk_step *step, petal_slice family)
{
    struct data_block_cursor cursor;
    struct cell cell;

    data_block_cursor_init(&cursor, dump->directory->env->allocator);
    if (data_block_cursor_attach(&cursor, step->memory, step->raw_bytes) == PETAL_OK) {
        data_block_cursor_first(&cursor, &cell);
        do {
            if (!dump_wants_row(dump, cell.row))
                continue;
            dump_cell(dump, &cell, family);
            print_end(dump->print);
        } while (data_block_cursor_next(&cursor, &cell));
    } else {
        dump->no_memory = true;
    }
    data_block_cursor_fini(&cursor);
}

static void
print_data_rows(struct dump *dump, const struct sst_walk_step *step)
{
    struct data_block_cursor cursor;
    struct cell cell;

    print_number(dump->print, "rows", get_le32(step->memory));
    print_number(dump->print, "cells", get_le32(step->memory + 4));
    data_block_cursor_init(&cursor, dump->directory->env->allocator);
    if (data_block_cursor_attach(&cursor, step->memory, step->raw_bytes) == PETAL_OK) {
        data_block_cursor_first(&cursor, &cell);
        print_bytes(dump->print, "first row", cell.row);
        data_block_cursor_last(&cursor, &cell);
        print_bytes(dump->print, "last row", cell.row);
    } else {
        dump->no_memory = true;
    }
    data_block_cursor_fini(&cursor);
}

static void
print_chunk(struct print *print, const struct sst_walk_step *step)
{
    const uint8_t *footer = step->memory + step->raw_bytes - BLOOM_FOOTER_BYTES;
    struct bloom_ribbon ribbon;

    print_number(print, "keys", get_le32(footer));
    print_text(print, "layout", layout_name(footer[4]));
    if (bloom_ribbon_open(&ribbon, step->memory, step->raw_bytes)) {
        print_number(print, "columns", ribbon.columns);
        print_number(print, "slots", ribbon.slots);
        print_number(print, "narrow blocks", ribbon.narrow);
        print_number(print, "seed", ribbon.seed);
        return;
    }
    print_number(print, "bits a key", footer[5]);
    print_number(print, "bits", get_le64(footer + 8));
}

/* Does the data block hold a row that is asked for? */
static bool
is_wanted(struct dump *dump, const struct sst_walk_step *step)
{
    struct data_block_cursor cursor;
    struct cell cell;
    bool wanted = !dump->has_from && !dump->has_to;

    if (wanted || step->kind != BLOCK_DATA)
        return wanted;
    data_block_cursor_init(&cursor, dump->directory->env->allocator);
    if (data_block_cursor_attach(&cursor, step->memory, step->raw_bytes) == PETAL_OK) {
        data_block_cursor_first(&cursor, &cell);
        do {
            wanted = dump_wants_row(dump, cell.row);
        } while (!wanted && data_block_cursor_next(&cursor, &cell));
    } else {
        dump->no_memory = true;
    }
    data_block_cursor_fini(&cursor);
    return wanted;
}

static void
print_block(struct dump *dump, const struct sst_walk_step *step, petal_slice family)
{
    static const char *const codecs[] = {"raw", "LZ4"};
    struct print *print = dump->print;
    bool with_cells = dump->cells && step->kind == BLOCK_DATA;

    if (with_cells)
        print_object(print, block_kind_text(step->kind));
    else
        print_line(print, block_kind_text(step->kind));
    print_number(print, "offset", step->offset);
    print_number(print, "bytes", step->bytes);
    print_text(print, "stored", codecs[step->codec]);
    print_number(print, "raw bytes", step->raw_bytes);
    if (step->kind == BLOCK_DATA)
        print_data_rows(dump, step);
    if (step->kind == BLOCK_BLOOM)
        print_chunk(print, step);
    if (step->kind == BLOCK_DATA_INDEX || step->kind == BLOCK_BLOOM_INDEX) {
        print_number(print, "level", index_block_level(step->memory));
        print_number(print, "entries", step->entries);
    }
    if (with_cells) {
        print_list(print, "cell list");
        print_cells(dump, step, family);
        print_end(print);
    }
    print_end(print);
}

static void
print_damage(struct dump *dump, const struct sst_walk_step *step)
{
    struct print *print = dump->print;

    dump->damaged = true;
    print_line(print, "damage");
    print_text(print, print->json ? "what" : "", step->cause.text);
    print_number_once(print, "offset", step->offset, step->cause.text);
    print_number_once(print, "bytes", step->bytes, step->cause.text);
    if (step->rows.has_from)
        print_bytes(print, "from row", step->rows.from);
    if (step->rows.has_to)
        print_bytes(print, "to row", step->rows.to);
    print_end(print);
}

static void
print_blocks(struct dump *dump, struct sst_walk *walk)
{
    const struct file_facts *facts = sst_walk_facts(walk);
    petal_slice family = {NULL, 0};
    struct sst_walk_step step;
    uint64_t printed = 0;
    petal_error error;

    if (facts != NULL && facts->owner.family.size > 0)
        family = facts->owner.family;
    print_list(dump->print, "blocks");
    for (;;) {
        if (sst_walk_next(walk, &step, &error) != PETAL_OK) {
            dump_failure(dump, &error);
            break;
        }
        if (step.event == SST_WALK_END)
            break;
        if (step.event == SST_WALK_DAMAGE)
            print_damage(dump, &step);
        else if (!dump->brief && is_wanted(dump, &step) &&
                 (dump->limit == 0 || printed++ < dump->limit))
            print_block(dump, &step, family);
    }
    print_end(dump->print);
}

void
dump_store_file(struct dump *dump, const char *path, uint64_t identity)
{
    const struct sst_walk_options options = {.file_identity = identity};
    const struct sst_reader *reader;
    struct sst_walk *walk;
    petal_error error;

    print_object(dump->print, "store file");
    print_text(dump->print, "file", path);
    if (sst_walk_open(&walk, dump->directory, path, &options, &error) != PETAL_OK) {
        dump_failure(dump, &error);
        print_end(dump->print);
        return;
    }
    print_number(dump->print, "file bytes", sst_walk_file_bytes(walk));
    print_trailer(dump, path, sst_walk_file_bytes(walk));
    reader = sst_walk_reader(walk, &error);
    if (reader == NULL)
        dump_failure(dump, &error);
    else
        print_facts(dump->print, sst_reader_facts(reader));
    print_blocks(dump, walk);
    sst_walk_close(walk);
    print_end(dump->print);
}
