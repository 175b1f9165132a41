/* name.c -- what the names of HBase's files say. */
#include "tools/hfile/petal_hfile.h"

#include <string.h>

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

/* TABLE=REGION-HASH; a table's name has no '=', a region's neither that nor '-'. */
static bool
is_link(const char *name)
{
    const char *equals = strchr(name, '=');

    return equals != NULL && equals > name && strlen(equals + 1) > ENCODED_REGION_BYTES + 1 &&
           is_hexadecimal(equals + 1, ENCODED_REGION_BYTES) &&
           equals[1 + ENCODED_REGION_BYTES] == '-';
}

/* MD5 of the start key, the date in 8 digits, UUID in 32, and since 2.4 "_" and a region. */
static bool
is_mob(const char *name)
{
    const size_t date_at = 32, uuid_at = 40, end = 72;

    return is_hexadecimal(name, date_at) && strspn(name + date_at, "0123456789") >= 8 &&
           is_hexadecimal(name + uuid_at, end - uuid_at) && (name[end] == '\0' || name[end] == '_');
}

enum petal_hfile_name_kind
petal_hfile_name_kind_of(const char *path)
{
    if (path == NULL)
        return PETAL_HFILE_NAME_STORE_FILE;

    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    bool has_region = region_behind_dot(name) != NULL;

    if (is_link(name))
        return has_region ? PETAL_HFILE_NAME_LINK_REFERENCE : PETAL_HFILE_NAME_LINK;
    if (has_region)
        return PETAL_HFILE_NAME_REFERENCE;
    return strlen(name) >= 72 && is_mob(name) ? PETAL_HFILE_NAME_MOB : PETAL_HFILE_NAME_STORE_FILE;
}
