/* sha256.h -- FIPS 180-4: how the texts next to golden files give long values. */
#ifndef PETAL_TESTS_HFILE_SHA256_H
#define PETAL_TESTS_HFILE_SHA256_H

#include <stddef.h>

/* 64 hexadecimal digits and a zero. */
void sha256_text(const void *bytes, size_t size, char *text);

#endif
