/* command.c -- kv-check dump: which files, and of what kind each is. */
#include "engine/manifest/format.h"
#include "engine/manifest/manifest.h"
#include "engine/manifest/names.h"
#include "engine/wal/file_format.h"
#include "tools/check/commands.h"
#include "tools/check/dump/dump.h"
#include "tools/command/row.h"
#include "tools/shell/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- which kind ---- */

/* What the manifest next to it says of the file; 0: nothing. */
static uint64_t
identity_of(struct directory *directory, uint64_t number)
{
    const struct manifest_visitor nobody = {.argument = NULL};
    char path[PETAL_PATH_BYTES];
    struct manifest *manifest;
    uint64_t identity = 0;
    bool whole;

    filename_manifest(path, directory->path);
    if (number == 0 ||
        manifest_load_parts(&manifest, directory, path, &nobody, &whole, NULL) != PETAL_OK)
        return 0;
    for (size_t t = 0; t < manifest->table_count; t++) {
        const struct manifest_table *table = manifest->tables[t];

        for (size_t i = 0; i < table->family_count * table->region_count; i++) {
            const struct manifest_store *store = manifest_store_at(table, i);

            for (size_t k = 0; k < store->file_count; k++) {
                if (store->files[k].number == number)
                    identity = store->files[k].identity;
            }
        }
    }
    manifest_free(manifest);
    return identity;
}

/* By its first bytes, or its last. */
static enum filename_kind
kind_by_bytes(const struct directory *directory, const char *path)
{
    const petal_vfs *vfs = directory->env->vfs;
    char first[8] = "", last[8] = "";
    uint64_t size = 0;
    size_t bytes;
    petal_file *file;

    if (directory_open_file(directory, path, PETAL_FILE_READ, &file) != 0)
        return FILENAME_OTHER;
    (void)vfs->read_at(vfs->context, file, 0, first, sizeof first, &bytes);
    if (vfs->size(vfs->context, file, &size) == 0 && size >= sizeof last)
        (void)vfs->read_at(vfs->context, file, size - sizeof last, last, sizeof last, &bytes);
    vfs->close(vfs->context, file);
    if (memcmp(first, WAL_MAGIC, sizeof first) == 0)
        return FILENAME_WAL;
    if (memcmp(first, MANIFEST_MAGIC, sizeof first) == 0)
        return FILENAME_MANIFEST;
    return memcmp(last, "\x89PETALSF", sizeof last) == 0 ? FILENAME_STORE_FILE : FILENAME_OTHER;
}

static bool
ends_with(const char *name, const char *end)
{
    size_t bytes = strlen(name), end_bytes = strlen(end);

    return bytes >= end_bytes && strcmp(name + bytes - end_bytes, end) == 0;
}

/* By its name, or where that says nothing by its bytes, or by how the name ends. */
static enum filename_kind
kind_of(const struct directory *directory, const char *path, uint64_t *number)
{
    enum filename_kind kind = filename_parse(strrchr(path, '/') + 1, number);

    if (kind == FILENAME_OTHER)
        kind = kind_by_bytes(directory, path);
    if (kind == FILENAME_OTHER && ends_with(path, ".sst"))
        kind = FILENAME_STORE_FILE;
    if (kind == FILENAME_OTHER && ends_with(path, ".log"))
        kind = FILENAME_WAL;
    return kind;
}

static void
dump_file(struct dump *dump, struct directory *directory, const char *path)
{
    uint64_t number = 0;

    switch (kind_of(directory, path, &number)) {
    case FILENAME_WAL:
        dump_log(dump, path);
        break;
    case FILENAME_MANIFEST:
    case FILENAME_MANIFEST_TEMPORARY:
        dump_manifest(dump, path);
        break;
    case FILENAME_LOCK:
    case FILENAME_READERS:
        print_line(dump->print, "what openings tell one another; holds no data");
        print_text(dump->print, "file", path);
        print_end(dump->print);
        break;
    default:
        dump_store_file(dump, path, identity_of(directory, number));
        break;
    }
}

/* ---- a directory ---- */

struct name_list {
    struct text *names;
    size_t count;
    bool failed; /* no memory */
};

static void
note_name(void *argument, const char *name)
{
    struct name_list *list = argument;
    struct text *grown;
    uint64_t number;
    enum filename_kind kind = filename_parse(name, &number);

    if (kind == FILENAME_OTHER || kind == FILENAME_LOCK || kind == FILENAME_READERS || list->failed)
        return;
    grown = realloc(list->names, (list->count + 1) * sizeof *grown);
    list->failed = grown == NULL;
    if (grown == NULL)
        return;
    list->names = grown;
    list->names[list->count] = (struct text){0};
    text_add_string(&list->names[list->count++], name);
}

static void
free_names(struct name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        text_free(&list->names[i]);
    free(list->names);
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(text_string(a), text_string(b));
}

static void
dump_names(struct dump *dump, struct directory *directory, const struct name_list *list)
{
    if (list->count > 0)
        qsort(list->names, list->count, sizeof *list->names, compare_names);
    for (size_t i = 0; i < list->count; i++) {
        char path[2 * PETAL_PATH_BYTES];

        (void)snprintf(path, sizeof path, "%s/%s", directory->path, text_string(&list->names[i]));
        dump_file(dump, directory, path);
    }
}

/* ---- the command ---- */

static int
refuse(struct dump *dump, const char *what, const char *why)
{
    (void)fprintf(stderr, "kv-check: %s: %s\n", what, why);
    if (dump->print->json) {
        print_start(dump->print, stdout, true);
        print_text(dump->print, "file", what);
        print_text(dump->print, "error", why);
        print_finish(dump->print);
    }
    return COMMAND_FAILED;
}

