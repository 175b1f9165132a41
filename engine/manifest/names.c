/* names.c -- see engine/manifest/names.h. */
#include "engine/manifest/names.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MANIFEST_NAME           "MANIFEST"
#define MANIFEST_TEMPORARY_NAME "MANIFEST.tmp"
#define LOCK_NAME               "LOCK"
#define READERS_NAME            "READERS"
#define LOG_SUFFIX              ".log"
#define STORE_FILE_SUFFIX       ".sst"

/* "/", the 20 digits of the greatest number, a suffix of 4, the final 0. */
#define LONGEST_NAME_BYTES 26
#define LEAST_DIGITS       6

bool
filename_directory_fits(const char *directory)
{
    size_t length = strlen(directory);

    return length > 0 && length <= PETAL_PATH_BYTES - LONGEST_NAME_BYTES;
}

static void
numbered(char *path, const char *directory, uint64_t number, const char *suffix)
{
    assert(filename_directory_fits(directory));
    snprintf(path, PETAL_PATH_BYTES, "%s/%06" PRIu64 "%s", directory, number, suffix);
}

static void
named(char *path, const char *directory, const char *name)
{
    assert(filename_directory_fits(directory));
    snprintf(path, PETAL_PATH_BYTES, "%s/%s", directory, name);
}

void
filename_wal(char path[PETAL_PATH_BYTES], const char *directory, uint64_t number)
{
    numbered(path, directory, number, LOG_SUFFIX);
}

void
filename_store_file(char path[PETAL_PATH_BYTES], const char *directory, uint64_t number)
{
    numbered(path, directory, number, STORE_FILE_SUFFIX);
}

void
filename_manifest(char path[PETAL_PATH_BYTES], const char *directory)
{
    named(path, directory, MANIFEST_NAME);
}

void
filename_manifest_temporary(char path[PETAL_PATH_BYTES], const char *directory)
{
    named(path, directory, MANIFEST_TEMPORARY_NAME);
}

void
filename_lock(char path[PETAL_PATH_BYTES], const char *directory)
{
    named(path, directory, LOCK_NAME);
}

void
filename_readers(char path[PETAL_PATH_BYTES], const char *directory)
{
    named(path, directory, READERS_NAME);
}

/* The suffix after a number in its one spelling; NULL: there is none, or it does not fit, or it is
 * 0, which is no file's. */
static const char *
parse_number(const char *name, uint64_t *number)
{
    const char *at = name;
    uint64_t value = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');

        if (value > (UINT64_MAX - digit) / 10)
            return NULL;
        value = value * 10 + digit;
    }
    if (value == 0 || at - name < LEAST_DIGITS || (at - name > LEAST_DIGITS && name[0] == '0'))
        return NULL;
    *number = value;
    return at;
}

enum filename_kind
filename_parse(const char *name, uint64_t *number)
{
    uint64_t parsed = 0;
    const char *suffix = parse_number(name, &parsed);

    *number = 0;
    if (strcmp(name, MANIFEST_NAME) == 0)
        return FILENAME_MANIFEST;
    if (strcmp(name, MANIFEST_TEMPORARY_NAME) == 0)
        return FILENAME_MANIFEST_TEMPORARY;
    if (strcmp(name, LOCK_NAME) == 0)
        return FILENAME_LOCK;
    if (strcmp(name, READERS_NAME) == 0)
        return FILENAME_READERS;
    if (suffix == NULL)
        return FILENAME_OTHER;
    if (strcmp(suffix, LOG_SUFFIX) != 0 && strcmp(suffix, STORE_FILE_SUFFIX) != 0)
        return FILENAME_OTHER;
    *number = parsed;
    return strcmp(suffix, LOG_SUFFIX) == 0 ? FILENAME_WAL : FILENAME_STORE_FILE;
}
