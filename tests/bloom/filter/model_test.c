/*
 * model_test.c -- filters compared with a model that has a byte for each bit or counter and places
 * keys by the formulas of bloom/bloom.h and bloom/filter/counters.h, written down once more. After
 * each of many random calls both give the same answers, false positives included.
 */

#include "bloom/petal_bloom.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define G           0x9E3779B97F4A7C15u
#define UNIVERSE    600
#define MOST_PROBES 30
#define MOST_KEYS   300 /* that a filter is made for */

#define MOST_BODY_BYTES ((size_t)1 << 17)

static uint64_t seed;

/* ---- the model ---- */

struct model {
    enum petal_bloom_kind kind;
    uint64_t positions;
    unsigned probes;
    uint8_t *counters;
};

static uint64_t
scale(uint64_t hash, uint64_t n)
{
    return (uint64_t)((unsigned __int128)hash * n >> 64);
}

static uint64_t
position_of(const struct model *model, uint64_t hash, uint64_t i)
{
    uint64_t line = model->kind == PETAL_BLOOM_KIND_BLOCKED ? 512 : 128, power = 1;

    for (uint64_t j = 0; j <= i; j++)
        power *= G;
    return scale(hash, model->positions / line) * line + hash * power / (UINT64_MAX / line + 1);
}

/* Its different positions; returns how many. */
static unsigned
positions_of(const struct model *model, uint64_t hash, uint64_t *positions)
{
    unsigned count = 0;

    for (unsigned i = 0; i < model->probes; i++) {
        uint64_t position = position_of(model, hash, i);
        unsigned known = 0;

        while (known < count && positions[known] != position)
            known++;
        if (known == count)
            positions[count++] = position;
    }
    return count;
}

static bool
model_has(const struct model *model, uint64_t hash)
{
    uint64_t positions[MOST_PROBES];
    unsigned count = positions_of(model, hash, positions), set = 0;

    for (unsigned i = 0; i < count; i++)
        set += model->counters[positions[i]] > 0;
    return set == count;
}

/* Was it new? */
static bool
model_add(struct model *model, uint64_t hash)
{
    uint64_t positions[MOST_PROBES];
    unsigned count = positions_of(model, hash, positions);
    bool was_new = !model_has(model, hash);

    for (unsigned i = 0; i < count; i++) {
        uint8_t *counter = &model->counters[positions[i]];

        if (model->kind != PETAL_BLOOM_KIND_COUNTING)
            *counter = 1;
        else if (*counter < 15)
            ++*counter;
    }
    return was_new;
}

static bool
model_remove(struct model *model, uint64_t hash)
{
    uint64_t positions[MOST_PROBES];
    unsigned count = positions_of(model, hash, positions);

    if (!model_has(model, hash))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (model->counters[positions[i]] < 15)
            model->counters[positions[i]]--;
    return true;
}

static void
model_unite(struct model *model, const struct model *other)
{
    for (uint64_t i = 0; i < model->positions; i++) {
        unsigned sum = model->counters[i] + (unsigned)other->counters[i];
        unsigned most = model->kind == PETAL_BLOOM_KIND_COUNTING ? 15 : 1;

        model->counters[i] = (uint8_t)(sum < most ? sum : most);
    }
}

/* ---- both ---- */

struct pair {
    petal_bloom *bloom;
    struct model model;
};

struct play {
    struct test_random random;
    petal_slice keys[UNIVERSE];
    uint64_t hashes[UNIVERSE];
    struct pair pairs[2];
    petal_bloom_options options;
    char *path;
    uint64_t calls;
};

static void
pair_init(struct play *play, struct pair *pair)
{
    petal_bloom_info info = {.size = sizeof info};

    assert_int_equal(petal_bloom_create(&play->options, &pair->bloom, NULL), PETAL_OK);
    petal_bloom_get_info(pair->bloom, &info);
    pair->model = (struct model){.kind = info.kind, .positions = info.bits, .probes = info.probes};
    if (info.kind == PETAL_BLOOM_KIND_COUNTING)
        pair->model.positions /= 4;
    pair->model.counters = test_allocate(pair->model.positions);
    memset(pair->model.counters, 0, pair->model.positions);
}

static void
pair_fini(struct pair *pair)
{
    petal_bloom_free(pair->bloom);
    free(pair->model.counters);
}

/* All answers are the model's, asked one by one and together. */
static void
compare(struct play *play, const struct pair *pair)
{
    bool answers[UNIVERSE];
    size_t first = test_random_below(&play->random, UNIVERSE), expected = 0;
    size_t count = 1 + test_random_below(&play->random, UNIVERSE - first);
    size_t passed =
        petal_bloom_may_contain_hashes(pair->bloom, play->hashes + first, count, answers);

    for (size_t i = 0; i < count; i++) {
        bool has = model_has(&pair->model, play->hashes[first + i]);

        expected += has;
        if (answers[i] != has || petal_bloom_may_contain(pair->bloom, play->keys[first + i]) != has)
            fail_msg("kind %d says %d of hash %" PRIx64 ", the model %d; seed %" PRIu64,
                     (int)pair->model.kind, answers[i], play->hashes[first + i], has, seed);
    }
    assert_int_equal(passed, expected);
}

