/* lasting.c -- see lasting.h. */
#include "tools/lines/seen/lasting.h"

#include "tools/lines/exact/table.h"
#include "tools/lines/records/writer.h"
#include "tools/lines/seen/store.h"

#include <inttypes.h>

/* A group is recorded when it has so many records or bytes. */
enum { GROUP_RECORDS = 16384, GROUP_BYTES = 4 << 20 };

struct lasting {
    struct job *job;
    const char *name; /* of the input */
    struct writer *writer;
    struct seen_store store;
    bool keeps_groups;   /* what was written is on the disk, group by group */
    struct table recent; /* records of the group, and others that were seen in this run */
    uint64_t written;
};

/* What is new is written, then recorded. */
static bool
record_group(struct lasting *lasting)
{
    return (lasting->keeps_groups ? writer_sync(lasting->writer) : writer_flush(lasting->writer)) &&
           seen_commit(&lasting->store);
}

/* For struct reader: a stream that waits. */
static bool
record_idle(void *lasting)
{
    return record_group(lasting);
}

/* Of records that are not in `recent`, or twice among themselves: these came into it since. */
static bool
ask_and_write(struct lasting *lasting, const petal_slice *records, size_t count, bool *dropped)
{
    petal_slice asked[READER_BATCH];
    size_t places[READER_BATCH], asked_count = 0;
    bool were_seen[READER_BATCH];

    for (size_t i = 0; i < count; i++) {
        if (!dropped[i]) {
            places[asked_count] = i;
            asked[asked_count++] = records[i];
        }
    }
    if (asked_count > 0 && !seen_ask(&lasting->store, asked, asked_count, were_seen))
        return false;
    for (size_t i = 0; i < asked_count; i++) {
        dropped[places[i]] = were_seen[i];
        if (!were_seen[i] && !seen_add(&lasting->store, asked[i]))
            return false;
    }
    return write_marked(lasting->writer, records, count, dropped, false, &lasting->written);
}

/* As many of the records as `recent` has room for: how many. */
static size_t
enter_recent(struct lasting *lasting, const petal_slice *records, const uint64_t *hashes,
             size_t count, bool *dropped)
{
    size_t i;

    for (i = 0; i < count; i++) {
        table_look_ahead(&lasting->recent, hashes, i, count);
        dropped[i] = table_find(&lasting->recent, records[i], hashes[i]) != NULL;
        if (!dropped[i] && table_add(&lasting->recent, records[i], hashes[i]) == NULL)
            break;
    }
    return i;
}

static bool
take_records(struct lasting *lasting, const petal_slice *records, const uint64_t *hashes,
             size_t count)
{
    bool dropped[READER_BATCH];

    while (count > 0) {
        size_t entered = enter_recent(lasting, records, hashes, count, dropped);

        if (!ask_and_write(lasting, records, entered, dropped))
            return false;
        records += entered;
        hashes += entered;
        count -= entered;
        if (count == 0 && petal_batch_count(lasting->store.batch) < GROUP_RECORDS &&
            lasting->store.batch_bytes < GROUP_BYTES)
            break;
        if (!record_group(lasting))
            return false;
        if (count > 0)
            table_clear(&lasting->recent);
    }
    return true;
}

static bool
take_batch(void *argument, struct batch *batch)
{
    struct lasting *lasting = argument;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->records[i].size > SEEN_MOST_BYTES)
            return job_fail(
                lasting->job,
                "record %" PRIu64 " of %s has %zu bytes; with --state it has at most %u",
                batch->first + i + 1, lasting->name, batch->records[i].size, SEEN_MOST_BYTES);
    }
    return take_records(lasting, batch->records, batch->hashes, batch->count);
}

static bool
take_all(struct lasting *lasting, struct reader *reader)
{
    reader_want_hashes(reader);
    reader->idle = record_idle;
    reader->idle_argument = lasting;
    return reader_each(reader, take_batch, lasting);
}

/* After Ctrl-C a file that groups are appended to keeps what was read; after a failure only what
 * was recorded. */
static bool
take_and_record(struct lasting *lasting, struct reader *reader)
{
    bool fine = take_all(lasting, reader);

    if (fine || job_is_interrupted())
        fine = record_group(lasting) && fine;
    return fine && writer_sync(lasting->writer) && seen_finish(&lasting->store);
}

bool
lasting_unique(struct reader *reader, struct writer *writer, const char *directory)
{
    struct lasting lasting = {.job = reader->job,
                              .name = reader->name,
                              .writer = writer,
                              .keeps_groups = writer_is_file(writer)};
    bool fine;

    if (!seen_open(&lasting.store, lasting.job, directory, lasting.keeps_groups))
        return false;
    /* Room for any one record, whatever the memory. */
    fine = table_open(&lasting.recent, lasting.job,
                      lasting.job->memory_bytes / 8 + 2 * (size_t)SEEN_MOST_BYTES);
    if (fine) {
        fine = take_and_record(&lasting, reader);
        table_close(&lasting.recent);
    }
    return seen_close(&lasting.store) && fine;
}
