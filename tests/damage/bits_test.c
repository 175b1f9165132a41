/*
 * bits_test.c -- every bit of every file flipped. The answers stay, or the file is named; the long
 * run asks everything of each mutant, the usual one asks by turns.
 */

#include "base/coding.h"
#include "sstable/block/block_io.h"
#include "sstable/file/trailer.h"
#include "tests/damage/manifest_promise.h"
#include "tests/support/test.h"

#include <stdlib.h>

/* Of so many mutants one is tried. */
static uint64_t
stride(void)
{
    return test_short() ? 97 : 1;
}

/* Of so many mutants one lives on. */
static uint64_t
lives_among(void)
{
    return test_long() ? 61 : 509;
}

static bool
is_chosen(struct sweep *sweep, uint64_t mutant)
{
    /* The seed chooses which, when not all are tried. */
    return (mutant + sweep->gallery.seed) % stride() == 0;
}

/* The questions that read that part of the file. */
static size_t
find_questions(const struct sweep *sweep, const struct sweep_file *file, uint64_t offset,
               uint64_t end, size_t *found)
{
    size_t count = 0;

    for (size_t i = 0; i < sweep->answers.count; i++) {
        if (answers_reads(&sweep->answers, &sweep->answers.questions[i], file->path, offset, end))
            found[count++] = i;
    }
    return count;
}

enum sweep_way { READ_WHEN_ASKED, READ_WHEN_OPENED };

/* Flip each bit of that part of the file. */
static void
flip_part(struct sweep *sweep, const struct sweep_file *file, uint64_t offset, uint64_t end,
          enum sweep_way way)
{
    size_t *questions = test_allocate(sweep->answers.count * sizeof *questions);
    size_t count = find_questions(sweep, file, offset, end, questions);
    uint8_t *bytes = test_allocate(file->size);

    memcpy(bytes, file->bytes, file->size);
    if (way == READ_WHEN_ASKED)
        assert_true(count > 0); /* what nobody reads would go untested */
    for (uint64_t mutant = offset * 8; mutant < end * 8; mutant++) {
        if (!is_chosen(sweep, mutant))
            continue;
        bytes[mutant / 8] ^= (uint8_t)(1u << mutant % 8);
        sweep_begin(sweep, file, "bit flipped", mutant, bytes, file->size);
        sweep->all_is_told = true;
        if (way == READ_WHEN_ASKED && sweep->turn % 64 != 0)
            sweep_ask_open(sweep, file, questions, count, sweep_usual_share());
        else
            sweep_ask_anew(sweep, file, sweep_usual_share());
        if (sweep->turn % lives_among() == 0)
            sweep_live(sweep, file, (struct sweep_share){8, 97});
        sweep_end(sweep, file);
        bytes[mutant / 8] ^= (uint8_t)(1u << mutant % 8);
    }
    free(questions);
    free(bytes);
}

/* Blocks of data, and what leads to them, are read when they are asked for. */
static void
flip_store_file(struct sweep *sweep, const struct sweep_file *file)
{
    struct trailer trailer;
    uint64_t at = 0;

    assert_int_equal(trailer_decode(&trailer, file->bytes + file->size - TRAILER_BYTES, file->size,
                                    file->path, NULL),
                     PETAL_OK);
    while (at < file->size - TRAILER_BYTES) {
        uint64_t end = at + BLOCK_FRAME_BYTES + get_le32(file->bytes + at + 12);
        unsigned kind = file->bytes[at + 8];
        bool root = at == trailer.data_root.offset || at == trailer.bloom_root.offset;
        bool read_when_asked = (kind == BLOCK_DATA || kind == BLOCK_DATA_INDEX) && !root &&
                               file->family < GALLERY_FAMILIES;

        flip_part(sweep, file, at, end, read_when_asked ? READ_WHEN_ASKED : READ_WHEN_OPENED);
        at = end;
    }
    flip_part(sweep, file, at, file->size, READ_WHEN_OPENED);
}

TEST(every_bit_of_every_store_file)
{
    struct sweep sweep;
    double began = test_seconds_used();

    sweep_init(&sweep, test_seed(), test_long() ? 4 : 1);
    for (size_t i = 0; i < sweep.file_count; i++) {
        if (sweep.files[i].kind == STORE_FILE)
            flip_store_file(&sweep, &sweep.files[i]);
    }
    sweep_print(&sweep, "bits", test_seconds_used() - began);
    sweep_fini(&sweep);
}

/* Of a small database what the tables hold is the least of what a manifest says. */
TEST(every_bit_of_the_manifest)
{
    double began = test_seconds_used();
    struct manifest_references references;
    struct sweep sweep;

    sweep_init(&sweep, test_seed(), 1);
    for (size_t i = 0; i < sweep.file_count; i++) {
        const struct sweep_file *file = &sweep.files[i];
        uint8_t *bytes;

        if (file->kind != MANIFEST_FILE)
            continue;
        manifest_references_make(&references, &sweep, file);
        bytes = test_allocate(file->size);
        memcpy(bytes, file->bytes, file->size);
        for (uint64_t mutant = 0; mutant < file->size * 8; mutant++) {
            if (!is_chosen(&sweep, mutant))
                continue;
            bytes[mutant / 8] ^= (uint8_t)(1u << mutant % 8);
            sweep_begin(&sweep, file, "bit flipped", mutant, bytes, file->size);
            manifest_promise_check(&references, &sweep, file, bytes, file->size,
                                   (struct sweep_share){1, 0});
            sweep_end(&sweep, file);
            bytes[mutant / 8] ^= (uint8_t)(1u << mutant % 8);
        }
        free(bytes);
        manifest_references_free(&references);
    }
    sweep_print(&sweep, "bits", test_seconds_used() - began);
    sweep_fini(&sweep);
}
