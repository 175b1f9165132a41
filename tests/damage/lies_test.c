/*
 * lies_test.c -- files whose checksums are right and whose content lies, field by field as
 * FORMAT.md lists them: nothing, one, the greatest, one more and one less, what other fields hold,
 * sizes of gigabytes, places outside and of other blocks; and lists whose parts come twice, are
 * missing or out of order. What is read then is right, or refused by name, or the lie itself,
 * within the bounds of memory, calls and time that every mutant has; what other families say stays.
 * A lie about anything but the cells themselves is found by verify.
 */

#include "base/checksum.h"
#include "base/coding.h"
#include "engine/wal/fragment.h"
#include "sstable/block/block_io.h"
#include "sstable/file/trailer.h"
#include "tests/damage/format_page.h"
#include "tests/damage/sweep.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VALUES 40

struct liar {
    struct sweep sweep;
    const struct sweep_file *file;
    uint8_t *bytes; /* of the file, lying */
    size_t size;
    const char *structure;
    bool about_cells; /* what cells say cannot be found out */
    uint64_t offered; /* lies, tried or not */
};

/* Of so many lies one is tried; the seed chooses which. */
static unsigned
stride(void)
{
    return test_long() ? 1 : test_short() ? 397 : 13;
}

static unsigned
lives_among(void)
{
    return test_long() ? 5 : 23;
}

static void
begin_with(struct liar *liar, const struct sweep_file *file)
{
    liar->file = file;
    liar->bytes = test_reallocate(liar->bytes, file->size + 65536);
    liar->size = file->size;
    memcpy(liar->bytes, file->bytes, file->size);
}

static void
tell_the_truth(struct liar *liar)
{
    memcpy(liar->bytes, liar->file->bytes, liar->file->size);
    liar->size = liar->file->size;
}

static void
try_lie(struct liar *liar, const char *field, uint64_t at)
{
    struct sweep *sweep = &liar->sweep;
    uint64_t unfound = sweep->lies_unfound;
    char what[80];

    if ((liar->offered++ + sweep->gallery.seed) % stride() != 0)
        return;
    snprintf(what, sizeof what, "%s, %.50s", liar->structure, field);
    sweep_begin(sweep, liar->file, what, at, liar->bytes, liar->size);
    sweep->lies = true;
    if (sweep_ask_anew(sweep, liar->file, (struct sweep_share){test_long() ? 1 : 8, 331}) ==
            PETAL_OK &&
        sweep->turn % lives_among() == 0)
        sweep_live(sweep, liar->file, (struct sweep_share){8, 97});
    sweep_end(sweep, liar->file);
    if (!liar->about_cells && sweep->lies_unfound > unfound)
        fail_msg("%s at %" PRIu64 ", %s: told, and not found by verify", liar->file->path, at,
                 what);
}

/* ---- values ---- */

static uint64_t
get_number(const uint8_t *from, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = bytes < 8 ? bytes : 8; i-- > 0;)
        value = value << 8 | from[i];
    return value;
}

static void
put_number(uint8_t *to, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(i < 8 ? value >> 8 * i : 0);
}

struct values {
    uint64_t values[MOST_VALUES];
    size_t count;
};

static void
add_value(struct values *values, unsigned bytes, uint64_t value)
{
    if (bytes < 8)
        value &= ((uint64_t)1 << 8 * bytes) - 1;
    for (size_t i = 0; i < values->count; i++) {
        if (values->values[i] == value)
            return;
    }
    if (values->count < MOST_VALUES)
        values->values[values->count++] = value;
}

/* What may be said in the place of `truth`. */
static void
make_values(struct values *values, unsigned bytes, uint64_t truth, uint64_t file_bytes)
{
    uint64_t largest = bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
    const uint64_t all[] = {0,
                            1,
                            2,
                            largest,
                            largest - 1,
                            largest / 2,
                            largest / 2 + 1,
                            truth + 1,
                            truth - 1,
                            truth * 2,
                            truth / 2,
                            truth ^ (largest / 2 + 1),
                            truth + 8,
                            file_bytes,
                            file_bytes - TRAILER_BYTES,
                            ((uint64_t)1 << 26) + 1,
                            (uint64_t)1 << 26,
                            (uint64_t)48 << 20,
                            (uint64_t)1 << 30,
                            (uint64_t)3 << 30};

    values->count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        add_value(values, bytes, all[i]);
}

