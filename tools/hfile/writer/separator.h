/*
 * separator.h -- the key under which a data block is entered in the index: not its first key, but
 * as short a one as still lies after all keys of the block before.
 */
#ifndef PETAL_HFILE_WRITER_SEPARATOR_H
#define PETAL_HFILE_WRITER_SEPARATOR_H

#include "tools/hfile/format/buffer.h"

/*
 * Puts into `separator` HBase's choice of a serialised key after `last` and not after `first`,
 * both serialised, of one family. False: there is no memory. REQUIRES: last is not after first.
 */
bool hfile_separator(petal_slice last, petal_slice first, struct hfile_buffer *separator);

#endif
