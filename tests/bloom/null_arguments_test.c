/*
 * null_arguments_test.c -- NULL where a function of petal_bloom.h must be given something is
 * PETAL_INVALID, or nothing happens; a filter that is not there excludes no key.
 */

#include "bloom/petal_bloom.h"
#include "tests/support/null_arguments.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>
#include <string.h>

struct state {
    char *directory, *bloom_path, *bitmap_path, *bitmap2_path, *distinct_path, *new_path;
    petal_bloom *bloom, *other_bloom, *counting;
    petal_bitmap *bitmap, *other_bitmap;
    petal_bitmap2 *bitmap2, *other_bitmap2;
    petal_distinct *distinct, *other_distinct;
    petal_bloom_builder *builder;
};

static petal_bloom *
make_bloom(enum petal_bloom_kind kind)
{
    petal_bloom_options options = {.kind = kind, .keys = 100};
    petal_bloom *bloom;
    petal_error error;

    must(petal_bloom_create(&options, &bloom, &error), &error);
    must(petal_bloom_add(bloom, text("key"), NULL, &error), &error);
    return bloom;
}

static void
save_all(struct state *state)
{
    petal_error error;

    must(petal_bloom_save(state->bloom, state->bloom_path, &error), &error);
    must(petal_bitmap_save(state->bitmap, state->bitmap_path, &error), &error);
    must(petal_bitmap2_save(state->bitmap2, state->bitmap2_path, &error), &error);
    must(petal_distinct_save(state->distinct, state->distinct_path, &error), &error);
}

static void *
make_state(void)
{
    struct state *state = test_allocate(sizeof *state);
    petal_error error;

    memset(state, 0, sizeof *state);
    state->directory = test_directory_new();
    state->bloom_path = test_path(state->directory, "bloom");
    state->bitmap_path = test_path(state->directory, "bitmap");
    state->bitmap2_path = test_path(state->directory, "bitmap2");
    state->distinct_path = test_path(state->directory, "distinct");
    state->new_path = test_path(state->directory, "new");
    state->bloom = make_bloom(PETAL_BLOOM_KIND_BLOCKED);
    state->other_bloom = make_bloom(PETAL_BLOOM_KIND_BLOCKED);
    state->counting = make_bloom(PETAL_BLOOM_KIND_COUNTING);
    must(petal_bitmap_create(100, NULL, &state->bitmap, &error), &error);
    must(petal_bitmap_create(100, NULL, &state->other_bitmap, &error), &error);
    petal_bitmap_set(state->bitmap, 1);
    petal_bitmap_set(state->other_bitmap, 1);
    must(petal_bitmap2_create(100, NULL, &state->bitmap2, &error), &error);
    must(petal_bitmap2_create(100, NULL, &state->other_bitmap2, &error), &error);
    petal_bitmap2_add(state->bitmap2, 1);
    must(petal_distinct_create(0.1, 0, NULL, &state->distinct, &error), &error);
    must(petal_distinct_create(0.1, 0, NULL, &state->other_distinct, &error), &error);
    must(petal_bloom_builder_create(NULL, &state->builder, &error), &error);
    return state;
}

static void
free_state(void *made)
{
    struct state *state = made;

    petal_bloom_free(state->bloom);
    petal_bloom_free(state->other_bloom);
    petal_bloom_free(state->counting);
    petal_bitmap_free(state->bitmap);
    petal_bitmap_free(state->other_bitmap);
    petal_bitmap2_free(state->bitmap2);
    petal_bitmap2_free(state->other_bitmap2);
    petal_distinct_free(state->distinct);
    petal_distinct_free(state->other_distinct);
    petal_bloom_builder_free(state->builder);
    test_directory_free(state->directory);
    free(state->bloom_path);
    free(state->bitmap_path);
    free(state->bitmap2_path);
    free(state->distinct_path);
    free(state->new_path);
    free(state);
}

/* ---- the rows ---- */

#define S ((struct state *)state)

NULL_CALL(petal_bloom_hash, NULL_ANYTHING, petal_bloom_hash(BYTES(key, "key"), 0))

