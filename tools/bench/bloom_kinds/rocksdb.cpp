/*
 * rocksdb.cpp -- RocksDB's full filters, Bloom and ribbon, as bloom_kinds, by themselves: those
 * that its public FilterPolicy makes builders and readers of.
 *
 * What these builders and readers can do rocksdb/filter_policy.h does not say: it names their
 * classes only. So they are declared here as RocksDB 7 lays their tables of functions out, as far
 * as they are called, and this file is built with RocksDB 7 alone. Nothing of them is defined here:
 * their destructors, too, are called through those tables. A builder takes bytes and hashes
 * them; a reader takes bytes, one key or up to 32 as a multi-get has them, or a hash of RocksDB's
 * own.
 */
#include "tools/bench/bloom_kinds/kind.h"

#include <stdio.h>
#include <time.h>

extern "C" {
#include "tools/bench/harness/util.h"
}

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include <cmath>
#include <cstring>
#include <memory>

#define BATCH      32     /* the most that a reader takes at once */
#define TRIED_KEYS 500000 /* of a filter that is built to see its rate */
#define TRIED_HITS 20000  /* so many absent keys pass it, about */
#define MOST_TRIED 2e7    /* absent keys, whatever the rate */
#define TRIALS     3
#define HALVINGS   0.65 /* of the rate by one bit more, about */

namespace ROCKSDB_NAMESPACE
{
class FilterBitsBuilder
{
  public:
    virtual ~FilterBitsBuilder();
    virtual void AddKey(const Slice &key) = 0;
    virtual size_t EstimateEntriesAdded() = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *buffer) = 0;
};

class FilterBitsReader
{
  public:
    virtual ~FilterBitsReader();
    virtual bool MayMatch(const Slice &key) = 0;
    virtual void MayMatch(int count, Slice **keys, bool *answers) = 0;
    virtual bool HashMayMatch(uint64_t hash) = 0;
};

/* The hash that both take of a key. */
uint64_t Hash64(const char *bytes, size_t size);
} // namespace ROCKSDB_NAMESPACE

namespace
{
using namespace ROCKSDB_NAMESPACE;

typedef const FilterPolicy *(*make_policy)(double bits);

const FilterPolicy *
bloom_policy(double bits)
{
    return NewBloomFilterPolicy(bits);
}

const FilterPolicy *
ribbon_policy(double bits)
{
    return NewRibbonFilterPolicy(bits, -1);
}

/* Of its builder first, then of its bytes and their reader. */
struct filter {
    explicit filter(const FilterPolicy *made) : policy(made)
    {
        BlockBasedTableOptions options;

        options.format_version = 5; /* from which on the filters are the present ones */
        FilterBuildingContext context(options);
        builder.reset(policy->GetBuilderWithContext(context));
    }

