/* pass.c -- see pass.h. */
#include "tools/lines/records/pass.h"

bool
pass_run(struct job *job, const char *path, bool append, pass_work work, void *request)
{
    struct reader reader;
    struct writer writer;
    bool fine = false;

    if (!reader_open(&reader, job, path != NULL ? path : "-"))
        return false;
    if (append ? writer_open_append(&writer, job) : writer_open(&writer, job)) {
        fine = work(&reader, &writer, request) && writer_finish(&writer);
        writer_close(&writer);
    }
    reader_close(&reader);
    return fine;
}

static bool
take_file(struct job *job, const char *path, bool hashes, struct writer *idle, batch_taker take,
          void *argument)
{
    struct reader reader;
    bool fine;

    if (!reader_open(&reader, job, path))
        return false;
    if (hashes)
        reader_want_hashes(&reader);
    if (idle != NULL) {
        reader.idle = writer_idle;
        reader.idle_argument = idle;
    }
    fine = reader_each(&reader, take, argument);
    reader_close(&reader);
    return fine;
}

bool
pass_each(struct job *job, const char *const *paths, size_t count, bool hashes, struct writer *idle,
          batch_taker take, void *argument)
{
    if (count == 0)
        return take_file(job, "-", hashes, idle, take, argument);
    for (size_t i = 0; i < count; i++) {
        if (!take_file(job, paths[i], hashes, idle, take, argument))
            return false;
    }
    return true;
}