NULL_ROW(petal_bloom_plan_for, NULL_STATUS)
{
    petal_bloom_options options = {.keys = 100};
    petal_bloom_plan plan = {.size = sizeof plan};
    uint64_t status = petal_bloom_plan_for(GIVEN(options, &options), GIVEN(plan, &plan), ERROR);

    return status;
}

NULL_ROW(petal_bloom_create, NULL_STATUS)
{
    petal_bloom_options options = {.keys = 100};
    static petal_bloom *bloom;
    enum petal_status status =
        petal_bloom_create(GIVEN(options, &options), OUT(bloom, bloom), ERROR);

    if (status == PETAL_OK)
        petal_bloom_free(bloom);
    return status;
}

NULL_FREES(petal_bloom_free, bloom, struct state)

NULL_ROW(petal_bloom_add, NULL_STATUS)
{
    bool was_new;

    return petal_bloom_add(GIVEN(bloom, S->bloom), BYTES(key, "key"), OPTIONAL(was_new, &was_new),
                           ERROR);
}

NULL_ROW(petal_bloom_add_hashes, NULL_STATUS)
{
    const uint64_t hashes[] = {1, 2};
    bool were_new[2];

    return petal_bloom_add_hashes(GIVEN(bloom, S->bloom), GIVEN(hashes, hashes), 2,
                                  OPTIONAL(were_new, were_new), ERROR);
}

NULL_CALL(petal_bloom_remove, NULL_STATUS,
          petal_bloom_remove(GIVEN(bloom, S->counting), BYTES(key, "key"), ERROR))
NULL_CALL(petal_bloom_may_contain, NULL_TRUE,
          petal_bloom_may_contain(GIVEN(bloom, S->bloom), BYTES(key, "key")))
NULL_CALL(petal_bloom_may_contain_hash, NULL_TRUE,
          petal_bloom_may_contain_hash(GIVEN(bloom, S->bloom), 1))

NULL_ROW(petal_bloom_may_contain_hashes, NULL_TRUE)
{
    const uint64_t hashes[] = {petal_bloom_hash(text("key"), 0)};
    bool answers[] = {false};
    size_t count = petal_bloom_may_contain_hashes(GIVEN(bloom, S->bloom), GIVEN(hashes, hashes), 1,
                                                  OPTIONAL(answers, answers));

    return count == answers[0] ? count : 2;
}

NULL_ROW(petal_bloom_get_info, NULL_ZERO)
{
    petal_bloom_info info = {.size = sizeof info};

    petal_bloom_get_info(GIVEN(bloom, S->bloom), GIVEN(info, &info));
    return info.keys;
}

NULL_CALL(petal_bloom_expected_rate, NULL_ZERO,
          petal_bloom_expected_rate(GIVEN(bloom, S->bloom), 100) > 0)
NULL_CALL(petal_bloom_present_rate, NULL_ZERO, petal_bloom_present_rate(GIVEN(bloom, S->bloom)) > 0)
NULL_CALL(petal_bloom_count, NULL_ZERO, petal_bloom_count(GIVEN(bloom, S->bloom)))
NULL_CALL(petal_bloom_unite, NULL_STATUS,
          petal_bloom_unite(GIVEN(bloom, S->bloom), GIVEN(other, S->other_bloom), ERROR))
NULL_CALL(petal_bloom_save, NULL_STATUS,
          petal_bloom_save(GIVEN(bloom, S->bloom), GIVEN(path, S->new_path), ERROR))

NULL_ROW(petal_bloom_load, NULL_STATUS)
{
    petal_bloom_load_options options = {.size = sizeof options};
    static petal_bloom *bloom;
    enum petal_status status;

    save_all(S);
    status = petal_bloom_load(GIVEN(path, S->bloom_path), OPTIONAL(options, &options),
                              OUT(bloom, bloom), ERROR);
    if (status == PETAL_OK)
        petal_bloom_free(bloom);
    return status;
}

NULL_ROW(petal_bloom_file_type, NULL_STATUS)
{
    petal_env env = {.size = sizeof env};
    enum petal_bloom_file_type type;

    save_all(S);
    return petal_bloom_file_type(GIVEN(path, S->bloom_path), OPTIONAL(env, &env),
                                 GIVEN(type, &type), ERROR);
}

