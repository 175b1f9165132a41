/* name.c -- what the names of HBase's files say. */
#include "tools/hfile/reader/name.h"

#include "tools/hfile/format/bytes.h"

#define ENCODED_REGION_BYTES 32 /* MD5, in hexadecimal digits */

static bool
is_hexadecimal(const char *text, size_t size)
{
    return strspn(text, "0123456789abcdef") >= size;
}

/* NAME.REGION: where the dot stands, else NULL. */
static const char *
region_behind_dot(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot != NULL && dot > name && strlen(dot + 1) == ENCODED_REGION_BYTES &&
                   is_hexadecimal(dot + 1, ENCODED_REGION_BYTES)
               ? dot
               : NULL;
}

/* [NAMESPACE=]TABLE=REGION-HASH up to `end`: no table's or region's name has a '='. */
static bool
parse_link(const char *name, const char *end, struct hfile_name *parsed)
{
    const char *equals = memrchr(name, '=', (size_t)(end - name));
    const char *table;

    if (equals == NULL || equals == name || end - equals <= ENCODED_REGION_BYTES + 2 ||
        !is_hexadecimal(equals + 1, ENCODED_REGION_BYTES) ||
        equals[1 + ENCODED_REGION_BYTES] != '-')
        return false;
    table = memrchr(name, '=', (size_t)(equals - name));
    if (table == name || table == equals - 1)
        return false;
    if (table != NULL)
        parsed->space = hfile_slice(name, (size_t)(table - name));
    table = table == NULL ? name : table + 1;
    parsed->table = hfile_slice(table, (size_t)(equals - table));
    parsed->region = hfile_slice(equals + 1, ENCODED_REGION_BYTES);
    parsed->file = hfile_slice(equals + ENCODED_REGION_BYTES + 2,
                               (size_t)(end - equals) - ENCODED_REGION_BYTES - 2);
    return true;
}

/* MD5 of the start key, the date in 8 digits, UUID in 32, and since 2.4 "_" and a region. */
static bool
is_mob(const char *name)
{
    const size_t date_at = 32, uuid_at = 40, end = 72;

    return is_hexadecimal(name, date_at) && strspn(name + date_at, "0123456789") >= 8 &&
           is_hexadecimal(name + uuid_at, end - uuid_at) && (name[end] == '\0' || name[end] == '_');
}

void
hfile_name_parse(const char *path, struct hfile_name *parsed)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const char *dot = region_behind_dot(name);
    const char *end = dot == NULL ? name + strlen(name) : dot;

    *parsed = (struct hfile_name){.kind = PETAL_HFILE_NAME_STORE_FILE};
    if (dot != NULL)
        parsed->parent = hfile_slice(dot + 1, ENCODED_REGION_BYTES);
    if (parse_link(name, end, parsed)) {
        parsed->kind = dot != NULL ? PETAL_HFILE_NAME_LINK_REFERENCE : PETAL_HFILE_NAME_LINK;
        return;
    }
    parsed->file = hfile_slice(name, (size_t)(end - name));
    if (dot != NULL) {
        parsed->kind = PETAL_HFILE_NAME_REFERENCE;
        parsed->region = parsed->parent;
    } else if (strlen(name) >= 72 && is_mob(name)) {
        parsed->kind = PETAL_HFILE_NAME_MOB;
    }
}

enum petal_hfile_name_kind
petal_hfile_name_kind_of(const char *path)
{
    struct hfile_name name;

    if (path == NULL)
        return PETAL_HFILE_NAME_STORE_FILE;
    hfile_name_parse(path, &name);
    return name.kind;
}
