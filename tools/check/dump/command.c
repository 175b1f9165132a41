/* command.c -- kv-check dump: which files, and of what kind each is. */
#include "engine/manifest/manifest.h"
#include "engine/manifest/names.h"
#include "tools/check/commands.h"
#include "tools/check/dump/dump.h"
#include "tools/shell/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "kv-check dump [options] FILE|DIRECTORY\n"
    "  prints what stands in a store file, a log or a manifest, or in all files of a database; "
    "what is\n  damaged is named and passed over\n"
    "  --json            as one JSON object\n"
    "  --brief           header, facts and damage only\n"
    "  --cells           also every cell\n"
    "  --rows FROM:TO    only blocks and cells of these rows, both included; either may be empty\n"
    "  --limit N         at most so many blocks, records or edits of a file\n"
    "  --value-bytes N   longer values and names are cut there; 64, 0: never\n";

/* ---- which kind ---- */

/* What the manifest beside it says of the file; 0: nothing. */
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
        for (size_t f = 0; f < manifest->tables[t]->family_count; f++) {
            const struct manifest_family *family = &manifest->tables[t]->families[f];

            for (size_t i = 0; i < family->file_count; i++) {
                if (family->files[i].number == number)
                    identity = family->files[i].identity;
            }
        }
    }
    manifest_free(manifest);
    return identity;
}

/* By its name, or where that says nothing by its first bytes. */
static enum filename_kind
kind_of(const struct directory *directory, const char *path, uint64_t *number)
{
    const petal_vfs *vfs = directory->env->vfs;
    enum filename_kind kind = filename_parse(strrchr(path, '/') + 1, number);
    char magic[8] = "";
    size_t bytes;
    petal_file *file;

    if (kind != FILENAME_OTHER)
        return kind;
    if (directory_open_file(directory, path, PETAL_FILE_READ, &file) != 0)
        return FILENAME_OTHER;
    (void)vfs->read_at(vfs->context, file, 0, magic, sizeof magic, &bytes);
    vfs->close(vfs->context, file);
    if (memcmp(magic, "PETALLOG", sizeof magic) == 0)
        return FILENAME_WAL;
    return memcmp(magic, "PETALMAN", sizeof magic) == 0 ? FILENAME_MANIFEST : FILENAME_STORE_FILE;
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
};

static void
note_name(void *argument, const char *name)
{
    struct name_list *list = argument;
    struct text *grown;
    uint64_t number;

    if (filename_parse(name, &number) == FILENAME_OTHER)
        return;
    grown = realloc(list->names, (list->count + 1) * sizeof *grown);
    if (grown == NULL)
        return;
    list->names = grown;
    list->names[list->count] = (struct text){0};
    text_add_string(&list->names[list->count++], name);
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(text_string(a), text_string(b));
}

static void
dump_directory(struct dump *dump, struct directory *directory)
{
    struct name_list list = {.names = NULL};

    (void)directory_list(directory, note_name, &list);
    if (list.count > 0)
        qsort(list.names, list.count, sizeof *list.names, compare_names);
    for (size_t i = 0; i < list.count; i++) {
        char path[2 * PETAL_PATH_BYTES];

        (void)snprintf(path, sizeof path, "%s/%s", directory->path, text_string(&list.names[i]));
        dump_file(dump, directory, path);
        text_free(&list.names[i]);
    }
    free(list.names);
}

/* ---- the command ---- */

static int
say(const char *what, int error)
{
    (void)fprintf(stderr, "kv-check: %s: %s\n", what, strerror(error));
    return CHECK_FAILED;
}

static int
dump_path(struct dump *dump, const char *path, bool json, size_t value_bytes)
{
    struct env env;
    struct directory directory;
    struct print print;
    char file[PETAL_PATH_BYTES], folder[PETAL_PATH_BYTES];
    char *slash;
    bool is_directory;
    int failed;

    if (!filename_directory_fits(path))
        return say(path, ENAMETOOLONG);
    env_init(&env, NULL);
    failed = directory_open(&directory, &env, path, false);
    is_directory = failed == 0;
    if (failed != 0 && failed != ENOTDIR)
        return say(path, failed);
    if (!is_directory) {
        (void)snprintf(file, sizeof file, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
        (void)snprintf(folder, sizeof folder, "%s", file);
        slash = strrchr(folder, '/');
        slash[slash == folder] = '\0';
        failed = directory_open(&directory, &env, folder, false);
        if (failed != 0)
            return say(path, failed);
    }
    dump->directory = &directory;
    dump->print = &print;
    print_start(&print, stdout, json);
    print.value_bytes = value_bytes;
    print_list(&print, "files");
    if (is_directory)
        dump_directory(dump, &directory);
    else
        dump_file(dump, &directory, file);
    print_end(&print);
    print_finish(&print);
    directory_close(&directory);
    return dump->damaged ? CHECK_FAULTS : CHECK_SOUND;
}

static bool
read_number(const char *text, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

/* FROM:TO, either of which may be empty. */
static bool
read_rows(struct dump *dump, const char *text)
{
    const char *colon = strchr(text, ':');

    if (colon == NULL)
        return false;
    dump->from = (petal_slice){text, (size_t)(colon - text)};
    dump->to = slice_of_string(colon + 1);
    dump->has_from = dump->from.size > 0;
    dump->has_to = dump->to.size > 0;
    return true;
}

int
check_dump_main(int argc, char **argv)
{
    struct dump dump = {.brief = false};
    uint64_t value_bytes = 64;
    bool json = false;
    int at = 0;

    for (; at < argc && argv[at][0] == '-'; at++) {
        bool has_value = at + 1 < argc;

        if (strcmp(argv[at], "--json") == 0)
            json = true;
        else if (strcmp(argv[at], "--brief") == 0)
            dump.brief = true;
        else if (strcmp(argv[at], "--cells") == 0)
            dump.cells = true;
        else if (strcmp(argv[at], "--rows") == 0 && has_value && read_rows(&dump, argv[at + 1]))
            at++;
        else if (strcmp(argv[at], "--limit") == 0 && has_value &&
                 read_number(argv[at + 1], &dump.limit))
            at++;
        else if (strcmp(argv[at], "--value-bytes") == 0 && has_value &&
                 read_number(argv[at + 1], &value_bytes))
            at++;
        else
            return check_usage(usage);
    }
    if (at + 1 != argc)
        return check_usage(usage);
    return dump_path(&dump, argv[at], json, (size_t)value_bytes);
}
