/* target.c -- see target.h. */
#include "tools/hfile/exchange/target.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/protobuf.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- References ------------------------------------------------------------------------------ */

/* Of Reference, and its values of Range. */
enum { REFERENCE_SPLIT_KEY = 1, REFERENCE_RANGE = 2, RANGE_TOP = 0, RANGE_BOTTOM = 1 };

/* The key before all cells of a row: the row with its length in front, no family, no qualifier,
 * the last timestamp, type Maximum. */
static bool
take_split_row(petal_slice key, petal_slice *row)
{
    static const uint8_t rest[] = {0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct hfile_bytes left = hfile_bytes_of(key);
    uint16_t size;

    return hfile_take_u16(&left, &size) && hfile_take_slice(&left, size, row) &&
           hfile_bytes_left(&left) == sizeof rest && memcmp(left.at, rest, sizeof rest) == 0;
}

enum petal_status
reference_parse(petal_slice message, struct arena *arena, const char *file, enum half *half,
                petal_slice *split_row, petal_error *error)
{
    struct hfile_bytes left = hfile_bytes_of(message);
    struct hfile_field field;
    petal_slice row = {NULL, 0};
    uint64_t range = UINT64_MAX;
    bool has_row = false;
    char *copy;

    while (hfile_field_take(&left, &field)) {
        if (field.is_bytes && field.number == REFERENCE_SPLIT_KEY)
            has_row = take_split_row(field.bytes, &row);
        else if (!field.is_bytes && field.number == REFERENCE_RANGE)
            range = field.value;
    }
    /* All rows are after the empty one, so that no cell would be left of such a bottom half. */
    if (hfile_bytes_left(&left) > 0 || !has_row || range > RANGE_BOTTOM ||
        (range == RANGE_BOTTOM && row.size == 0))
        return hfile_error_corrupt(error, file, 0, "this is not a reference to half of a file");
    copy = arena_copy(arena, row);
    if (copy == NULL)
        return hfile_error_no_memory(error);
    *split_row = hfile_slice(copy, row.size);
    *half = range == RANGE_TOP ? HALF_TOP : HALF_BOTTOM;
    return PETAL_OK;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* The folder that holds `path`, and what `path` is called there; NULL: there is none. */
static const char *
folder_of(struct arena *arena, const char *path, const char **name)
{
    const char *slash = path == NULL ? NULL : strrchr(path, '/');

    if (slash == NULL || slash[1] == '\0')
        return NULL;
    *name = slash + 1;
    return arena_copy(arena, hfile_slice(path, slash == path ? 1 : (size_t)(slash - path)));
}

enum petal_status
target_place_of(struct target_place *place, struct arena *arena, const char *file,
                petal_error *error)
{
    const char *slash = strrchr(file, '/'), *name, *family_folder, *region_folder, *data, *archive;
    char *folder = slash == NULL ? arena_copy(arena, hfile_text_slice("."))
                                 : arena_copy(arena, hfile_slice(file, (size_t)(slash - file) + 1));
    char *real = folder == NULL ? NULL : realpath(folder, NULL);

    *place = (struct target_place){.space = "", .table = "", .family = ""};
    if (folder == NULL || (real == NULL && errno == ENOMEM))
        return hfile_error_no_memory(error);
    if (real == NULL)
        return hfile_error_io(error, folder, errno, "look at");
    family_folder = arena_copy(arena, hfile_text_slice(real));
    free(real);
    if (family_folder == NULL)
        return hfile_error_no_memory(error);
    region_folder = folder_of(arena, family_folder, &place->family);
    place->table_folder = folder_of(arena, region_folder, &name);
    place->space_folder = folder_of(arena, place->table_folder, &place->table);
    data = folder_of(arena, place->space_folder, &place->space);
    place->roots[0] = folder_of(arena, data, &name);
    if (place->roots[0] == NULL || strcmp(name, "data") != 0) {
        place->roots[0] = NULL;
        return PETAL_OK;
    }
    archive = folder_of(arena, place->roots[0], &name);
    if (archive != NULL && strcmp(name, "archive") == 0)
        place->roots[1] = archive;
    return PETAL_OK;
}

/* A name of one folder or file, and not of those that hold it or are hidden in it. */
static bool
is_plain(petal_slice name)
{
    return name.size > 0 && *(const char *)name.data != '.' &&
           memchr(name.data, '/', name.size) == NULL;
}

#define TEXT(slice) (int)(slice).size, (const char *)(slice).data

enum petal_status
target_find(const struct target_place *place, struct arena *arena, const struct hfile_name *name,
            const char *file, const char **path, petal_error *error)
{
    static const char *const below[] = {"data", "archive/data"};
    const bool has_table = name->table.size > 0;
    const petal_slice table = has_table ? name->table : hfile_text_slice(place->table);
    const petal_slice space = name->space.size > 0 ? name->space
                              : has_table          ? hfile_text_slice("default")
                                                   : hfile_text_slice(place->space);
    const petal_slice family = hfile_text_slice(place->family);
    char tail[3 * NAME_MAX + 4], found[PATH_MAX];
    struct stat what;
    int size;

    if (!is_plain(name->region) || !is_plain(name->file) || !is_plain(family) ||
        (has_table && !is_plain(table)) || (has_table && !is_plain(space)))
        return hfile_error_corrupt(error, file, 0, "by its name it stands for no file");
    size = snprintf(tail, sizeof tail, "%.*s/%.*s/%.*s", TEXT(name->region), TEXT(family),
                    TEXT(name->file));
    if (size < 0 || (size_t)size >= sizeof tail)
        return hfile_error_corrupt(error, file, 0, "by its name it stands for no file");
    for (size_t i = 0; i < 2 + 2 * TARGET_MOST_ROOTS; i++) {
        const char *root = i == 0   ? place->table_folder
                           : i == 1 ? place->space_folder
                                    : place->roots[(i - 2) / 2];

        if (root == NULL || (i > 0 && !is_plain(table)) || (i > 1 && !is_plain(space)))
            continue;
        if (i == 0)
            size = snprintf(found, sizeof found, "%s/%s", root, tail);
        else if (i == 1)
            size = snprintf(found, sizeof found, "%s/%.*s/%s", root, TEXT(table), tail);
        else
            size = snprintf(found, sizeof found, "%s/%s/%.*s/%.*s/%s", root, below[i % 2],
                            TEXT(space), TEXT(table), tail);
        if (size < 0 || (size_t)size >= sizeof found || stat(found, &what) != 0)
            continue;
        *path = arena_copy(arena, hfile_slice(found, (size_t)size));
        return *path == NULL ? hfile_error_no_memory(error) : PETAL_OK;
    }
    return hfile_error_set(error, PETAL_NOT_FOUND, file,
                           "the file that this stands for is neither in data nor in archive/data: "
                           "'%.*s/%.*s/%s'",
                           TEXT(space), TEXT(table), tail);
}