/* ---- store files ---- */

static uint64_t
store_identity(const struct sweep_file *file)
{
    return get_le64(file->bytes + file->size - TRAILER_BYTES + 8);
}

/* Right checksums for the frame at `frame`, and for the trailer. */
static void
seal_store_file(struct liar *liar, uint64_t frame, size_t frame_bytes)
{
    uint8_t *trailer = liar->bytes + liar->size - TRAILER_BYTES;
    uint64_t identity = store_identity(liar->file);

    if (frame_bytes > 0)
        put_le64(liar->bytes + frame,
                 checksum_at(identity, frame, liar->bytes + frame + 8, frame_bytes - 8));
    put_le64(trailer, checksum_at(get_le64(trailer + 8), liar->size - TRAILER_BYTES, trailer + 8,
                                  TRAILER_BYTES - 8));
}

/* Lies about one number that stands at `at`, in the frame; the values are the usual ones and what
 * the structure's other numbers of that width are. */
static void
lie_about(struct liar *liar, uint64_t frame, size_t frame_bytes, const char *field, uint64_t at,
          unsigned bytes, const struct values *others)
{
    uint64_t truth = get_number(liar->file->bytes + at, bytes);
    struct values values;

    make_values(&values, bytes, truth, liar->file->size);
    for (size_t i = 0; others != NULL && i < others->count; i++)
        add_value(&values, bytes, others->values[i]);
    for (size_t i = 0; i < values.count; i++) {
        if (values.values[i] == truth)
            continue;
        put_number(liar->bytes + at, bytes, values.values[i]);
        seal_store_file(liar, frame, frame_bytes);
        try_lie(liar, field, at);
        tell_the_truth(liar);
    }
}

/* Lies about each field that the page has of the structure, which stands at `at` and ends at
 * `end`. */
static void
lie_by_page(struct liar *liar, const char *page, const char *heading, uint64_t frame,
            size_t frame_bytes, uint64_t at, uint64_t end)
{
    struct page_field fields[PAGE_MOST_FIELDS];
    size_t count = page_fields(page, heading, fields);
    struct values others = {.count = 0};

    liar->structure = heading;
    for (size_t i = 0; i < count; i++) {
        uint64_t place = fields[i].from_end ? end - fields[i].at : at + fields[i].at;

        if (place + fields[i].bytes <= end)
            add_value(&others, 8, get_number(liar->file->bytes + place, fields[i].bytes));
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t place = fields[i].from_end ? end - fields[i].at : at + fields[i].at;

        if (place + fields[i].bytes > end)
            continue;
        lie_about(liar, frame, frame_bytes, fields[i].meaning, place, fields[i].bytes, &others);
    }
}

/* Each byte of a part, on its own. */
static void
lie_about_bytes(struct liar *liar, uint64_t frame, size_t frame_bytes, const char *part,
                uint64_t from, uint64_t end)
{
    liar->structure = "bytes";
    for (uint64_t at = from; at < end; at++)
        lie_about(liar, frame, frame_bytes, part, at, 1, NULL);
}

