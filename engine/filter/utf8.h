/*
 * utf8.h -- bytes as characters, as Java's String decodes them: invalid bytes become U+FFFD, one
 * for each longest part that could have begun a character. A surrogate written as three bytes is
 * one U+FFFD.
 */
#ifndef PETAL_ENGINE_FILTER_UTF8_H
#define PETAL_ENGINE_FILTER_UTF8_H

#include <stdint.h>

#define UTF8_REPLACEMENT 0xFFFDu

/* The character at *at, which moves past it. REQUIRES: *at < limit. */
uint32_t utf8_next(const uint8_t **at, const uint8_t *limit);

/* The lower case of ASCII, Latin-1, Latin Extended-A, Greek and Cyrillic letters; others
 * unchanged. */
uint32_t utf8_lower(uint32_t character);

#endif
