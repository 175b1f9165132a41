/*
 * fuse.c -- see fuse.h for the layout.
 *
 * BUILDING peels: a place that only one key has is that key's own, to be filled last; without the
 * key others are left alone in their places, and so on.  If all keys come off, they are filled in
 * the reverse order, each key's own place by what its two others have then.  Since a key's places
 * lie in neighbouring segments, keys come off from both ends of the array towards its middle, at
 * loads of which a filter without segments would leave most.
 */
#include "bloom/fuse.h"
#include "bloom/little_endian.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define MOST_SEEDS      100
#define MIN_LENGTH_BITS 2
#define MAX_LENGTH_BITS 18

/* Keys are counted into so many blocks of neighbouring first places at most before they are
 * entered, so that what is written lies near what was written before. */
#define MOST_BLOCKS 1024

/* ---- shapes ---- */

static uint64_t
places_of(const struct bloom_fuse *fuse)
{
    return ((uint64_t)fuse->segments + 2) << fuse->length_bits;
}

/* The lengths and loads with which Graf and Lemire found that most seeds fit. */
struct bloom_fuse
bloom_fuse_shape(uint64_t keys, unsigned width)
{
    double count = keys < 2 ? 2 : (double)keys;
    double places = ceil(count * fmax(1.125, 0.875 + 0.25 * log(1e6) / log(count)));
    double length_bits = floor(log(count) / log(3.33) + 2.25);
    struct bloom_fuse fuse = {.keys = (uint32_t)keys, .width = (uint8_t)width};
    double segments;

    assert(keys <= BLOOM_FUSE_MAX_KEYS && (width == 1 || width == 2));
    fuse.length_bits = (uint8_t)fmin(length_bits, MAX_LENGTH_BITS);
    segments = ceil(ldexp(places, -fuse.length_bits)) - 2;
    fuse.segments = segments < 1 ? 1 : (uint32_t)segments;
    return fuse;
}

double
bloom_fuse_expected_rate(const struct bloom_fuse *fuse)
{
    return ldexp(1, -8 * fuse->width);
}

size_t
bloom_fuse_bytes(const struct bloom_fuse *fuse)
{
    return (size_t)places_of(fuse) * fuse->width + BLOOM_FUSE_FOOTER_BYTES;
}

/* Said of shapes from disk, so it must not overflow. */
static bool
shape_is_valid(const struct bloom_fuse *fuse)
{
    return (fuse->width == 1 || fuse->width == 2) && fuse->length_bits >= MIN_LENGTH_BITS &&
           fuse->length_bits <= MAX_LENGTH_BITS && fuse->segments >= 1 &&
           places_of(fuse) <= UINT32_MAX;
}

/* ---- building ---- */

/* What building works with, laid out in the caller's memory. */
struct peeling {
    uint64_t *sums;  /* of each place: the mixed hashes of its keys, added modulo 2 */
    uint64_t *keys;  /* mixed hashes: to be entered, then as they came off */
    uint32_t *alone; /* places that had one key when they were put there */
    uint8_t *counts; /* of each place: its keys, times 4, and the sum modulo 2 of which of a
                         * key's places it is for them, 0..2 */
    uint8_t *own;    /* of each key that came off: which of its places is its own */
    uint32_t key_count;
    uint32_t place_count;
};