/* The arrays of an index node, whose lengths follow from its header. */
static void
lie_in_node(struct liar *liar, uint64_t frame, size_t frame_bytes)
{
    uint64_t node = frame + BLOCK_FRAME_BYTES;
    uint64_t entries = get_le32(liar->file->bytes + node);
    struct values places = {.count = 0};

    lie_by_page(liar, SSTABLE_PAGE, "## Index block", frame, frame_bytes, node, node + 16);
    for (uint64_t at = 0; at + BLOCK_FRAME_BYTES < liar->file->size - TRAILER_BYTES;
         at += BLOCK_FRAME_BYTES + get_le32(liar->file->bytes + at + 12))
        add_value(&places, 8, at);
    liar->structure = "## Index block";
    for (uint64_t i = 0; i < entries; i++) {
        lie_about(liar, frame, frame_bytes, "head", node + 16 + 8 * i, 8, NULL);
        lie_about(liar, frame, frame_bytes, "offset", node + 16 + 8 * (entries + i), 8, &places);
        lie_about(liar, frame, frame_bytes, "size", node + 16 + 16 * entries + 4 * i, 4, NULL);
        lie_about(liar, frame, frame_bytes, "end", node + 16 + 20 * entries + 4 * i, 4, NULL);
    }
    lie_about_bytes(liar, frame, frame_bytes, "keys of an index", node + 16 + 24 * entries,
                    frame + frame_bytes);
}

static void
lie_in_block(struct liar *liar, uint64_t frame, size_t frame_bytes)
{
    const uint8_t *bytes = liar->file->bytes;
    uint64_t end = frame + frame_bytes;
    bool raw = bytes[frame + 9] == 0;

    lie_by_page(liar, SSTABLE_PAGE, "## Frame", frame, frame_bytes, frame,
                frame + BLOCK_FRAME_BYTES);
    switch (bytes[frame + 8]) {
    case BLOCK_DATA:
        if (raw)
            lie_by_page(liar, SSTABLE_PAGE, "## Data block", frame, frame_bytes,
                        frame + BLOCK_FRAME_BYTES, end);
        liar->about_cells = true;
        lie_about_bytes(liar, frame, frame_bytes, raw ? "cells" : "compressed cells",
                        frame + BLOCK_FRAME_BYTES + (raw ? 64 : 0), end);
        liar->about_cells = false;
        break;
    case BLOCK_BLOOM:
        lie_by_page(liar, SSTABLE_PAGE, "A chunk holds the bits and a footer", frame, frame_bytes,
                    frame + BLOCK_FRAME_BYTES, end);
        lie_about_bytes(liar, frame, frame_bytes, "bits of a filter", frame + BLOCK_FRAME_BYTES,
                        end - 16);
        break;
    case BLOCK_FACTS:
        lie_by_page(liar, SSTABLE_PAGE, "## Facts block", frame, frame_bytes,
                    frame + BLOCK_FRAME_BYTES, end);
        lie_about_bytes(liar, frame, frame_bytes, "rows and qualifiers of the facts",
                        frame + BLOCK_FRAME_BYTES + 232, end);
        break;
    default:
        if (raw)
            lie_in_node(liar, frame, frame_bytes);
        else
            lie_about_bytes(liar, frame, frame_bytes, "compressed node", frame + BLOCK_FRAME_BYTES,
                            end);
        break;
    }
}

static void
lie_in_store_file(struct liar *liar, const struct sweep_file *file)
{
    uint64_t trailer = file->size - TRAILER_BYTES;
    size_t frame_bytes;

    begin_with(liar, file);
    for (uint64_t frame = 0; frame < trailer; frame += frame_bytes) {
        frame_bytes = BLOCK_FRAME_BYTES + get_le32(file->bytes + frame + 12);
        lie_in_block(liar, frame, frame_bytes);
    }
    lie_by_page(liar, SSTABLE_PAGE, "## Trailer", 0, 0, trailer, file->size);
}

static void
begin(struct liar *liar)
{
    *liar = (struct liar){.offered = 0};
    sweep_init(&liar->sweep, test_seed(), 1);
}

static void
end(struct liar *liar, double began)
{
    sweep_print(&liar->sweep, "lies", test_seconds_used() - began);
    test_counted("%" PRIu64 " of %" PRIu64 " lies offered were tried; %" PRIu64
                 " were told, %" PRIu64 " of these not found by verify",
                 liar->sweep.turn, liar->offered, liar->sweep.lies_told, liar->sweep.lies_unfound);
    sweep_fini(&liar->sweep);
    free(liar->bytes);
}

