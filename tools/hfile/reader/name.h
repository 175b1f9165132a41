/* name.h -- the parts of the names that HBase gives to files in a family's folder. */
#ifndef PETAL_HFILE_READER_NAME_H
#define PETAL_HFILE_READER_NAME_H

#include "tools/hfile/petal_hfile.h"

/*
 * NAME.PARENT (reference), [NAMESPACE=]TABLE=REGION-NAME (link),
 * [NAMESPACE=]TABLE=REGION-NAME.PARENT (reference to what a link stands for). Parts that the name
 * does not have are empty. REGION and PARENT are 32 hexadecimal digits. Nothing else is checked: a
 * part may be "..".
 */
struct hfile_name {
    enum petal_hfile_name_kind kind;
    petal_slice space, table, region, file; /* region, file: of the file that is meant */
    petal_slice parent; /* of a reference: the region that was split or merged */
};

/* Of the last part of `path`. Slices point into `path`. */
void hfile_name_parse(const char *path, struct hfile_name *name);

#endif
