/*
 * walk_test.c -- what is left of a damaged store file: every block that no changed byte lies in is
 * found, nothing else is, and the rows that are said to be concerned are those that are lost.
 */
#include "sstable/sst_walk.h"

#include "sstable/block/block_io.h"
#include "sstable/file/trailer.h"
#include "tests/sstable/fixture.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>

#define MOST_BLOCKS 400

struct place {
    uint64_t offset, end;
    bool is_data, hurt;
    size_t first_cell, cells; /* in the list */
};

/* A file, what it holds and where. */
struct scene {
    struct sst_fixture *f;
    struct cell_list list;
    uint8_t *bytes, *damaged;
    size_t size, left; /* bytes of the file, and of the damaged one */
    struct place places[MOST_BLOCKS];
    size_t count;
    bool trailer_hurt;
};

static struct sst_walk *
walk_open(struct scene *scene, uint64_t identity)
{
    const struct sst_walk_options options = {.file_identity = identity};
    struct sst_walk *walk;
    petal_error error;

    if (sst_walk_open(&walk, &scene->f->directory, SST_PATH, &options, &error) != PETAL_OK)
        fail_msg("%s", error.text);
    return walk;
}

static size_t
cells_in(const struct sst_walk_step *step)
{
    return get_le32(step->memory + 4);
}

/* Where the blocks of the sound file are. */
static void
note_places(struct scene *scene)
{
    struct sst_walk *walk = walk_open(scene, 0);
    struct sst_walk_step step;
    size_t cell = 0;

    for (;;) {
        struct place *place = &scene->places[scene->count];

        assert_int_equal(sst_walk_next(walk, &step, NULL), PETAL_OK);
        if (step.event == SST_WALK_END)
            break;
        assert_int_equal(step.event, SST_WALK_BLOCK);
        assert_true(scene->count < MOST_BLOCKS);
        *place = (struct place){.offset = step.offset, .end = step.offset + step.bytes};
        assert_true(place->offset == (scene->count > 0 ? place[-1].end : 0));
        if (step.kind == BLOCK_DATA) {
            assert_int_equal(step.named, SST_WALK_NAMED);
            place->is_data = true;
            place->first_cell = cell;
            place->cells = cells_in(&step);
            cell += place->cells;
        }
        scene->count++;
    }
    assert_int_equal(cell, scene->list.count);
    assert_null(step.left_over);
    sst_walk_close(walk);
}

static void
scene_begin(struct scene *scene, unsigned kind, struct test_random *random)
{
    static const struct cell_shape shape = {.cells = 900,
                                            .rows = 150,
                                            .qualifiers = 5,
                                            .row_bytes = 12,
                                            .value_bytes = 40,
                                            .marker_percent = 10,
                                            .ttl_percent = 5};
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_LZ4);

    *scene = (struct scene){.f = sst_fixture_new(1 << 20)};
    cell_list_random(&scene->list, &shape, random);
    if (kind == 1)
        options.bloom = PETAL_BLOOM_NONE;
    sst_fixture_write(scene->f, &options, &scene->list);
    scene->bytes = sst_fixture_bytes(scene->f, &scene->size);
    scene->damaged = test_allocate(scene->size);
    note_places(scene);
}

static void
scene_end(struct scene *scene)
{
    free(scene->damaged);
    free(scene->bytes);
    cell_list_fini(&scene->list);
    sst_fixture_free(scene->f);
}

/* ---- damage ---- */

static void
heal(struct scene *scene)
{
    memcpy(scene->damaged, scene->bytes, scene->size);
    scene->left = scene->size;
}

static void
hurt(struct scene *scene, struct test_random *random)
{
    size_t at = (size_t)test_random_below(random, scene->left), bytes = 1;

    switch (test_random_below(random, 8)) {
    case 0:
    case 1:
    case 2:
        scene->damaged[at] ^= (uint8_t)(1u << test_random_below(random, 8));
        return;
    case 3:
        bytes = 1 + (size_t)test_random_below(random, 2000);
        break;
    case 4: /* the header of some block */
        at = (size_t)scene->places[test_random_below(random, scene->count)].offset;
        bytes = BLOCK_FRAME_BYTES;
        break;
    case 5:
        if (at > BLOCK_FRAME_BYTES)
            scene->left = at;
        return;
    default:
        bytes = 1 + (size_t)test_random_below(random, 40);
        break;
    }
    if (bytes > scene->left - at)
        bytes = scene->left - at;
    if (test_random_chance(random, 50))
        memset(scene->damaged + at, 0, bytes);
    else
        test_random_bytes(random, scene->damaged + at, bytes);
}