TEST(lies_in_store_files)
{
    double began = test_seconds_used();
    struct liar liar;

    begin(&liar);
    for (size_t i = 0; i < liar.sweep.file_count; i++) {
        const struct sweep_file *file = &liar.sweep.files[i];

        if (file->kind == STORE_FILE && file->family < GALLERY_FAMILIES)
            lie_in_store_file(&liar, file);
    }
    end(&liar, began);
}

/* ---- the manifest ---- */

#define MANIFEST_HEADER 64
#define RECORD_HEADER   24
#define ITEM_HEADER     8

/* Right checksums all over; what is no record any more ends it. */
static void
seal_manifest(struct liar *liar)
{
    uint64_t identity = get_le64(liar->bytes + 32);
    size_t at = MANIFEST_HEADER;

    put_le64(liar->bytes + 56, checksum_at(0, 0, liar->bytes, 56));
    while (liar->size - at >= RECORD_HEADER) {
        size_t length = (RECORD_HEADER + (size_t)get_le32(liar->bytes + at + 16) + 7) / 8 * 8;

        if (length > liar->size - at)
            length = liar->size - at;
        put_le64(liar->bytes + at, checksum_at(identity, at, liar->bytes + at + 8, length - 8));
        at += length;
    }
}

static void
try_belief(struct liar *liar, const char *field, uint64_t at)
{
    struct sweep *sweep = &liar->sweep;
    char what[80];

    if ((liar->offered++ + sweep->gallery.seed) % stride() != 0)
        return;
    snprintf(what, sizeof what, "%s, %.50s", liar->structure, field);
    sweep_begin(sweep, liar->file, what, at, liar->bytes, liar->size);
    sweep_believe(sweep, liar->file, test_long() ? 7 : 97, sweep->turn % 4 == 0);
    sweep_end(sweep, liar->file);
}

static void
believe_number(struct liar *liar, const char *field, uint64_t at, unsigned bytes,
               void (*seal)(struct liar *liar))
{
    uint64_t truth = get_number(liar->file->bytes + at, bytes);
    struct values values;

    make_values(&values, bytes, truth, liar->file->size);
    for (size_t i = 0; i < values.count; i++) {
        if (values.values[i] == truth)
            continue;
        put_number(liar->bytes + at, bytes, values.values[i]);
        seal(liar);
        try_belief(liar, field, at);
        tell_the_truth(liar);
    }
}

static void
believe_by_page(struct liar *liar, const char *heading, uint64_t at, uint64_t end_at,
                void (*seal)(struct liar *liar))
{
    struct page_field fields[PAGE_MOST_FIELDS];
    size_t count = page_fields(ENGINE_PAGE, heading, fields);

    liar->structure = heading;
    for (size_t i = 0; i < count; i++) {
        if (at + fields[i].at + fields[i].bytes <= end_at)
            believe_number(liar, fields[i].meaning, at + fields[i].at, fields[i].bytes, seal);
    }
}

