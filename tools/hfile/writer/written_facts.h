/*
 * written_facts.h -- what FILE_INFO says of the cells of a file, gathered as they are written.
 */
#ifndef PETAL_HFILE_WRITER_WRITTEN_FACTS_H
#define PETAL_HFILE_WRITER_WRITTEN_FACTS_H

#include "tools/hfile/format/encoder.h"
#include "tools/hfile/format/file_info.h"

struct hfile_written_facts {
    uint64_t cells, key_bytes, value_bytes, delete_family_cells;
    uint64_t biggest_bytes;
    struct hfile_buffer biggest_key;
    int64_t time_min, time_max, earliest_put, greatest_sequence;
    size_t most_tags_bytes;
};

void hfile_written_facts_init(struct hfile_written_facts *facts, const petal_allocator *allocator);
void hfile_written_facts_free(struct hfile_written_facts *facts);

/* False: there is no memory. */
bool hfile_written_facts_add(struct hfile_written_facts *facts,
                             const struct hfile_keyed_cell *keyed);

/* Is it a marker of the whole family, DeleteFamily or DeleteFamilyVersion? */
static inline bool
hfile_is_delete_family(const petal_hfile_cell *cell)
{
    return cell->type == PETAL_DELETE_FAMILY || cell->type == PETAL_DELETE_FAMILY_VERSION;
}

/* Add what every HFile has, and what a store file has in addition. `last_key` is serialised,
 * empty in an empty file. False: there is no memory. */
bool hfile_written_facts_put(const struct hfile_written_facts *facts,
                             const petal_hfile_write_options *options, petal_slice last_key,
                             struct hfile_file_info *info);
bool hfile_written_facts_put_store(const struct hfile_written_facts *facts,
                                   const petal_hfile_write_options *options,
                                   struct hfile_file_info *info);

/* Is it the name of an entry that the writer makes, or that HBase keeps to itself? */
bool hfile_is_reserved_name(petal_slice key);

#endif
