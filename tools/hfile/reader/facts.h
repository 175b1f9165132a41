/* facts.h -- what trailer, FILE_INFO and the index's root say of a file, taken apart once. */
#ifndef PETAL_HFILE_READER_FACTS_H
#define PETAL_HFILE_READER_FACTS_H

#include "tools/hfile/reader/file.h"

/* Of the trailer: what the file's blocks need. PETAL_UNSUPPORTED names what cannot be read. */
enum petal_status hfile_facts_from_trailer(petal_hfile *file, petal_error *error);

/* Of FILE_INFO, when it is read: fills file->info, layout and encoding, but for the first row. */
enum petal_status hfile_facts_from_file_info(petal_hfile *file, petal_error *error);

/* Of the index's root, when that is read: the first row. */
enum petal_status hfile_facts_from_root(petal_hfile *file, petal_error *error);

#endif