/* A list without the part, with it twice, and with it after the next one. */
static void
shuffle(struct liar *liar, uint64_t at, size_t bytes, size_t next, uint64_t record)
{
    const uint8_t *truth = liar->file->bytes;
    size_t size = liar->file->size;
    uint32_t payload = record == 0 ? 0 : get_le32(truth + record + 16);

    if (record == 0) { /* whole records: removed, twice */
        memmove(liar->bytes + at, truth + at + bytes, size - at - bytes);
        liar->size = size - bytes;
        seal_manifest(liar);
        try_belief(liar, "missing", at);
        tell_the_truth(liar);
        memmove(liar->bytes + at + bytes, truth + at, size - at);
        liar->size = size + bytes;
        seal_manifest(liar);
        try_belief(liar, "twice", at);
        tell_the_truth(liar);
    } else { /* items: the record keeps its room, zeros follow what is shorter */
        uint64_t payload_end = record + RECORD_HEADER + payload;

        memmove(liar->bytes + at, truth + at + bytes, payload_end - at - bytes);
        memset(liar->bytes + payload_end - bytes, 0, bytes);
        put_le32(liar->bytes + record + 16, payload - (uint32_t)bytes);
        if ((payload - bytes + 7) / 8 == ((size_t)payload + 7) / 8) {
            seal_manifest(liar);
            try_belief(liar, "missing", at);
        } else { /* what follows moves up */
            size_t room = (payload + 7) / 8 * 8, left = (payload - bytes + 7) / 8 * 8;

            memmove(liar->bytes + record + RECORD_HEADER + left,
                    truth + record + RECORD_HEADER + room, size - record - RECORD_HEADER - room);
            liar->size = size - (room - left);
            seal_manifest(liar);
            try_belief(liar, "missing", at);
        }
        tell_the_truth(liar);
        if (next >= bytes) { /* in place of the next one: twice */
            memcpy(liar->bytes + at + bytes, truth + at, bytes);
            seal_manifest(liar);
            try_belief(liar, "in place of the next one", at);
            tell_the_truth(liar);
        }
    }
    if (next > 0) {
        memcpy(liar->bytes + at, truth + at + bytes, next);
        memcpy(liar->bytes + at + next, truth + at, bytes);
        seal_manifest(liar);
        try_belief(liar, "behind the next one", at);
        tell_the_truth(liar);
    }
}

static bool tags_seen[256], attributes_seen[256];

/* Numbers of every width wherever one may begin, and all single bytes. */
static void
lie_in_payload(struct liar *liar, uint64_t at, uint64_t end_at)
{
    liar->structure = "payload of an item";
    for (uint64_t place = at; place < end_at; place++) {
        believe_number(liar, "byte", place, 1, seal_manifest);
        if ((place - at) % 2 == 0 && place + 2 <= end_at)
            believe_number(liar, "u16", place, 2, seal_manifest);
        if ((place - at) % 4 == 0 && place + 4 <= end_at)
            believe_number(liar, "u32", place, 4, seal_manifest);
        if ((place - at) % 4 == 0 && place + 8 <= end_at)
            believe_number(liar, "u64", place, 8, seal_manifest);
    }
}

/* Where the attributes of an item begin; 0: it has none. */
static size_t
attributes_of(unsigned tag)
{
    return tag == 4 || tag == 5 || tag == 10 || tag == 11 ? 8 : 0;
}

static void
lie_in_items(struct liar *liar, uint64_t record, uint64_t at, uint64_t end_at, bool attributes)
{
    while (at < end_at) {
        const uint8_t *item = liar->file->bytes + at;
        unsigned tag = get_le16(item);
        size_t bytes = ITEM_HEADER + get_le32(item + 4);
        size_t next = at + bytes < end_at ? ITEM_HEADER + get_le32(item + bytes + 4) : 0;
        size_t nested = attributes ? 0 : attributes_of(tag);

        assert_true(tag < 256);
        (attributes ? attributes_seen : tags_seen)[tag] = true;
        believe_by_page(liar, "### Item, 8 bytes", at, at + ITEM_HEADER, seal_manifest);
        liar->structure = attributes ? "attribute" : "item";
        shuffle(liar, at, bytes, next, record);
        lie_in_payload(liar, at + ITEM_HEADER, nested > 0 ? at + ITEM_HEADER + nested : at + bytes);
        if (nested > 0)
            lie_in_items(liar, record, at + ITEM_HEADER + nested, at + bytes, true);
        at += bytes;
    }
}

static void
assert_all_seen(const char *table, const bool seen[256])
{
    unsigned numbers[64];
    size_t count = page_numbers(ENGINE_PAGE, table, numbers, 64);

    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] > 255 || !seen[numbers[i]])
            fail_msg("%s %u of the page is not in the gallery", table, numbers[i]);
    }
}

