/* texts.c -- what the library calls things, and its version, as petal.h had it when the library was
 * compiled. */
#include "engine/petal.h"

#include <string.h>

#define NUMBER_TEXT(number) #number
#define TEXT_OF(number)     NUMBER_TEXT(number)

const char *
petal_version(void)
{
    return TEXT_OF(PETAL_VERSION_MAJOR) "." TEXT_OF(PETAL_VERSION_MINOR) "." TEXT_OF(
        PETAL_VERSION_PATCH);
}

petal_slice
petal_text(const char *text)
{
    return (petal_slice){text, text != NULL ? strlen(text) : 0};
}

const char *
petal_status_text(enum petal_status status)
{
    switch (status) {
#define STATUS_TEXT(name, value, text)                                                             \
    case PETAL_##name:                                                                             \
        return text;
        PETAL_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

const char *
petal_skip_text(enum petal_skip skip)
{
    static const char *const texts[PETAL_SKIP_COUNT] = {
        [PETAL_SKIP_NONE] = "read",           [PETAL_SKIP_FOUND_NEWER] = "found newer",
        [PETAL_SKIP_ROW_RANGE] = "row range", [PETAL_SKIP_TIME_RANGE] = "time range",
        [PETAL_SKIP_EXPIRED] = "expired",     [PETAL_SKIP_COLUMNS] = "columns",
        [PETAL_SKIP_BLOOM] = "Bloom filter",
    };

    return (unsigned)skip < PETAL_SKIP_COUNT ? texts[skip] : "unknown reason";
}

const char *
petal_hidden_text(enum petal_hidden by)
{
    static const char *const texts[PETAL_HIDDEN_COUNT] = {
        [PETAL_HIDDEN_DELETE] = "delete of its version",
        [PETAL_HIDDEN_DELETE_FAMILY_VERSION] = "delete of the family's version",
        [PETAL_HIDDEN_DELETE_COLUMN] = "delete of the column",
        [PETAL_HIDDEN_DELETE_FAMILY] = "delete of the family",
        [PETAL_HIDDEN_ENDED] = "delete or later write",
        [PETAL_HIDDEN_REPLACED] = "later write with its timestamp",
        [PETAL_HIDDEN_VERSIONS] = "newer versions",
        [PETAL_HIDDEN_TIME_RANGE] = "time range",
        [PETAL_HIDDEN_EXPIRED] = "time to live",
        [PETAL_HIDDEN_LATER] = "written later",
        [PETAL_HIDDEN_FILTER] = "filter or limit",
    };

    return (unsigned)by < PETAL_HIDDEN_COUNT ? texts[by] : "unknown";
}