static size_t
whole_words(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

size_t
bloom_fuse_work_bytes(const struct bloom_fuse *fuse)
{
    size_t places = (size_t)places_of(fuse), keys = fuse->keys;

    return whole_words(places * (sizeof(uint64_t) + sizeof(uint32_t) + 1) +
                       keys * (sizeof(uint64_t) + 1));
}

static void
peeling_init(struct peeling *peeling, const struct bloom_fuse *fuse, void *work)
{
    peeling->key_count = fuse->keys;
    peeling->place_count = (uint32_t)places_of(fuse);
    peeling->sums = work;
    peeling->keys = peeling->sums + peeling->place_count;
    peeling->alone = (uint32_t *)(void *)(peeling->keys + peeling->key_count);
    peeling->counts = (uint8_t *)(peeling->alone + peeling->place_count);
    peeling->own = peeling->counts + peeling->place_count;
}

/* Mix all hashes and put them down in the order of their blocks. */
static void
order_keys(struct peeling *peeling, const struct bloom_fuse *fuse, const uint64_t *hashes)
{
    uint32_t ends[MOST_BLOCKS] = {0}, before = 0;

    for (uint32_t i = 0; i < peeling->key_count; i++)
        ends[bloom_fuse_mix(hashes[i], fuse->seed) / (UINT64_MAX / MOST_BLOCKS + 1)]++;
    for (unsigned block = 0; block < MOST_BLOCKS; block++) {
        uint32_t count = ends[block];

        ends[block] = before;
        before += count;
    }
    assert(before == peeling->key_count);
    for (uint32_t i = 0; i < peeling->key_count; i++) {
        uint64_t mixed = bloom_fuse_mix(hashes[i], fuse->seed);

        peeling->keys[ends[mixed / (UINT64_MAX / MOST_BLOCKS + 1)]++] = mixed;
    }
}

/* False: more keys have one place than are counted. */
static bool
enter_keys(struct peeling *peeling, const struct bloom_fuse *fuse)
{
    bool fits = true;

    memset(peeling->sums, 0, peeling->place_count * sizeof *peeling->sums);
    memset(peeling->counts, 0, peeling->place_count);
    for (uint32_t i = 0; i < peeling->key_count; i++) {
        struct bloom_fuse_places places = bloom_fuse_places(fuse, peeling->keys[i]);

        for (unsigned p = 0; p < 3; p++) {
            uint8_t *count = &peeling->counts[places.at[p]];

            assert(places.at[p] < peeling->place_count);
            *count = (uint8_t)((*count + 4) ^ p);
            fits &= *count >= 4;
            peeling->sums[places.at[p]] ^= peeling->keys[i];
        }
    }
    return fits;
}

/* Take keys off that are alone in a place, as long as there are any.  How many came off. */
static uint32_t
peel(struct peeling *peeling, const struct bloom_fuse *fuse)
{
    uint32_t waiting = 0, off = 0;

    for (uint32_t place = 0; place < peeling->place_count; place++) {
        peeling->alone[waiting] = place;
        waiting += peeling->counts[place] / 4 == 1;
    }
    while (waiting > 0) {
        uint32_t place = peeling->alone[--waiting];
        unsigned own = peeling->counts[place] % 4;
        uint64_t mixed = peeling->sums[place];
        struct bloom_fuse_places places;

        if (peeling->counts[place] / 4 != 1) /* its key came off elsewhere */
            continue;
        assert(own < 3 && off < peeling->key_count);
        peeling->keys[off] = mixed;
        peeling->own[off++] = (uint8_t)own;
        places = bloom_fuse_places(fuse, mixed);
        for (unsigned p = 0; p < 3; p++) {
            uint32_t other = places.at[p];

            if (p == own)
                continue;
            peeling->alone[waiting] = other;
            waiting += peeling->counts[other] / 4 == 2;
            peeling->counts[other] = (uint8_t)((peeling->counts[other] - 4) ^ p);
            peeling->sums[other] ^= mixed;
        }
        peeling->counts[place] = 0;
    }
    return off;
}

static void
fill(const struct peeling *peeling, const struct bloom_fuse *fuse, uint8_t *bytes)
{
    memset(bytes, 0, (size_t)peeling->place_count * fuse->width);
    for (uint32_t i = peeling->key_count; i > 0; i--) {
        struct bloom_fuse_places places = bloom_fuse_places(fuse, peeling->keys[i - 1]);
        uint32_t fingerprint = bloom_fuse_difference(fuse, bytes, &places);
        size_t at = (size_t)places.at[peeling->own[i - 1]] * fuse->width;

        store_little_endian(bytes + at, fuse->width, fingerprint);
    }
}

bool
bloom_fuse_build(struct bloom_fuse *fuse, const uint64_t *hashes, void *work, uint8_t *bytes)
{
    uint8_t *footer = bytes + bloom_fuse_bytes(fuse) - BLOOM_FUSE_FOOTER_BYTES;
    struct peeling peeling;

    assert(shape_is_valid(fuse) && (fuse->keys == 0 || hashes != NULL));
    assert((uintptr_t)work % sizeof(uint64_t) == 0);
    peeling_init(&peeling, fuse, work);
    for (fuse->seed = 0; fuse->seed < MOST_SEEDS; fuse->seed++) {
        order_keys(&peeling, fuse, hashes);
        if (enter_keys(&peeling, fuse) && peel(&peeling, fuse) == fuse->keys)
            break;
    }
    if (fuse->seed == MOST_SEEDS)
        return false;
    fill(&peeling, fuse, bytes);
    memset(footer, 0, BLOOM_FUSE_FOOTER_BYTES);
    store_little_endian(footer, 4, fuse->keys);
    footer[4] = BLOOM_FUSE_LAYOUT;
    footer[5] = fuse->width;
    footer[6] = fuse->seed;
    footer[7] = fuse->length_bits;
    store_little_endian(footer + 8, 4, fuse->segments);
    return true;
}

/* ---- opening ---- */

bool
bloom_fuse_read_footer(struct bloom_fuse *fuse, const uint8_t *footer)
{
    *fuse = (struct bloom_fuse){.keys = load_le32(footer),
                                .segments = load_le32(footer + 8),
                                .length_bits = footer[7],
                                .width = footer[5],
                                .seed = footer[6]};
    return footer[4] == BLOOM_FUSE_LAYOUT && load_le32(footer + 12) == 0 && shape_is_valid(fuse);
}

bool
bloom_fuse_open(struct bloom_fuse *fuse, const uint8_t *bytes, size_t size)
{
    return size >= BLOOM_FUSE_FOOTER_BYTES &&
           bloom_fuse_read_footer(fuse, bytes + size - BLOOM_FUSE_FOOTER_BYTES) &&
           bloom_fuse_bytes(fuse) == size;
}