static void
add_many(struct play *play, struct pair *pair)
{
    bool were_new[UNIVERSE];
    size_t first = test_random_below(&play->random, UNIVERSE);
    size_t count = test_random_below(&play->random, 1 + (UNIVERSE - first) / 4);

    assert_int_equal(
        petal_bloom_add_hashes(pair->bloom, play->hashes + first, count, were_new, NULL), PETAL_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(were_new[i], model_add(&pair->model, play->hashes[first + i]));
}

static void
add_one(struct play *play, struct pair *pair)
{
    size_t key = test_random_below(&play->random, UNIVERSE);
    bool was_new;

    assert_int_equal(petal_bloom_add(pair->bloom, play->keys[key], &was_new, NULL), PETAL_OK);
    assert_int_equal(was_new, model_add(&pair->model, play->hashes[key]));
    assert_int_equal(petal_bloom_add(pair->bloom, play->keys[key], NULL, NULL), PETAL_OK);
    model_add(&pair->model, play->hashes[key]);
}

static void
remove_one(struct play *play, struct pair *pair)
{
    size_t key = test_random_below(&play->random, UNIVERSE);
    enum petal_status status = petal_bloom_remove(pair->bloom, play->keys[key], NULL);

    if (pair->model.kind != PETAL_BLOOM_KIND_COUNTING)
        assert_int_equal(status, PETAL_INVALID);
    else
        assert_int_equal(status, model_remove(&pair->model, play->hashes[key]) ? PETAL_OK
                                                                               : PETAL_NOT_FOUND);
}

static void
unite(struct pair *pair, const struct pair *other)
{
    assert_int_equal(petal_bloom_unite(pair->bloom, other->bloom, NULL), PETAL_OK);
    model_unite(&pair->model, &other->model);
}

/* Each bit or counter of the file is the model's. */
static void
compare_file(const struct play *play, const struct pair *pair)
{
    unsigned bits = pair->model.kind == PETAL_BLOOM_KIND_COUNTING ? 4 : 1;
    FILE *file = fopen(play->path, "rb");
    static uint8_t body[MOST_BODY_BYTES];
    size_t size;

    assert_non_null(file);
    assert_int_equal(fseek(file, 4096, SEEK_SET), 0);
    size = fread(body, 1, sizeof body, file);
    fclose(file);
    assert_int_equal(size, (pair->model.positions * bits + 63) / 64 * 8);
    for (size_t i = 0; i < size * 8 / bits; i++) {
        unsigned counter = (unsigned)body[i * bits / 8] >> i * bits % 8 & ((1u << bits) - 1);

        assert_int_equal(counter, i < pair->model.positions ? pair->model.counters[i] : 0);
    }
}

/* It goes on as the file's; a map of the file gives the same answers, and takes no key. */
static void
save_and_load(struct play *play, struct pair *pair)
{
    petal_bloom_load_options options = {.map = true};
    struct pair mapped = *pair;
    bool was_new;

    assert_int_equal(petal_bloom_save(pair->bloom, play->path, NULL), PETAL_OK);
    compare_file(play, pair);
    assert_int_equal(petal_bloom_load(play->path, &options, &mapped.bloom, NULL), PETAL_OK);
    compare(play, &mapped);
    assert_int_equal(petal_bloom_add(mapped.bloom, play->keys[0], &was_new, NULL), PETAL_READ_ONLY);
    assert_int_equal(petal_bloom_unite(mapped.bloom, pair->bloom, NULL), PETAL_READ_ONLY);
    petal_bloom_free(mapped.bloom);
    petal_bloom_free(pair->bloom);
    assert_int_equal(petal_bloom_load(play->path, NULL, &pair->bloom, NULL), PETAL_OK);
}

static void
step(struct play *play)
{
    struct pair *pair = &play->pairs[test_random_below(&play->random, 2)];
    struct pair *other = &play->pairs[pair == &play->pairs[0]];
    uint64_t dice = test_random_below(&play->random, 1000);

    if (dice < 500)
        add_one(play, pair);
    else if (dice < 800)
        remove_one(play, pair);
    else if (dice < 950)
        add_many(play, pair);
    else if (dice < 990)
        unite(pair, other);
    else
        save_and_load(play, pair);
    compare(play, pair);
    play->calls++;
}

static void
make_keys(struct play *play, char *bytes)
{
    for (size_t i = 0; i < UNIVERSE; i++, bytes += 8) {
        size_t size = test_random_below(&play->random, 9);

        test_random_bytes(&play->random, bytes, size);
        play->keys[i] = (petal_slice){bytes, size};
        play->hashes[i] = petal_bloom_hash(play->keys[i], play->options.salt);
    }
}

static void
play_rounds(enum petal_bloom_kind kind, unsigned rounds, unsigned steps)
{
    static const double rates[] = {0.5, 0.1, 0.01, 0.001, 1e-6};
    char *directory = test_directory_new(), bytes[UNIVERSE * 8];
    struct play play = {.path = test_path(directory, "set")};

    test_random_init(&play.random, seed + kind);
    for (unsigned round = 0; round < rounds; round++) {
        play.options = (petal_bloom_options){
            .kind = kind,
            .salt = test_random_next(&play.random),
            .keys = 1 + test_random_below(&play.random, round % 2 == 0 ? 10 : MOST_KEYS),
            .rate = rates[test_random_below(&play.random, 5)]};
        make_keys(&play, bytes);
        pair_init(&play, &play.pairs[0]);
        pair_init(&play, &play.pairs[1]);
        for (unsigned i = 0; i < steps; i++)
            step(&play);
        save_and_load(&play, &play.pairs[0]);
        pair_fini(&play.pairs[0]);
        pair_fini(&play.pairs[1]);
    }
    free(play.path);
    test_directory_free(directory);
    test_counted("kind %d: %" PRIu64 " random calls, as the model", (int)kind, play.calls);
}

TEST(both_kinds_are_as_the_model)
{
    unsigned rounds = test_long() ? 400 : test_short() ? 4 : 20;

    for (int kind = PETAL_BLOOM_KIND_BLOCKED; kind <= PETAL_BLOOM_KIND_COUNTING; kind++)
        play_rounds((enum petal_bloom_kind)kind, rounds, 300);
}

int
main(void)
{
    seed = test_seed();
    return test_run();
}
