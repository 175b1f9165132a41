/* manifest.c -- the dump of a manifest: its records, and their items one by one; see
 * engine/FORMAT.md. */
#include "tools/check/dump/dump.h"

#include "base/coding.h"
#include "engine/manifest/format.h"
#include "engine/manifest/manifest.h"

/* What stands in front of an item's attributes, if it has any: numbers of so many bytes. */
struct field {
    const char *name; /* NULL: not shown */
    unsigned bytes;   /* 0: there are no more */
    bool is_signed, is_hex;
};

static const struct {
    const char *name;
    bool of_table, of_family; /* attributes follow */
    struct field fields[11];
} items[] = {
    [MANIFEST_COUNTERS] = {"counters",
                           false,
                           false,
                           {{"next file number", 8, false, false},
                            {"last sequence", 8, false, false},
                            {"last timestamp", 8, true, false},
                            {"next table id", 4, false, false}}},
    [MANIFEST_OLDEST_LOG] = {"oldest log", false, false, {{"number", 8, false, false}}},
    [MANIFEST_WAL_PROMISE] = {"promise about a log",
                              false,
                              false,
                              {{"number", 8, false, false}, {"synced", 8, false, false}}},
    [MANIFEST_CREATE_TABLE] = {"create table", true, false, {{"table", 4, false, false}}},
    [MANIFEST_CREATE_FAMILY] = {"create family",
                                false,
                                true,
                                {{"table", 4, false, false}, {"family", 2, false, false}}},
    [MANIFEST_DROP_TABLE] = {"drop table", false, false, {{"table", 4, false, false}}},
    [MANIFEST_ADD_FILE] = {"add store file",
                           false,
                           false,
                           {{"region", 4, false, false},
                            {"family", 2, false, false},
                            {NULL, 2, false, false},
                            {"number", 8, false, false},
                            {"identity", 8, false, true},
                            {"run", 8, false, false},
                            {"bytes", 8, false, false},
                            {"least sequence", 8, false, false},
                            {"greatest sequence", 8, false, false},
                            {"cells", 8, false, false},
                            {"shift", 8, false, false}}},
    [MANIFEST_REMOVE_FILE] = {"remove store file",
                              false,
                              false,
                              {{"region", 4, false, false},
                               {"family", 2, false, false},
                               {NULL, 2, false, false},
                               {"number", 8, false, false}}},
    [MANIFEST_FLUSHED] = {"flushed",
                          false,
                          false,
                          {{"region", 4, false, false},
                           {"family", 2, false, false},
                           {NULL, 2, false, false},
                           {"sequence", 8, false, false}}},
    [MANIFEST_ALTER_TABLE] = {"alter table", true, false, {{"table", 4, false, false}}},
    [MANIFEST_ALTER_FAMILY] = {"alter family",
                               false,
                               true,
                               {{"table", 4, false, false}, {"family", 2, false, false}}},
    [MANIFEST_DROP_FAMILY] = {"drop family",
                              false,
                              false,
                              {{"table", 4, false, false}, {"family", 2, false, false}}},
    [MANIFEST_NEXT_FAMILY] = {"next family id",
                              false,
                              false,
                              {{"table", 4, false, false}, {"id", 2, false, false}}},
    [MANIFEST_AHEAD] = {"ahead",
                        false,
                        false,
                        {{"table", 4, false, false},
                         {"family", 2, false, false},
                         {NULL, 2, false, false},
                         {"timestamp", 8, true, false}}},
    [MANIFEST_STATE] = {"state", false, false, {{"number", 8, false, false}}},
    [MANIFEST_CREATE_REGION] = {"create region",
                                false,
                                false,
                                {{"table", 4, false, false},
                                 {"region", 4, false, false},
                                 {"split_ms", 8, true, false}}},
    [MANIFEST_DROP_REGION] = {"drop region",
                              false,
                              false,
                              {{"table", 4, false, false}, {"region", 4, false, false}}},
};