NULL_MAKES(petal_bloom_builder_create, petal_bloom_builder *, petal_bloom_builder_free,
           petal_bloom_builder_create(OPTIONAL(options, SIZED(petal_bloom_builder_options)),
                                      OUT(builder, made), ERROR))
NULL_FREES(petal_bloom_builder_free, builder, struct state)
NULL_CALL(petal_bloom_builder_add, NULL_STATUS,
          petal_bloom_builder_add(GIVEN(builder, S->builder), BYTES(key, "key"), ERROR))

NULL_ROW(petal_bloom_builder_add_hashes, NULL_STATUS)
{
    const uint64_t hashes[] = {1, 2};

    return petal_bloom_builder_add_hashes(GIVEN(builder, S->builder), GIVEN(hashes, hashes), 2,
                                          ERROR);
}

NULL_MAKES(petal_bloom_builder_finish, petal_bloom *, petal_bloom_free,
           petal_bloom_builder_finish(GIVEN(builder, S->builder), OUT(bloom, made), ERROR))
NULL_CALL(petal_bloom_builder_save, NULL_STATUS,
          petal_bloom_builder_save(GIVEN(builder, S->builder), GIVEN(path, S->new_path), ERROR))
NULL_MAKES(petal_bitmap_create, petal_bitmap *, petal_bitmap_free,
           petal_bitmap_create(100, OPTIONAL(env, SIZED(petal_env)), OUT(bitmap, made), ERROR))
NULL_FREES(petal_bitmap_free, bitmap, struct state)
NULL_CALL(petal_bitmap_bits, NULL_ZERO, petal_bitmap_bits(GIVEN(bitmap, S->bitmap)))
NULL_CALL(petal_bitmap_set, NULL_ZERO, petal_bitmap_set(GIVEN(bitmap, S->bitmap), 1))
NULL_CALL(petal_bitmap_test, NULL_ZERO, petal_bitmap_test(GIVEN(bitmap, S->bitmap), 1))
NULL_CALL(petal_bitmap_count, NULL_ZERO, petal_bitmap_count(GIVEN(bitmap, S->bitmap)))
NULL_CALL(petal_bitmap_next_set, NULL_NONE, petal_bitmap_next_set(GIVEN(bitmap, S->bitmap), 0))
NULL_CALL(petal_bitmap_next_clear, NULL_NONE, petal_bitmap_next_clear(GIVEN(bitmap, S->bitmap), 0))
NULL_CALL(petal_bitmap_unite, NULL_STATUS,
          petal_bitmap_unite(GIVEN(bitmap, S->bitmap), GIVEN(other, S->other_bitmap), ERROR))
NULL_CALL(petal_bitmap_save, NULL_STATUS,
          petal_bitmap_save(GIVEN(bitmap, S->bitmap), GIVEN(path, S->new_path), ERROR))

NULL_ROW(petal_bitmap_load, NULL_STATUS)
{
    petal_bloom_load_options options = {.size = sizeof options};
    static petal_bitmap *bitmap;
    enum petal_status status;

    save_all(S);
    status = petal_bitmap_load(GIVEN(path, S->bitmap_path), OPTIONAL(options, &options),
                               OUT(bitmap, bitmap), ERROR);
    if (status == PETAL_OK)
        petal_bitmap_free(bitmap);
    return status;
}

NULL_MAKES(petal_bitmap2_create, petal_bitmap2 *, petal_bitmap2_free,
           petal_bitmap2_create(100, OPTIONAL(env, SIZED(petal_env)), OUT(bitmap, made), ERROR))

NULL_ROW(petal_bitmap2_free, NULL_ZERO)
{
    petal_bitmap2_free(GIVEN(bitmap, S->bitmap2));
    if (!null_is("bitmap", true))
        S->bitmap2 = NULL;
    return 0;
}