TEST(lies_in_the_manifest)
{
    double began = test_seconds_used();
    struct liar liar;

    begin(&liar);
    for (size_t i = 0; i < liar.sweep.file_count; i++) {
        const struct sweep_file *file = &liar.sweep.files[i];
        size_t bytes, next;

        if (file->kind != MANIFEST_FILE)
            continue;
        begin_with(&liar, file);
        believe_by_page(&liar, "### Header, 64 bytes", 0, MANIFEST_HEADER, seal_manifest);
        for (uint64_t at = MANIFEST_HEADER; at + RECORD_HEADER <= file->size; at += bytes) {
            uint32_t payload = get_le32(file->bytes + at + 16);

            bytes = (RECORD_HEADER + (size_t)payload + 7) / 8 * 8;
            next =
                at + bytes + RECORD_HEADER <= file->size
                    ? (RECORD_HEADER + (size_t)get_le32(file->bytes + at + bytes + 16) + 7) / 8 * 8
                    : 0;
            believe_by_page(&liar, "### Record, 24 bytes", at, at + RECORD_HEADER, seal_manifest);
            liar.structure = "record";
            shuffle(&liar, at, bytes, next, 0);
            lie_in_items(&liar, at, at + RECORD_HEADER, at + RECORD_HEADER + payload, false);
        }
    }
    assert_all_seen("| tag | item |", tags_seen);
    assert_all_seen("| tag | attribute |", attributes_seen);
    end(&liar, began);
}

/* ---- logs ---- */

#define LOG_HEADER 72

/* Right checksums for the header and for each fragment, marked or not. */
static void
seal_log(struct liar *liar)
{
    uint64_t seed = wal_seed(get_le64(liar->bytes + 16), get_le64(liar->bytes + 24));
    size_t at = LOG_HEADER;

    put_le64(liar->bytes + 64, checksum_at(0, 0, liar->bytes, 64));
    while (liar->size - at >= WAL_FRAGMENT_MOST_BYTES) {
        uint8_t *fragment = liar->bytes + at;
        bool marked = (get_le16(fragment + 4) & 0x8000) != 0;
        bool promise = marked && (fragment[6] & 0x10) != 0;
        size_t header = !marked ? 6 : promise ? 19 : 7;
        size_t payload = (size_t)(get_le16(fragment + 4) & 0x7fff);

        if (payload == 0)
            return;
        payload--;
        if (header + payload > liar->size - at)
            payload = liar->size - at - header;
        if (promise)
            put_le32(fragment + 15, (uint32_t)checksum_at(seed, at + 7, fragment + 7, 8));
        put_le32(fragment, (uint32_t)checksum_at(seed, at, fragment + 4, header - 4 + payload));
        at += header + payload;
    }
}

static void
lie_in_log(struct liar *liar, const struct sweep_file *file)
{
    size_t at = LOG_HEADER;

    begin_with(liar, file);
    /* The test seals as the library does. */
    seal_log(liar);
    assert_memory_equal(liar->bytes, file->bytes, file->size);
    believe_by_page(liar, "### Header, 72 bytes", 0, LOG_HEADER, seal_log);
    while (file->size - at > 6) {
        const uint8_t *fragment = file->bytes + at;
        bool marked = (get_le16(fragment + 4) & 0x8000) != 0;
        size_t header = !marked ? 6 : (fragment[6] & 0x10) != 0 ? 19 : 7;
        size_t payload = (size_t)(get_le16(fragment + 4) & 0x7fff) - 1;

        believe_by_page(liar, "### Fragment: 6, 7 or 19 bytes", at, at + header, seal_log);
        liar->structure = "record of a write";
        for (uint64_t place = at + header; place < at + header + payload; place++)
            believe_number(liar, "byte", place, 1, seal_log);
        at += header + payload;
    }
}

TEST(lies_in_logs)
{
    double began = test_seconds_used();
    struct liar liar;

    begin(&liar);
    for (size_t i = 0; i < liar.sweep.file_count; i++) {
        if (liar.sweep.files[i].kind == LOG_FILE && liar.sweep.files[i].size > 0)
            lie_in_log(&liar, &liar.sweep.files[i]);
    }
    end(&liar, began);
}