static const char *const attributes[] = {
    [MANIFEST_NAME] = "name",
    [MANIFEST_DURABILITY] = "durability",
    [MANIFEST_VERSIONS] = "VERSIONS",
    [MANIFEST_BLOCK_BYTES] = "BLOCKSIZE",
    [MANIFEST_COMPRESSION] = "COMPRESSION",
    [MANIFEST_BLOOM] = "BLOOMFILTER",
    [MANIFEST_BLOOM_ERROR_RATE] = "error rate",
    [MANIFEST_IN_MEMORY] = "IN_MEMORY",
    [MANIFEST_NO_BLOCK_CACHE] = "not BLOCKCACHE",
    [MANIFEST_MIN_VERSIONS] = "MIN_VERSIONS",
    [MANIFEST_TTL] = "TTL",
    [MANIFEST_KEEP_DELETED_CELLS] = "KEEP_DELETED_CELLS",
    [MANIFEST_NEW_VERSION_BEHAVIOR] = "NEW_VERSION_BEHAVIOR",
    [MANIFEST_BLOOM_PREFIX] = "prefix length",
    [MANIFEST_READ_ONLY] = "READONLY",
    [MANIFEST_TEXT] = "text",
    [MANIFEST_BLOOM_RATE_PER_FILE] = "BLOOM_RATE_PER_FILE",
    [MANIFEST_BLOOM_KIND] = "BLOOMFILTER_KIND",
    [MANIFEST_SNAPSHOT] = "snapshot",
};

/* Take an item off the front; false: it is malformed. */
static bool
take_item(petal_slice *list, unsigned *tag, petal_slice *payload)
{
    const uint8_t *from = list->data;

    if (list->size < MANIFEST_ITEM_BYTES || get_le32(from + 4) > list->size - MANIFEST_ITEM_BYTES)
        return false;
    *tag = get_le16(from);
    *payload = (petal_slice){from + MANIFEST_ITEM_BYTES, get_le32(from + 4)};
    *list = (petal_slice){from + MANIFEST_ITEM_BYTES + payload->size,
                          list->size - MANIFEST_ITEM_BYTES - payload->size};
    return true;
}

static void
print_attribute(struct print *print, unsigned tag, petal_slice payload)
{
    bool known = tag > 0 && tag < sizeof attributes / sizeof *attributes;
    bool json = print->json; /* there each is an object of its own, as it may come repeatedly */
    const char *kind = known ? attributes[tag] : "unknown attribute";
    const char *name = json ? "value" : kind;
    const uint8_t *from = payload.data;
    uint64_t bits;
    double rate;

    if (json)
        print_line(print, kind);
    if (tag == MANIFEST_BLOOM_ERROR_RATE && payload.size == 8) {
        bits = get_le64(from);
        memcpy(&rate, &bits, sizeof rate);
        print_real(print, name, rate);
    } else if (tag == MANIFEST_TEXT && payload.size >= MANIFEST_TEXT_BYTES &&
               get_le16(from + 2) <= payload.size - MANIFEST_TEXT_BYTES) {
        size_t bytes = get_le16(from + 2);

        print_bytes(print, json ? "name" : "text name",
                    (petal_slice){from + MANIFEST_TEXT_BYTES, bytes});
        print_bytes(print, json ? "value" : "text value",
                    (petal_slice){from + MANIFEST_TEXT_BYTES + bytes,
                                  payload.size - MANIFEST_TEXT_BYTES - bytes});
    } else if (tag == MANIFEST_SNAPSHOT && payload.size > MANIFEST_SNAPSHOT_BYTES) {
        print_bytes(
            print, name,
            (petal_slice){from + MANIFEST_SNAPSHOT_BYTES, payload.size - MANIFEST_SNAPSHOT_BYTES});
        print_signed(print, "created ms", (int64_t)get_le64(from));
        print_number(print, "ttl seconds", get_le32(from + 8));
    } else if (payload.size == 4 && tag != MANIFEST_NAME) {
        print_number(print, name, get_le32(from));
    } else {
        print_bytes(print, name, payload);
    }
    if (json)
        print_end(print);
}

static void
print_fields(struct print *print, const struct field *fields, petal_slice *payload)
{
    const uint8_t *from = payload->data;
    size_t at = 0;

    for (size_t i = 0; i < 11 && fields[i].bytes > 0; i++) {
        uint64_t number;

        if (payload->size - at < fields[i].bytes)
            break;
        number = fields[i].bytes == 8   ? get_le64(from + at)
                 : fields[i].bytes == 4 ? get_le32(from + at)
                                        : get_le16(from + at);
        at += fields[i].bytes;
        if (fields[i].name == NULL)
            continue;
        if (fields[i].is_hex)
            print_hex(print, fields[i].name, number);
        else if (fields[i].is_signed)
            print_signed(print, fields[i].name, (int64_t)number);
        else
            print_number(print, fields[i].name, number);
    }
}

