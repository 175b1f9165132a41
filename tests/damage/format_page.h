/*
 * format_page.h -- the fields of a structure, as the tables of a FORMAT.md give them. A test that
 * takes its fields from there tries a new field as soon as the page has it.
 */
#ifndef PETAL_TESTS_DAMAGE_FORMAT_PAGE_H
#define PETAL_TESTS_DAMAGE_FORMAT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SSTABLE_PAGE "sstable/FORMAT.md"
#define ENGINE_PAGE  "engine/FORMAT.md"

struct page_field {
    size_t at;      /* from the structure's beginning, or before its end */
    bool from_end;  /* "end - 16" */
    unsigned bytes; /* 1, 2, 4, 8 or so many zeros */
    char meaning[100];
};

#define PAGE_MOST_FIELDS 48

/* The fields of fixed place and size in the first table of offsets after the heading; fails the
 * test when there is no such heading or table. Returns how many there are. */
size_t page_fields(const char *page, const char *heading, struct page_field *fields);

/* The numbers in the first column of the first table after the heading that begins so ("| tag |"
 * for instance). */
size_t page_numbers(const char *page, const char *table, unsigned *numbers, size_t most);

#endif