static void
begin(struct dump *dump)
{
    size_t value_bytes = dump->print->value_bytes;

    print_start(dump->print, stdout, dump->print->json);
    dump->print->value_bytes = value_bytes;
    print_list(dump->print, "files");
}

static int
end(struct dump *dump)
{
    print_end(dump->print);
    if (dump->no_memory)
        print_text(dump->print, "error", "out of memory: not everything is shown");
    print_finish(dump->print);
    if (dump->damaged)
        return COMMAND_FAULTS;
    return dump->unread || dump->no_memory ? COMMAND_FAILED : COMMAND_FINE;
}

static int
dump_directory(struct dump *dump, struct directory *directory, const char *path)
{
    struct name_list list = {.names = NULL};
    int failed = directory_list(directory, note_name, &list);
    int status;

    if (failed == 0 && list.failed)
        failed = ENOMEM;
    if (failed != 0) {
        status = refuse(dump, path, strerror(failed));
    } else if (list.count == 0) {
        status = refuse(dump, path, "there is no database");
    } else {
        begin(dump);
        dump_names(dump, directory, &list);
        status = end(dump);
    }
    free_names(&list);
    return status;
}

static int
dump_one(struct dump *dump, const struct env *env, const char *path)
{
    struct directory directory;
    char file[PETAL_PATH_BYTES], folder[PETAL_PATH_BYTES];
    uint64_t number;
    petal_file *opened;
    char *slash;
    int failed, status;

    (void)snprintf(file, sizeof file, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    (void)snprintf(folder, sizeof folder, "%s", file);
    slash = strrchr(folder, '/');
    slash[slash == folder] = '\0';
    failed = directory_open(&directory, env, folder, false);
    if (failed != 0)
        return refuse(dump, path, strerror(failed));
    dump->directory = &directory;
    failed = directory_open_file(&directory, file, PETAL_FILE_READ, &opened);
    if (failed == 0)
        env->vfs->close(env->vfs->context, opened);
    if (failed != 0) {
        status = refuse(dump, path, strerror(failed));
    } else if (kind_of(&directory, file, &number) == FILENAME_OTHER) {
        status = refuse(dump, path, "it is no file of Petal, neither by its name nor by its bytes");
    } else {
        begin(dump);
        dump_file(dump, &directory, file);
        status = end(dump);
    }
    directory_close(&directory);
    return status;
}

static int
dump_path(struct dump *dump, const char *path)
{
    struct env env;
    struct directory directory;
    int failed, status;

    if (!filename_directory_fits(path))
        return refuse(dump, path, strerror(ENAMETOOLONG));
    env_init(&env, NULL);
    failed = directory_open(&directory, &env, path, false);
    if (failed == ENOTDIR)
        return dump_one(dump, &env, path);
    if (failed != 0)
        return refuse(dump, path, strerror(failed));
    dump->directory = &directory;
    status = dump_directory(dump, &directory, path);
    directory_close(&directory);
    return status;
}

/* ---- its options ---- */

static bool
take_number(void *argument, char *text)
{
    uint64_t *number = argument;
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static bool
take_from(void *argument, char *text)
{
    struct dump *dump = argument;

    if (!row_read(text, &dump->from))
        return false;
    dump->has_from = dump->from.size > 0;
    return true;
}

static bool
take_to(void *argument, char *text)
{
    struct dump *dump = argument;

    if (!row_read(text, &dump->to))
        return false;
    dump->has_to = dump->to.size > 0;
    return true;
}

/* FROM:TO, either of which may be empty. */
static bool
take_rows(void *argument, char *text)
{
    char *colon = strchr(text, ':');

    if (colon == NULL || strchr(colon + 1, ':') != NULL)
        return false;
    *colon = '\0';
    return take_from(argument, text) && take_to(argument, colon + 1);
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct print print = {.out = stdout};
    struct dump dump = {.print = &print};
    uint64_t value_bytes = 64;
    const char *path;
    const struct command_option options[] = {
        {.name = "--json", .flag = &print.json},
        {.name = "--brief", .flag = &dump.brief},
        {.name = "--cells", .flag = &dump.cells},
        {"--rows", NULL, take_rows, &dump,
         "FROM:TO, bytes as \\xHH; rows that have colons are for --from and --to, or have \\x3A "
         "for "
         "them"},
        {"--from", NULL, take_from, &dump, "a row, bytes as \\xHH"},
        {"--to", NULL, take_to, &dump, "a row, bytes as \\xHH"},
        {"--limit", NULL, take_number, &dump.limit, "a number"},
        {"--value-bytes", NULL, take_number, &value_bytes, "a number"},
    };

    if (command_take_arguments(command, argc, argv, options, sizeof options / sizeof *options,
                               &path, 1, 1) != 1)
        return COMMAND_FAILED;
    print.value_bytes = (size_t)value_bytes;
    return dump_path(&dump, path);
}

const struct command check_dump = {
    .name = "dump",
    .meaning = "what stands in a store file, a log, a manifest",
    .usage = "kv-check dump [options] FILE|DIRECTORY\n"
             "  prints what stands in a store file, a log or a manifest, or in all files of a\n"
             "  database; what is damaged is named and passed over. Does not look at the lock:\n"
             "  what a writer is changing meanwhile can look damaged\n"
             "  --json            as one JSON object\n"
             "  --brief           header, facts and damage only\n"
             "  --cells           also every cell\n"
             "  --from ROW        only blocks and cells from that row on\n"
             "  --to ROW          only those up to that row, which is included; rows as they\n"
             "                    are printed, \\xHH for a byte\n"
             "  --rows FROM:TO    both; either may be empty\n"
             "  --limit N         at most so many blocks, records or edits of a file\n"
             "  --value-bytes N   of text: longer values and names are cut there; 64, 0: never\n",
    .run = run,
};
