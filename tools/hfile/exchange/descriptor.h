/*
 * descriptor.h -- what a table and its families were in HBase, as options of a table of Petal: from
 * a .tableinfo, from the manifest of a snapshot, from the text of the shell's describe, or, where
 * there is none of these, from the HFiles themselves.
 *
 * Attributes that Petal does not act upon are kept as HBase's (PETAL_KEPT_ATTRIBUTE), what it does
 * not know as metadata, configuration as such. A value that Petal cannot take is an error that
 * names it.
 */
#ifndef PETAL_HFILE_EXCHANGE_DESCRIPTOR_H
#define PETAL_HFILE_EXCHANGE_DESCRIPTOR_H

#include "tools/hfile/exchange/arena.h"

struct descriptor {
    struct arena *arena; /* of all that the options point to */
    petal_table_options table;
    petal_family_options *families; /* those of `table` */
    size_t family_capacity, attribute_capacity;
    size_t *family_attribute_capacities;
};

void descriptor_init(struct descriptor *descriptor, struct arena *arena);

/* The family of that name, new if it has not come before; NULL: no memory. */
petal_family_options *descriptor_family(struct descriptor *descriptor, petal_slice name);

/*
 * An attribute as HBase gives it, by name and text ("BLOOMFILTER", "ROWCOL"). `file` stands in
 * errors.
 */
enum petal_status descriptor_set_family(struct descriptor *descriptor, petal_family_options *family,
                                        enum petal_attribute_kind kind, petal_slice name,
                                        petal_slice value, const char *file, petal_error *error);
enum petal_status descriptor_set_table(struct descriptor *descriptor,
                                       enum petal_attribute_kind kind, petal_slice name,
                                       petal_slice value, const char *file, petal_error *error);

/* A TableSchema of HBase's protocol, as .tableinfo and the manifests of snapshots have it. */
enum petal_status descriptor_parse_schema(struct descriptor *descriptor, petal_slice message,
                                          const char *file, petal_error *error);

/* The lines {NAME => 'cf', VERSIONS => '3', ..} in what the shell of HBase, or of Petal, prints for
 * describe. */
enum petal_status descriptor_parse_text(struct descriptor *descriptor, petal_slice text,
                                        const char *file, petal_error *error);

#endif
