/* log.c -- the dump of a log: its header, fragments and records; see engine/FORMAT.md. */
#include "tools/check/dump/dump.h"

#include "engine/wal/file_format.h"
#include "engine/wal/fragment.h"
#include "engine/wal/record.h"

#include <stdlib.h>

struct log_dump {
    struct dump *dump;
    const uint8_t *bytes;
    size_t size;
    uint64_t seed;
    uint8_t *record; /* put together from fragments, the file's size */
    size_t record_bytes;
    uint64_t record_offset;
    bool in_record;
    struct record_base base;
    uint64_t records;
};

static const char *
kind_name(enum wal_fragment_kind kind)
{
    static const char *const names[] = {"", "FULL", "FIRST", "MIDDLE", "LAST"};

    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

/* False: nothing after it can be read. */
static bool
print_header(struct log_dump *log)
{
    struct print *print = log->dump->print;
    const uint8_t *header = log->bytes;
    size_t bytes = log->size >= WAL_HEADER_BYTES ? get_le32(header + 12) : 0;

    if (log->size == 0) {
        print_text(print, "state", "made ahead of its use: nothing was written");
        return false;
    }
    if (bytes < WAL_HEADER_BYTES || bytes > log->size || memcmp(header, WAL_MAGIC, 8) != 0 ||
        get_le64(header + bytes - WAL_HEADER_CHECKSUM_BYTES) !=
            wal_header_checksum(header, bytes)) {
        dump_damage(log->dump, 0, log->size < WAL_HEADER_BYTES ? log->size : WAL_HEADER_BYTES,
                    "there is no header of a log");
        if (log->size < WAL_HEADER_BYTES)
            return false;
    }
    log->seed = wal_seed(get_le64(header + 16), get_le64(header + 24));
    print_object(print, "header");
    print_number(print, "version", get_le32(header + 8));
    print_hex(print, "database", get_le64(header + 16));
    print_number(print, "number", get_le64(header + 24));
    print_number(print, "predecessor", get_le64(header + 32));
    print_number(print, "predecessor bytes", get_le64(header + 40));
    print_number(print, "predecessor last sequence", get_le64(header + 48));
    print_number(print, "predecessor synced", get_le64(header + 56));
    print_end(print);
    if (get_le32(header + 8) == WAL_VERSION)
        return true;
    dump_damage(log->dump, 8, 0, "records of this version are not known");
    return false;
}

/* ---- records ---- */

static void
print_record(struct log_dump *log, petal_slice payload)
{
    struct dump *dump = log->dump;
    struct print *print = dump->print;
    struct record_reader reader;
    struct record_cell cell;
    bool sound = record_open(&reader, &log->base, payload);

    if (dump->brief || (dump->limit > 0 && log->records > dump->limit)) {
        while (sound && reader.remaining > 0) /* the next ones build upon it */
            sound = record_next(&reader, &cell);
    } else if (sound) {
        print_object(print, "record");
        print_number(print, "offset", log->record_offset);
        print_number(print, "bytes", payload.size);
        print_number(print, "cells", reader.remaining);
        print_number(print, "first sequence", reader.next_sequence);
        print_list(print, "cell list");
        while (sound && reader.remaining > 0) {
            sound = record_next(&reader, &cell);
            if (!sound || !dump->cells || !dump_wants_row(dump, cell.cell.row))
                continue;
            dump_cell(dump, &cell.cell, (petal_slice){NULL, 0});
            print_number(print, "table id", cell.table_id);
            print_number(print, "family id", cell.family_id);
            print_end(print);
        }
        print_end(print);
        print_end(print);
    }
    if (!sound || !record_at_end(&reader))
        dump_damage(dump, log->record_offset, 0,
                    "the record cannot be read: it is malformed, or builds upon one that is lost");
}

static void
add_fragment(struct log_dump *log, const struct wal_fragment *fragment, uint64_t offset)
{
    bool goes_on = fragment->kind == WAL_MIDDLE || fragment->kind == WAL_LAST;

    if (goes_on && !log->in_record)
        return; /* its beginning is lost */
    if (!goes_on) {
        log->record_offset = offset;
        log->record_bytes = 0;
    }
    memcpy(log->record + log->record_bytes, fragment->payload, fragment->payload_bytes);
    log->record_bytes += fragment->payload_bytes;
    log->in_record = fragment->kind == WAL_FIRST || fragment->kind == WAL_MIDDLE;
    if (log->in_record)
        return;
    log->records++;
    print_record(log, (petal_slice){log->record, log->record_bytes});
}

/* ---- fragments ---- */

static void
print_fragment(const struct log_dump *log, const struct wal_fragment *fragment, uint64_t offset)
{
    struct print *print = log->dump->print;

    /* A whole record without a promise says nothing that the record does not. */
    if (log->dump->brief || (fragment->kind == WAL_FULL && fragment->promise == 0) ||
        (log->dump->limit > 0 && log->records >= log->dump->limit))
        return;
    print_line(print, "fragment");
    print_number(print, "offset", offset);
    print_text(print, "fragment kind", kind_name(fragment->kind));
    print_number(print, "bytes", fragment->payload_bytes);
    if (fragment->promise > 0)
        print_number(print, "promise", fragment->promise);
    print_end(print);
}

static bool
take_fragment(const struct log_dump *log, uint64_t offset, struct wal_fragment *fragment)
{
    size_t available = wal_frame_left(offset);

    if (available > log->size - offset)
        available = (size_t)(log->size - offset);
    return wal_fragment_parse(fragment, log->bytes + offset, available, offset) &&
           wal_fragment_is_whole(fragment, log->seed, log->bytes + offset, offset);
}

/* Where the next fragment begins after bytes that are none; the content's end: nowhere. */
static uint64_t
next_fragment(const struct log_dump *log, uint64_t offset, uint64_t content)
{
    struct wal_fragment fragment;

    for (offset++; offset < content; offset++) {
        if (wal_frame_left(offset) > WAL_FRAGMENT_MOST_BYTES &&
            take_fragment(log, offset, &fragment))
            return offset;
    }
    return content;
}

static void
print_fragments(struct log_dump *log)
{
    uint64_t offset = WAL_HEADER_BYTES, content = log->size;

    while (content > offset && log->bytes[content - 1] == 0)
        content--;
    while (offset < content) {
        struct wal_fragment fragment;

        if (wal_frame_left(offset) <= WAL_FRAGMENT_MOST_BYTES) {
            offset += wal_frame_left(offset);
        } else if (take_fragment(log, offset, &fragment)) {
            print_fragment(log, &fragment, offset);
            add_fragment(log, &fragment, offset);
            offset += fragment.header_bytes + fragment.payload_bytes;
        } else {
            uint64_t next = next_fragment(log, offset, content);

            dump_damage(log->dump, offset, next - offset,
                        next == content ? "no fragment, up to the end: torn, or damaged"
                                        : "no fragment");
            log->in_record = false;
            log->base = (struct record_base){0};
            offset = next;
        }
    }
    print_line(log->dump->print, "end");
    print_number(log->dump->print, "offset", content);
    print_number(log->dump->print, "records", log->records);
    print_number(log->dump->print, "zeros behind", log->size - content);
    print_end(log->dump->print);
}

void
dump_log(struct dump *dump, const char *path)
{
    struct log_dump log = {.dump = dump};
    uint8_t *bytes;

    print_object(dump->print, "log");
    print_text(dump->print, "file", path);
    bytes = dump_read(dump, path, 0, UINT64_MAX, &log.size);
    if (bytes != NULL) {
        log.bytes = bytes;
        log.record = malloc(log.size + 1);
        dump->no_memory = dump->no_memory || log.record == NULL;
        print_list(dump->print, "parts");
        if (log.record != NULL && print_header(&log))
            print_fragments(&log);
        print_end(dump->print);
        free(log.record);
        free(bytes);
    }
    print_end(dump->print);
}
