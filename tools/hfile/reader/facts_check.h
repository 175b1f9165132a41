/*
 * facts_check.h -- what FILE_INFO and trailer say of the cells, gathered from the cells themselves
 * and compared.
 */
#ifndef PETAL_HFILE_READER_FACTS_CHECK_H
#define PETAL_HFILE_READER_FACTS_CHECK_H

#include "tools/hfile/reader/file.h"

struct hfile_facts_check {
    uint64_t cells, delete_family_cells;
    uint64_t key_bytes, value_bytes;
    uint64_t most_tags_bytes;
    int64_t greatest_sequence;
    int64_t time_min, time_max, earliest_put;
    struct hfile_buffer last_key;
};

void hfile_facts_check_init(struct hfile_facts_check *facts, const petal_allocator *allocator);
void hfile_facts_check_free(struct hfile_facts_check *facts);

/* But for the last key. */
void hfile_facts_check_add(struct hfile_facts_check *facts, const petal_hfile_cell *cell);

/* The last cell of a block; false: there is no memory. */
bool hfile_facts_check_end_block(struct hfile_facts_check *facts, const petal_hfile_cell *cell);

enum petal_status hfile_facts_check_compare(const struct hfile_facts_check *facts,
                                            const petal_hfile *file, petal_error *error);

#endif
