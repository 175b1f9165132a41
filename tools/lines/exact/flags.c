/* flags.c -- see flags.h. */
#include "tools/lines/exact/flags.h"

#include "tools/lines/records/temporary.h"

#include <string.h>
#include <unistd.h>

#define PIECE_BITS (8 * FLAGS_PIECE_BYTES)

void
flags_open(struct flags *flags, struct job *job)
{
    *flags = (struct flags){.job = job, .descriptor = -1};
}

void
flags_close(struct flags *flags)
{
    if (flags->descriptor >= 0)
        (void)close(flags->descriptor);
    flags->descriptor = -1;
}

/* To its place in the file. */
static bool
write_piece(struct flags *flags)
{
    if (flags->descriptor < 0)
        flags->descriptor = temporary_open(flags->job);
    return flags->descriptor >= 0 &&
           temporary_write(flags->job, flags->descriptor, flags->bits, FLAGS_PIECE_BYTES,
                           flags->piece * FLAGS_PIECE_BYTES);
}

bool
flags_put(struct flags *flags, bool flag)
{
    uint64_t bit = flags->count % PIECE_BITS;

    if (flag) {
        flags->bits[bit / 8] |= (unsigned char)(1 << bit % 8);
        flags->has_any = true;
    }
    flags->count++;
    if (bit != PIECE_BITS - 1)
        return true;
    if (!write_piece(flags))
        return false;
    flags->piece++;
    memset(flags->bits, 0, FLAGS_PIECE_BYTES);
    return true;
}

bool
flags_seal(struct flags *flags)
{
    return write_piece(flags);
}

bool
flags_ask(struct flags *flags, uint64_t first, size_t count, bool *answers)
{
    memset(answers, 0, count * sizeof *answers);
    if (!flags->has_any)
        return true;
    for (size_t i = 0; i < count && first + i < flags->count; i++) {
        uint64_t number = first + i, bit = number % PIECE_BITS;

        if (number / PIECE_BITS != flags->piece) {
            flags->piece = number / PIECE_BITS;
            if (!temporary_read(flags->job, flags->descriptor, flags->bits, FLAGS_PIECE_BYTES,
                                flags->piece * FLAGS_PIECE_BYTES))
                return false;
        }
        answers[i] = flags->bits[bit / 8] >> bit % 8 & 1;
    }
    return true;
}
