/*
 * protobuf.h -- as much of protobuf's wire format as HBase's files need: fields one after
 * the other, each a varint with number and kind, then the value.
 */
#ifndef PETAL_HFILE_FORMAT_PROTOBUF_H
#define PETAL_HFILE_FORMAT_PROTOBUF_H

#include "tools/hfile/format/buffer.h"

struct hfile_field {
    uint32_t number;
    bool is_bytes;
    uint64_t value;    /* of a number, whatever it is stored as */
    petal_slice bytes; /* of anything else */
};

/* The next field of a message. False: there is none, or what follows is none; at the end of the
 * message nothing is left of it. */
bool hfile_field_take(struct hfile_bytes *message, struct hfile_field *field);

/* Bytes that hfile_field_append_bytes appends. */
size_t hfile_field_bytes(uint32_t number, size_t size);

bool hfile_field_append_number(struct hfile_buffer *buffer, uint32_t number, uint64_t value);
bool hfile_field_append_bytes(struct hfile_buffer *buffer, uint32_t number, petal_slice bytes);

/* A message of two fields of bytes; one that it lacks is empty, its data NULL. False: it is not
 * such a message. */
bool hfile_pair_take(petal_slice message, petal_slice *first, petal_slice *second);

/* "PBUF", which stands in front of messages. False: it does not. */
bool hfile_take_protobuf_magic(struct hfile_bytes *bytes);

#endif