/* Which places have a byte that is not what it was. */
static void
judge(struct scene *scene)
{
    size_t trailer = scene->size - TRAILER_BYTES;

    for (size_t i = 0; i < scene->count; i++) {
        struct place *place = &scene->places[i];

        place->hurt = place->end > scene->left ||
                      memcmp(scene->bytes + place->offset, scene->damaged + place->offset,
                             place->end - place->offset) != 0;
    }
    scene->trailer_hurt =
        scene->left < scene->size ||
        memcmp(scene->bytes + trailer, scene->damaged + trailer, TRAILER_BYTES) != 0;
}

/* ---- looking ---- */

/* The cells of a block that was found are those that were written to it. */
static void
compare_cells(const struct scene *scene, const struct place *place,
              const struct sst_walk_step *step)
{
    struct data_block_cursor cursor;
    struct cell cell;

    assert_int_equal(cells_in(step), place->cells);
    data_block_cursor_init(&cursor, scene->f->env.allocator);
    assert_int_equal(data_block_cursor_attach(&cursor, step->memory, step->raw_bytes), PETAL_OK);
    data_block_cursor_first(&cursor, &cell);
    for (size_t i = 0; i < place->cells; i++) {
        assert_true(same_cell(&cell, &scene->list.cells[place->first_cell + i]));
        assert_int_equal(data_block_cursor_next(&cursor, &cell), i + 1 < place->cells);
    }
    data_block_cursor_fini(&cursor);
}

static bool
holds_row(const struct sst_rows *rows, petal_slice row)
{
    return (!rows->has_from || slice_compare(rows->from, row) <= 0) &&
           (!rows->has_to || slice_compare(row, rows->to) <= 0);
}

/* Every place in the damaged bytes was hurt, or is of no data and lies between such that were. */
static void
compare_damage(const struct scene *scene, const struct sst_walk_step *step, bool *told)
{
    for (size_t i = 0; i < scene->count; i++) {
        const struct place *place = &scene->places[i];

        if (place->end <= step->offset || place->offset >= step->offset + step->bytes ||
            !place->hurt)
            continue;
        told[i] = true;
        if (!place->is_data)
            continue;
        assert_true(step->data_blocks > 0);
        for (size_t k = 0; k < place->cells; k++)
            assert_true(holds_row(&step->rows, scene->list.cells[place->first_cell + k].row));
    }
}

static void
look(struct scene *scene)
{
    bool found[MOST_BLOCKS] = {false}, told[MOST_BLOCKS] = {false};
    struct sst_walk *walk = walk_open(scene, TEST_IDENTITY);
    struct sst_walk_step step;

    for (;;) {
        assert_int_equal(sst_walk_next(walk, &step, NULL), PETAL_OK);
        if (step.event == SST_WALK_END)
            break;
        if (step.event == SST_WALK_DAMAGE) {
            compare_damage(scene, &step, told);
            continue;
        }
        for (size_t i = 0; i < scene->count; i++) {
            if (scene->places[i].offset != step.offset)
                continue;
            assert_false(scene->places[i].hurt);
            found[i] = true;
            if (scene->places[i].is_data)
                compare_cells(scene, &scene->places[i], &step);
        }
    }
    sst_walk_close(walk);
    for (size_t i = 0; i < scene->count; i++) {
        assert_int_equal(found[i], !scene->places[i].hurt);
        if (scene->places[i].hurt && scene->places[i].offset < scene->left)
            assert_true(told[i]);
    }
}

static void
count_fault(void *argument, const struct sst_fault *fault)
{
    unsigned *count = argument;

    (*count)++;
    assert_true(fault->error->status != PETAL_OK && fault->error->text[0] != '\0');
    assert_string_equal(fault->error->file, SST_PATH);
}

