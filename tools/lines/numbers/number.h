/*
 * number.h -- a whole number as text or bytes, and as a KEY: an unsigned number that has its place
 * in the order, so that all that sorts and counts needs to know nothing of signs.
 *
 * Numbers are those of 64 bits, signed, or unsigned where that is asked for. Text is decimal, with
 * blanks around it, and a sign before it if that is wanted; bytes are little-endian.
 *
 * Threads: pure.
 */
#ifndef PETAL_TOOLS_LINES_NUMBERS_NUMBER_H
#define PETAL_TOOLS_LINES_NUMBERS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_form {
    bool is_unsigned;
    unsigned bytes; /* of a number: 4 or 8; 0: it is a line of text */
};

/* The least and the greatest number that the form can write, as keys. */
uint64_t number_least(const struct number_form *form);
uint64_t number_greatest(const struct number_form *form);

/* Is all of the text a number of this form? */
bool number_read_text(const struct number_form *form, const char *text, size_t size, uint64_t *key);

/* REQUIRES: `bytes` of the form is not 0; so many bytes are there. */
uint64_t number_read_bytes(const struct number_form *form, const uint8_t *bytes);

#define NUMBER_TEXT_BYTES 20

/* Without a newline or a zero after it; returns how many bytes it has. */
size_t number_write_text(const struct number_form *form, uint64_t key,
                         char text[NUMBER_TEXT_BYTES]);

/* Returns `bytes` of the form, which is not 0. REQUIRES: number_least <= key <= number_greatest. */
size_t number_write_bytes(const struct number_form *form, uint64_t key, uint8_t bytes[8]);

#endif
