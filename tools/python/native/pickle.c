#include "tools/python/native/pickle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The opcodes are those of protocol 4, which every Python reads. */
#define PROTOCOL "\x80\x04"

/* Room for `size` more bytes; NULL when there is none. */
static char *
reserve(struct pickle *pickle, size_t size)
{
    if (pickle->failed)
        return NULL;
    if (pickle->capacity - pickle->size < size) {
        size_t capacity = pickle->capacity ? pickle->capacity : 1024;
        while (capacity - pickle->size < size) {
            if (capacity > SIZE_MAX / 2) {
                pickle->failed = true;
                return NULL;
            }
            capacity *= 2;
        }
        char *bytes = realloc(pickle->bytes, capacity);
        if (!bytes) {
            pickle->failed = true;
            return NULL;
        }
        pickle->bytes = bytes;
        pickle->capacity = capacity;
    }
    return pickle->bytes + pickle->size;
}

static void
opcodes(struct pickle *pickle, const char *codes, size_t size)
{
    char *to = reserve(pickle, size);
    if (!to)
        return;
    memcpy(to, codes, size);
    pickle->size += size;
}

static char *
little_endian(char *to, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *to++ = (char)(unsigned char)(number >> (8 * i));
    return to;
}

/* Room for bytes of that size, after their head; they count as written. */
static char *
bytes_of_size(struct pickle *pickle, size_t size)
{
    assert(size <= UINT32_MAX); /* as all keys and values are */
    char *to = reserve(pickle, size + 5);
    if (!to)
        return NULL;
    char *start = to;
    if (size < 256) {
        *to++ = 'C';
        to = little_endian(to, size, 1);
    } else {
        *to++ = 'B';
        to = little_endian(to, size, 4);
    }
    pickle->size += (size_t)(to - start) + size;
    return to;
}

static char *
copy(char *to, petal_slice bytes)
{
    if (bytes.size)
        memcpy(to, bytes.data, bytes.size);
    return to + bytes.size;
}

void
pickle_begin(struct pickle *pickle)
{
    pickle->size = 0;
    pickle->failed = false;
    if (pickle->memo_count)
        memset(pickle->names, 0, sizeof pickle->names);
    pickle->memo_count = 0;
    opcodes(pickle, PROTOCOL, 2);
}

void
pickle_end(struct pickle *pickle)
{
    opcodes(pickle, ".", 1);
}

void
pickle_list_begin(struct pickle *pickle)
{
    opcodes(pickle, "](", 2);
}

void
pickle_list_end(struct pickle *pickle)
{
    opcodes(pickle, "e", 1);
}

void
pickle_dict_begin(struct pickle *pickle)
{
    opcodes(pickle, "}(", 2);
}

void
pickle_dict_end(struct pickle *pickle)
{
    opcodes(pickle, "u", 1);
}

void
pickle_pair(struct pickle *pickle)
{
    opcodes(pickle, "\x86", 1);
}

void
pickle_none(struct pickle *pickle)
{
    opcodes(pickle, "N", 1);
}

void
pickle_bytes(struct pickle *pickle, petal_slice bytes)
{
    char *to = bytes_of_size(pickle, bytes.size);
    if (to)
        copy(to, bytes);
}

void
pickle_number(struct pickle *pickle, int64_t number)
{
    char *to = reserve(pickle, 10);
    if (!to)
        return;
    *to++ = '\x8a';
    *to++ = 8;
    little_endian(to, (uint64_t)number, 8);
    pickle->size += 10;
}

/* Where the column is kept if it is in the memo. Columns that share a place drive each other out. */
static size_t
place_of(const petal_cell *cell)
{
    const unsigned char *qualifier = cell->qualifier.data;
    size_t hash = cell->qualifier.size * 31 + cell->family.size;
    size_t from = cell->qualifier.size > 8 ? cell->qualifier.size - 8 : 0;
    for (size_t i = from; i < cell->qualifier.size; i++)
        hash = hash * 31 + qualifier[i];
    return hash % PICKLE_NAMES;
}

static bool
is_name_of(const struct pickle *pickle, const struct pickle_name *name, const petal_cell *cell)
{
    if (name->size != cell->family.size + 1 + cell->qualifier.size ||
        name->family_size != cell->family.size)
        return false;
    const char *bytes = pickle->bytes + name->place;
    return memcmp(bytes, cell->family.data, cell->family.size) == 0 &&
           (!cell->qualifier.size ||
            memcmp(bytes + cell->family.size + 1, cell->qualifier.data, cell->qualifier.size) == 0);
}

void
pickle_column(struct pickle *pickle, const petal_cell *cell, bool again)
{
    struct pickle_name *name = &pickle->names[place_of(cell)];
    size_t size = cell->family.size + 1 + cell->qualifier.size;
    if (pickle->failed)
        return;
    if (again && name->size && is_name_of(pickle, name, cell)) {
        char *to = reserve(pickle, 5);
        if (!to)
            return;
        *to++ = 'j';
        little_endian(to, name->number, 4);
        pickle->size += 5;
        return;
    }
    char *to = bytes_of_size(pickle, size);
    if (!to)
        return;
    size_t place = (size_t)(to - pickle->bytes);
    to = copy(to, cell->family);
    *to++ = ':';
    copy(to, cell->qualifier);
    if (again) {
        opcodes(pickle, "\x94", 1);
        *name = (struct pickle_name){.place = place,
                                     .family_size = (uint32_t)cell->family.size,
                                     .size = (uint32_t)size,
                                     .number = pickle->memo_count++};
    }
}

void
pickle_release(struct pickle *pickle)
{
    free(pickle->bytes);
    *pickle = (struct pickle){0};
}
