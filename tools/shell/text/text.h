/*
 * text.h -- a growing text, and the shell's ways of writing bytes and times.
 *
 * A struct text of zeros is an empty one; text_free gives its memory back.  Its bytes may hold
 * zeros; after them stands one more zero, so that text_string is a C string.
 *
 * The room text: bytes that grow, arenas, clocks, progress; what knows nothing of the shell.
 */
#ifndef PETAL_TOOLS_SHELL_TEXT_TEXT_H
#define PETAL_TOOLS_SHELL_TEXT_TEXT_H

#include "engine/petal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The two arguments that "%.*s" wants of a slice; or of its first bytes. */
#define SLICE(slice) (int)(slice).size, (const char *)(slice).data
#define SLICE_UP_TO(most, slice)                                                                   \
    ((slice).size < (most) ? (int)(slice).size : (most)), (const char *)(slice).data

struct text {
    char *bytes;
    size_t size, capacity;
};

void text_free(struct text *text);
void text_clear(struct text *text);
/* Make room for so many bytes more, and a zero. */
void text_reserve(struct text *text, size_t more);
void text_add(struct text *text, const void *bytes, size_t size);
void text_add_string(struct text *text, const char *string);
void text_add_slice(struct text *text, petal_slice bytes);
void text_add_format(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "1 row", "2 rows" */
void text_add_count(struct text *text, uint64_t count, const char *noun);

/* Bytes as HBase prints keys and values: 0x20..0x7E but the backslash as they are, others as
 * \xHH. */
void text_add_binary(struct text *text, petal_slice bytes);

/* Bytes as a string that the shell reads back: 'it\'s me'; in double quotes with \xHH where they
 * are not all printable. */
void text_add_literal(struct text *text, petal_slice bytes);

/* The value of a hex digit of either case, -1 if it is none. */
int text_hex_digit(char letter);

/* The byte that two hex digits stand for, -1 if they are none. */
int text_hex_byte(const char *letters);

/* A number of bytes: 65536, 64KB, 64 kiB, 2G, or "65536 B (64KB)", as text_add_size writes it.
 * False: it is none, or too large. */
bool text_read_size(petal_slice text, uint64_t *bytes);

/* Milliseconds since 1970 as local ISO date and time, without the seconds and milliseconds that
 * are 0. */
void text_add_time(struct text *text, int64_t milliseconds);

/* "2025-02-06 12:02:23 +0000": local date and time with their offset, in whole seconds. */
void text_add_date(struct text *text, int64_t milliseconds);

/* As java.util.Date shows it: "Sat Aug 16 20:56:29 UTC 2008". */
void text_add_java_date(struct text *text, int64_t milliseconds);

/* "65536 B (64KB)", as HBase prints sizes. */
void text_add_size(struct text *text, uint64_t bytes);

/* Files of some editors begin with a byte order mark, the bytes EF BB BF: cut it off. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"
void text_drop_byte_order_mark(struct text *text);

const char *text_string(const struct text *text);
petal_slice text_slice(const struct text *text);

petal_slice slice_of_string(const char *string);
bool slice_is(petal_slice bytes, const char *string);
bool slices_equal(petal_slice a, petal_slice b);
int slices_compare(petal_slice a, petal_slice b);

/* Bytes of the valid UTF-8 character at the start of `bytes`, 0 if there is none. */
size_t utf8_character_bytes(petal_slice bytes);

/* Take the first character of what is not empty off, or a byte that begins none. */
petal_slice text_take_character(petal_slice *rest);
size_t text_characters(petal_slice bytes);

/* Take so many characters off, or all that there are. */
petal_slice text_take_characters(petal_slice *rest, uint64_t count);

/* The code of such a character; of a byte that begins none, the byte. */
uint32_t utf8_code(petal_slice character);

/* Add the character of a code, 0 to 0x10ffff, in UTF-8. */
void text_add_character(struct text *text, uint32_t code);

/* HBase's words for types of cells, such as Put and DeleteColumn. */
const char *cell_type_name(enum petal_cell_type type);
bool cell_type_read(petal_slice name, enum petal_cell_type *type);

#endif