NULL_CALL(petal_bitmap2_numbers, NULL_ZERO, petal_bitmap2_numbers(GIVEN(bitmap, S->bitmap2)))
NULL_CALL(petal_bitmap2_add, NULL_ZERO, petal_bitmap2_add(GIVEN(bitmap, S->bitmap2), 1))
NULL_CALL(petal_bitmap2_get, NULL_ZERO, petal_bitmap2_get(GIVEN(bitmap, S->bitmap2), 1))
NULL_CALL(petal_bitmap2_count, NULL_ZERO,
          petal_bitmap2_count(GIVEN(bitmap, S->bitmap2), PETAL_BITMAP2_ONE))
NULL_CALL(petal_bitmap2_next, NULL_NONE,
          petal_bitmap2_next(GIVEN(bitmap, S->bitmap2), PETAL_BITMAP2_ONE, 0))
NULL_CALL(petal_bitmap2_unite, NULL_STATUS,
          petal_bitmap2_unite(GIVEN(bitmap, S->bitmap2), GIVEN(other, S->other_bitmap2), ERROR))
NULL_CALL(petal_bitmap2_save, NULL_STATUS,
          petal_bitmap2_save(GIVEN(bitmap, S->bitmap2), GIVEN(path, S->new_path), ERROR))

NULL_ROW(petal_bitmap2_load, NULL_STATUS)
{
    petal_bloom_load_options options = {.size = sizeof options};
    static petal_bitmap2 *bitmap;
    enum petal_status status;

    save_all(S);
    status = petal_bitmap2_load(GIVEN(path, S->bitmap2_path), OPTIONAL(options, &options),
                                OUT(bitmap, bitmap), ERROR);
    if (status == PETAL_OK)
        petal_bitmap2_free(bitmap);
    return status;
}

NULL_MAKES(petal_distinct_create, petal_distinct *, petal_distinct_free,
           petal_distinct_create(0.1, 0, OPTIONAL(env, SIZED(petal_env)), OUT(distinct, made),
                                 ERROR))
NULL_FREES(petal_distinct_free, distinct, struct state)
NULL_CALL(petal_distinct_standard_error, NULL_ZERO,
          petal_distinct_standard_error(GIVEN(distinct, S->distinct)) > 0)
NULL_CALL(petal_distinct_registers, NULL_ZERO,
          petal_distinct_registers(GIVEN(distinct, S->distinct)))
NULL_CALL(petal_distinct_salt, NULL_ZERO, petal_distinct_salt(GIVEN(distinct, S->distinct)))

NULL_ROW(petal_distinct_add, NULL_ZERO)
{
    petal_distinct_add(GIVEN(distinct, S->distinct), BYTES(key, "key"));
    return (uint64_t)petal_distinct_count(S->distinct);
}

NULL_ROW(petal_distinct_add_hashes, NULL_ZERO)
{
    const uint64_t hashes[] = {1, 2};

    petal_distinct_add_hashes(GIVEN(distinct, S->distinct), GIVEN(hashes, hashes), 2);
    return (uint64_t)petal_distinct_count(S->distinct);
}

NULL_CALL(petal_distinct_count, NULL_ZERO,
          (uint64_t)petal_distinct_count(GIVEN(distinct, S->distinct)))
NULL_CALL(petal_distinct_unite, NULL_STATUS,
          petal_distinct_unite(GIVEN(distinct, S->distinct), GIVEN(other, S->other_distinct),
                               ERROR))
NULL_CALL(petal_distinct_save, NULL_STATUS,
          petal_distinct_save(GIVEN(distinct, S->distinct), GIVEN(path, S->new_path), ERROR))

NULL_ROW(petal_distinct_load, NULL_STATUS)
{
    petal_bloom_load_options options = {.size = sizeof options};
    static petal_distinct *distinct;
    enum petal_status status;

    save_all(S);
    status = petal_distinct_load(GIVEN(path, S->distinct_path), OPTIONAL(options, &options),
                                 OUT(distinct, distinct), ERROR);
    if (status == PETAL_OK)
        petal_distinct_free(distinct);
    return status;
}

TEST(null_in_each_argument)
{
    static const struct null_fixture fixture = {make_state, free_state};

    null_arguments_test("bloom/petal_bloom.h", &fixture);
}