/* A row that follows so many bytes, if there is one. */
static void
print_row_behind(struct print *print, const char *name, petal_slice payload, size_t bytes)
{
    if (payload.size > bytes)
        print_bytes(print, name,
                    (petal_slice){(const uint8_t *)payload.data + bytes, payload.size - bytes});
}

static void
print_item(struct dump *dump, unsigned tag, petal_slice payload)
{
    struct print *print = dump->print;
    petal_slice rest = payload, value;
    unsigned attribute;

    if (tag == 0 || tag >= sizeof items / sizeof *items) {
        print_line(print, "unknown item");
        print_number(print, "tag", tag);
        print_bytes(print, "bytes", payload);
        print_end(print);
        return;
    }
    print_line(print, items[tag].name);
    print_fields(print, items[tag].fields, &payload);
    if (tag == MANIFEST_CREATE_REGION)
        print_row_behind(print, "start", payload, MANIFEST_CREATE_REGION_BYTES);
    if (tag == MANIFEST_ADD_FILE)
        print_row_behind(print, "first row", payload, MANIFEST_ADD_FILE_BYTES);
    if ((items[tag].of_table || items[tag].of_family) && rest.size >= MANIFEST_IDS_BYTES) {
        rest = (petal_slice){(const uint8_t *)rest.data + MANIFEST_IDS_BYTES,
                             rest.size - MANIFEST_IDS_BYTES};
        if (print->json)
            print_list(print, "attributes");
        while (rest.size > 0 && take_item(&rest, &attribute, &value))
            print_attribute(print, attribute, value);
        if (print->json)
            print_end(print);
    }
    print_end(print);
}

/* ---- the visitor ---- */

struct manifest_dump {
    struct dump *dump;
    uint64_t records;
};

static void
visit_file(void *argument, petal_slice file)
{
    struct manifest_dump *manifest = argument;
    struct print *print = manifest->dump->print;
    const uint8_t *header = file.data;

    print_object(print, "header");
    print_number(print, "version", get_le32(header + 8));
    print_hex(print, "database", get_le64(header + 16));
    print_hex(print, "salt", get_le64(header + 24));
    print_hex(print, "identity", get_le64(header + 32));
    print_number(print, "end of snapshot", get_le64(header + 40));
    print_end(print);
}

static void
visit_record(void *argument, uint64_t offset, uint64_t bytes, uint64_t promise, bool is_edit,
             petal_slice list)
{
    struct manifest_dump *manifest = argument;
    struct dump *dump = manifest->dump;
    petal_slice payload;
    unsigned tag;

    if (dump->brief || (dump->limit > 0 && manifest->records++ >= dump->limit))
        return;
    print_object(dump->print, is_edit ? "edit" : "seal");
    print_number(dump->print, "offset", offset);
    print_number(dump->print, "bytes", bytes);
    print_number(dump->print, "promise", promise);
    if (is_edit) {
        print_list(dump->print, "items");
        while (list.size > 0 && take_item(&list, &tag, &payload))
            print_item(dump, tag, payload);
        print_end(dump->print);
    }
    print_end(dump->print);
}

static void
visit_fault(void *argument, const petal_error *error, uint64_t bytes, bool harmless)
{
    struct manifest_dump *manifest = argument;

    (void)harmless;
    dump_damage(manifest->dump, error->offset, bytes, error->text);
}

void
dump_manifest(struct dump *dump, const char *path)
{
    struct manifest_dump manifest = {.dump = dump};
    const struct manifest_visitor visitor = {
        .argument = &manifest, .file = visit_file, .record = visit_record, .fault = visit_fault};
    struct manifest *state = NULL;
    petal_error error;
    bool whole;

    print_object(dump->print, "manifest");
    print_text(dump->print, "file", path);
    print_list(dump->print, "parts");
    if (manifest_load_parts(&state, dump->directory, path, &visitor, &whole, &error) != PETAL_OK)
        dump_failure(dump, &error);
    print_end(dump->print);
    if (state != NULL) {
        print_line(dump->print, "state");
        print_number(dump->print, "tables", state->table_count);
        print_number(dump->print, "next file number", state->next_file_number);
        print_number(dump->print, "oldest log", state->oldest_log);
        print_number(dump->print, "last sequence", state->last_sequence);
        print_end(dump->print);
    }
    manifest_free(state);
    print_end(dump->print);
}