    std::unique_ptr<const FilterPolicy> policy;
    std::unique_ptr<FilterBitsBuilder> builder;
    std::unique_ptr<const char[]> buffer;
    Slice bytes;
    std::unique_ptr<FilterBitsReader> reader;
};

Slice
slice_of(const uint64_t &key)
{
    return Slice(reinterpret_cast<const char *>(&key), sizeof key);
}

void
add(void *handle, const uint64_t *keys, size_t count)
{
    FilterBitsBuilder *builder = static_cast<filter *>(handle)->builder.get();

    for (size_t i = 0; i < count; i++)
        builder->AddKey(slice_of(keys[i]));
}

void
finish(void *handle)
{
    filter *built = static_cast<filter *>(handle);

    built->bytes = built->builder->Finish(&built->buffer);
    built->builder.reset();
    built->reader.reset(built->policy->GetFilterBitsReader(built->bytes));
}

uint64_t
hash_of(uint64_t key)
{
    return Hash64(slice_of(key).data(), sizeof key);
}

FilterBitsReader *
reader_of(const void *handle)
{
    return static_cast<const filter *>(handle)->reader.get();
}

size_t
ask(const void *handle, const uint64_t *hashes, size_t count)
{
    FilterBitsReader *reader = reader_of(handle);
    size_t passed = 0;

    for (size_t i = 0; i < count; i++)
        passed += reader->HashMayMatch(hashes[i]);
    return passed;
}

size_t
ask_alone(const void *handle, const uint64_t *hashes, size_t count)
{
    FilterBitsReader *reader = reader_of(handle);
    size_t passed = 0;

    for (size_t i = 0; i < count; i++) {
        passed += reader->HashMayMatch(hashes[i]);
        kinds_wait();
    }
    return passed;
}

/* There is none by hashes: these are keys of 8 bytes, each absent as the hash was. */
size_t
ask_batch(const void *handle, const uint64_t *hashes, size_t count)
{
    FilterBitsReader *reader = reader_of(handle);
    Slice keys[BATCH], *places[BATCH];
    bool answers[BATCH];
    size_t passed = 0;

    for (size_t i = 0; i < BATCH; i++)
        places[i] = &keys[i];
    for (size_t i = 0; i < count; i += BATCH) {
        size_t some = count - i < BATCH ? count - i : BATCH;

        for (size_t k = 0; k < some; k++)
            keys[k] = slice_of(hashes[i + k]);
        reader->MayMatch(static_cast<int>(some), places, answers);
        for (size_t k = 0; k < some; k++)
            passed += answers[k];
    }
    return passed;
}

size_t
ask_bytes(const void *handle, const petal_slice *keys, size_t count)
{
    FilterBitsReader *reader = reader_of(handle);
    size_t passed = 0;

    for (size_t i = 0; i < count; i++)
        passed += reader->MayMatch(Slice(static_cast<const char *>(keys[i].data), keys[i].size));
    return passed;
}

void
free_filter(void *handle)
{
    delete static_cast<filter *>(handle);
}

void
tell_facts(const void *handle, struct kinds_facts *facts)
{
    facts->bytes = static_cast<const filter *>(handle)->bytes.size();
    facts->expected = NAN;
}

/* ---- the setting for a rate ---- */

double
rate_of(make_policy make, double bits, double wanted)
{
    filter *tried = new filter(make(bits));
    size_t absent = static_cast<size_t>(std::fmin(TRIED_HITS / wanted, MOST_TRIED));
    size_t passed = 0;

    for (uint64_t i = 0; i < TRIED_KEYS; i++) {
        uint64_t key = bench_scramble(i);

        add(tried, &key, 1);
    }
    finish(tried);
    for (uint64_t i = 0; i < absent; i++)
        passed += tried->reader->HashMayMatch(bench_scramble(TRIED_KEYS + i));
    delete tried;
    return std::fmax(static_cast<double>(passed), 1) / static_cast<double>(absent);
}

/* RocksDB is told bits a key, and its ribbon the bits of a Bloom filter of the same rate. Those that
 * hold a rate are found by trying, each time corrected by what a bit more does about. */
double
bits_for(make_policy make, double rate)
{
    double bits = -1.05 * std::log2(rate) / std::log(2);

    for (int i = 0; i < TRIALS; i++)
        bits += std::log2(rate_of(make, bits, rate) / rate) / HALVINGS;
    return bits;
}

double bloom_bits, ribbon_bits; /* of the rate prepared last */

void
prepare_bloom(double rate)
{
    bloom_bits = bits_for(bloom_policy, rate);
}

void
prepare_ribbon(double rate)
{
    ribbon_bits = bits_for(ribbon_policy, rate);
}

void *
begin_bloom(uint64_t, double)
{
    return new filter(bloom_policy(bloom_bits));
}

void *
begin_ribbon(uint64_t, double)
{
    return new filter(ribbon_policy(ribbon_bits));
}
} // namespace

extern "C" const struct bloom_kind bloom_kinds_rocksdb[ROCKSDB_KINDS] = {
    {"rocksdb", "rocksdb-bloom", prepare_bloom, begin_bloom, add, finish, free_filter, tell_facts,
     hash_of, ask, ask_alone, ask_batch, ask_bytes},
    {"rocksdb", "rocksdb-ribbon", prepare_ribbon, begin_ribbon, add, finish, free_filter,
     tell_facts, hash_of, ask, ask_alone, ask_batch, ask_bytes},
};