/* Verification tells of as many faults as there are, and does not end at the first. */
static void
verify(struct scene *scene)
{
    const struct sst_walk_options options = {.file_identity = TEST_IDENTITY};
    unsigned faults = 0, apart = 0;
    const struct sst_watch watch = {.fault = count_fault, .argument = &faults};
    petal_error error;

    assert_int_equal(sst_verify(&scene->f->directory, SST_PATH, &options, &watch, NULL), PETAL_OK);
    for (size_t i = 0; i < scene->count; i++)
        apart += scene->places[i].is_data && scene->places[i].hurt &&
                 scene->places[i].offset < scene->left && (i == 0 || !scene->places[i - 1].hurt);
    if (!scene->trailer_hurt)
        assert_true(faults >= apart);
    for (size_t i = 0; i < scene->count; i++)
        apart += scene->places[i].hurt;
    assert_int_equal(faults > 0, apart > 0 || scene->trailer_hurt);
    assert_int_equal(sst_verify(&scene->f->directory, SST_PATH, &options, NULL, &error) == PETAL_OK,
                     faults == 0);
}

TEST(what_is_whole_is_found)
{
    struct test_random random;
    unsigned rounds = test_long() ? 20000 : test_short() ? 60 : 600;

    test_random_init(&random, test_seed());
    for (unsigned kind = 0; kind < 2; kind++) {
        struct scene scene;

        scene_begin(&scene, kind, &random);
        for (unsigned round = 0; round < rounds; round++) {
            heal(&scene);
            for (uint64_t n = 1 + test_random_below(&random, 4); n > 0; n--)
                hurt(&scene, &random);
            judge(&scene);
            sst_fixture_set_bytes(scene.f, scene.damaged, scene.left);
            look(&scene);
            verify(&scene);
        }
        test_counted("%u damaged files of %zu blocks", rounds, scene.count);
        scene_end(&scene);
    }
}

/* Without trailer and manifest nothing can be checked, so nothing is believed. */
TEST(no_identity_is_an_error)
{
    const struct sst_walk_options none = {.file_identity = 0}, other = {.file_identity = 77};
    struct test_random random;
    struct scene scene;
    struct sst_walk *walk;
    petal_error error;

    test_random_init(&random, test_seed());
    scene_begin(&scene, 0, &random);
    assert_int_equal(sst_walk_open(&walk, &scene.f->directory, SST_PATH, &other, &error),
                     PETAL_CORRUPT);
    assert_non_null(strstr(error.text, "another file stands here"));
    sst_fixture_set_bytes(scene.f, scene.bytes, scene.size / 2);
    assert_int_equal(sst_walk_open(&walk, &scene.f->directory, SST_PATH, &none, &error),
                     PETAL_CORRUPT);
    assert_null(walk);
    scene_end(&scene);
}

/* Bytes that look like the beginnings of long blocks, everywhere: the search ends. */
TEST(the_search_for_blocks_is_bounded)
{
    struct test_random random;
    struct scene scene;
    struct sst_walk *walk;
    struct sst_walk_step step;
    const size_t size = 4u << 20;
    uint8_t *bytes = test_allocate(size);

    test_random_init(&random, test_seed());
    scene_begin(&scene, 0, &random);
    memset(bytes, 0, size);
    for (size_t at = 0; at + BLOCK_FRAME_BYTES < size; at += BLOCK_FRAME_BYTES) {
        bytes[at + 8] = BLOCK_DATA;
        put_le32(bytes + at + 12, 3u << 20);
        put_le32(bytes + at + 16, 3u << 20);
    }
    sst_fixture_set_bytes(scene.f, bytes, size);
    walk = walk_open(&scene, TEST_IDENTITY);
    assert_int_equal(sst_walk_next(walk, &step, NULL), PETAL_OK);
    assert_int_equal(step.event, SST_WALK_DAMAGE);
    assert_int_equal(step.bytes, size);
    sst_walk_close(walk);
    free(bytes);
    scene_end(&scene);
}
