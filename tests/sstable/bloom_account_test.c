/*
 * bloom_account_test.c -- the account of what asking a filter costs and saves: simulated files
 * without a cache, with one, and with workloads that change; the bounds are those that
 * sstable/filter/bloom_account.h states.
 */

#include "sstable/filter/bloom_account.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#define BLOCK 4096

/* A file whose filter has `chunks` chunks; those asked stay in the cache, or none does. */
struct file {
    struct bloom_account account;
    bool keeps;
    unsigned chunks;
    uint64_t chunk_bytes;
    bool cached[1024];
    uint64_t random;
    uint64_t read, read_without_filter; /* bytes */
    uint64_t asked;
};

static void
file_init(struct file *file, bool keeps, unsigned chunks, uint64_t chunk_bytes)
{
    *file = (struct file){
        .keeps = keeps, .chunks = chunks, .chunk_bytes = chunk_bytes, .random = chunks + 1};
    assert_true(chunks <= sizeof file->cached);
    bloom_account_init(&file->account, 1000 * BLOCK, 1000);
}

static uint64_t
below(struct file *file, uint64_t limit)
{
    file->random ^= file->random << 13;
    file->random ^= file->random >> 7;
    file->random ^= file->random << 17;
    return file->random % limit;
}

/* One get, whose data is not cached; of 1000 such, so many are of what the file has not. */
static void
get(struct file *file, unsigned absent_of_1000)
{
    bool absent = below(file, 1000) < absent_of_1000;
    uint64_t chunk = below(file, file->chunks), fetched = 0;

    file->read_without_filter += BLOCK;
    if (!file->cached[chunk] &&
        (bloom_account_pays(&file->account) || bloom_account_draw(&file->account))) {
        fetched = file->chunk_bytes;
        file->cached[chunk] = file->keeps;
    }
    if (fetched > 0 || file->cached[chunk]) {
        file->asked++;
        if (fetched > 0)
            bloom_account_settle(&file->account, fetched, absent ? BLOCK : 0);
        else if (absent)
            bloom_account_credit(&file->account, BLOCK);
    } else {
        absent = false; /* nobody knows */
    }
    file->read += fetched + (absent ? 0 : BLOCK);
}

static void
get_many(struct file *file, unsigned count, unsigned absent_of_1000)
{
    file->read = file->read_without_filter = file->asked = 0;
    for (unsigned i = 0; i < count; i++)
        get(file, absent_of_1000);
}

/* In blocks: what an open file may spend on finding out, and that again for what it had saved. */
static const uint64_t fresh = BLOOM_ACCOUNT_CREDIT + BLOOM_ACCOUNT_DEBT + 2;
static const uint64_t rich = BLOOM_ACCOUNT_FORTUNE + BLOOM_ACCOUNT_DEBT + 2;

static void
expect_within(const struct file *file, uint64_t blocks)
{
    uint64_t most = file->read_without_filter + file->read_without_filter / 500 + blocks * BLOCK;

    if (file->read > most)
        fail_msg("%llu bytes read, %llu without a filter", (unsigned long long)file->read,
                 (unsigned long long)file->read_without_filter);
}

/* Whatever the share of what is absent: the loss is the stated one, from the first get on. */
TEST(no_share_of_absent_rows_costs_more_than_no_filter)
{
    for (unsigned absent = 0; absent <= 1000; absent += 50) {
        for (unsigned keeps = 0; keeps < 2; keeps++) {
            struct file file;

            file_init(&file, keeps > 0, 100, BLOCK - 100);
            for (unsigned gets = 1; gets <= 100000; gets *= 10) {
                get_many(&file, gets, absent);
                expect_within(&file, gets == 1 ? fresh : rich + fresh);
            }
        }
    }
}

TEST(without_a_cache_lookups_of_what_is_there_soon_do_not_ask)
{
    struct file file;

    file_init(&file, false, 100, BLOCK);
    get_many(&file, 2000, 0);
    assert_true(file.read <= file.read_without_filter + fresh * BLOCK + 2 * 2000 / 1024 * BLOCK);
    get_many(&file, 200000, 0);
    assert_in_range(file.asked, 100, 300); /* 195 are expected */
}

TEST(absent_rows_keep_the_whole_benefit)
{
    struct file file;

    for (unsigned keeps = 0; keeps < 2; keeps++) {
        file_init(&file, keeps > 0, 100, BLOCK * 9 / 10);
        get_many(&file, 20000, 999);
        assert_int_equal(file.asked, 20000);
    }
}

/* From the deepest debt back, in as many gets as the header lets expect, and some; the other way at
 * once. */
TEST(a_change_is_noticed)
{
    struct file file;

    for (unsigned keeps = 0; keeps < 2; keeps++) {
        file_init(&file, keeps > 0, 40, BLOCK / 2);
        get_many(&file, 50000, 0);
        for (unsigned i = 0; i < 40; i++)
            file.cached[i] = false; /* whatever was asked has gone */
        assert_true(bloom_account_interval(&file.account) > 100);
        get_many(&file, keeps > 0 ? 8192 : 20000, 1000);
        get_many(&file, 1000, 1000);
        assert_int_equal(file.asked, 1000);
        get_many(&file, 1000, 0);
        expect_within(&file, rich);
    }
}

TEST(the_interval_doubles_with_each_block_of_debt)
{
    struct bloom_account account;

    bloom_account_init(&account, 0, 0); /* facts of a file may say anything */
    assert_true(bloom_account_pays(&account));
    bloom_account_init(&account, UINT64_MAX, 1);
    bloom_account_settle(&account, UINT64_MAX, UINT64_MAX);
    bloom_account_init(&account, BLOCK, 1);
    bloom_account_settle(&account, BLOOM_ACCOUNT_CREDIT * BLOCK, 0);
    assert_int_equal(bloom_account_interval(&account), 1);
    for (unsigned bits = 4; bits <= 10; bits++) {
        bloom_account_settle(&account, BLOCK, 0);
        assert_int_equal(bloom_account_interval(&account), 1u << bits);
    }
    bloom_account_settle(&account, 100 * BLOCK, 0);
    assert_int_equal(bloom_account_interval(&account), 1024);
    for (unsigned i = 0; i < BLOOM_ACCOUNT_DEBT; i++)
        bloom_account_credit(&account, 2 * BLOCK); /* no more than a block counts */
    assert_true(bloom_account_pays(&account));
    bloom_account_settle(&account, 1, 0);
    assert_false(bloom_account_pays(&account));
}
