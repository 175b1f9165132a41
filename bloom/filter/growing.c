/*
 * growing.c -- filters of kind GROWING: a chain of SEGMENTS, each an array of lines of bits as
 * BLOCKED has (lines.h), and made for twice the keys of the one before.
 *
 * RATES. Of the rate p that was asked for segment i = 0, 1, ... is made for p * 6 / (pi^2 (i+1)^2):
 * these sum to p, however many there are. They fall slower than by half, which would cost a bit and
 * a half more a key with each segment.
 *
 * A key that some segment lets pass is not entered again. Another one goes into the newest segment,
 * which never takes more keys than it is made for: room for them is reserved before, and what was
 * not needed, of keys that others have entered meanwhile, is given back.
 *
 * bloom/growing.h is the memtable's own chain of such segments, made for the path of a put: one
 * writer that stores without atomic operations, one fixed shape of six probes and 12 bits a key,
 * memory that was reserved before, and no look at older segments before a key is entered. It keeps
 * no rate but its own, and answers no question of was-it-new. The two have the places of bits
 * (bloom/bloom.h) in common, nothing else.
 *
 * THREADS. Who finds a segment full makes the next one under a mutex; those who find it full
 * meanwhile wait, so that memory is taken once. No other call takes the mutex. A segment's head and
 * its zeroed words are published by `newest` (release, acquire).
 * Two threads that enter one key at once may do so in two segments: then both are told that it was
 * new.
 */
#include "base/coding.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "bloom/filter/kind.h"
#include "bloom/filter/lines.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

/* As many as a file's table has room for; long before memory has come to its end. */
#define MOST_SEGMENTS 64

/* Keys of the first segment at least, and of any at most. */
#define LEAST_CAPACITY 4096
#define MOST_CAPACITY  (FILTER_MOST_KEYS / 2)

/* So many hashes go through the chain together. */
#define CHUNK 256

struct segment {
    struct segment *older;
    unsigned number; /* 0: the oldest */
    bool is_lent;    /* its words are the file's */
    struct filter_lines lines;
    uint64_t capacity;
    /* Keys that are entered, and such as are being; on a line of its own: all who enter write
     * it. */
    _Alignas(BLOOM_LINE_BYTES) _Atomic(uint64_t) keys;
};

struct growing {
    petal_bloom bloom;
    _Atomic(struct segment *) newest; /* NULL: no keys */
    struct mutex growth;              /* of who puts a segment there */
    struct set_file file;             /* whose body lent segments lie in; NULL: there are none */
};

static const struct growing *
growing_of_const(const petal_bloom *bloom)
{
    return (const struct growing *)bloom;
}

static struct growing *
growing_of(petal_bloom *bloom)
{
    return (struct growing *)bloom;
}

static struct segment *
newest_of(const petal_bloom *bloom)
{
    /* Acquire: the heads of all segments, and their words as they were made. */
    return atomic_load_explicit(&growing_of_const(bloom)->newest, memory_order_acquire);
}

/* ---- the scheme ---- */

static uint64_t
capacity_of(uint64_t keys, unsigned number)
{
    uint64_t capacity = keys < LEAST_CAPACITY ? LEAST_CAPACITY : keys;

    for (; number > 0 && capacity < MOST_CAPACITY; number--)
        capacity *= 2;
    return capacity < MOST_CAPACITY ? capacity : MOST_CAPACITY;
}

/* Of segment `number`, in a chain that was made for so many keys. */
static struct filter_lines
find_shape(uint64_t keys, double rate, unsigned number)
{
    double place = number + 1.0, part = rate * 6 / (M_PI * M_PI * place * place);
    struct filter_lines lines = {.positions = BLOOM_LINE_BITS};
    uint64_t capacity = capacity_of(keys, number);

    /* A little more come until it is full: see keys_until_full. */
    filter_lines_shape(&lines, capacity + (uint64_t)((double)capacity * part / 3), part);
    return lines;
}

/* Different keys that come to a segment until it is full: those that pass it by chance take no
 * room, and set no bits. Their part is the mean of its rate from empty to full: Simpson's rule. */
static double
keys_until_full(const struct filter_lines *lines, uint64_t capacity)
{
    double passing =
        (4 * filter_lines_rate(lines, capacity / 2) + filter_lines_rate(lines, capacity)) / 6;

    return (double)capacity / (1 - passing);
}

/* Of a chain that was given `given` different keys. */
static double
chain_rate(uint64_t keys, double rate, uint64_t given)
{
    double left = (double)given, none_passes = 1;

    for (unsigned number = 0; left >= 0.5 && number < MOST_SEGMENTS; number++) {
        struct filter_lines lines = find_shape(keys, rate, number);
        double until_full = keys_until_full(&lines, capacity_of(keys, number));
        double coming = fmin(left * none_passes, until_full);

        left -= coming / none_passes;
        none_passes *= 1 - filter_lines_rate(&lines, (uint64_t)llround(coming));
    }
    return 1 - none_passes;
}

static enum petal_status
check_keys(const petal_bloom_options *options, petal_error *error)
{
    if (options->keys <= MOST_CAPACITY)
        return PETAL_OK;
    return error_set(error, PETAL_INVALID,
                     "keys is %" PRIu64 "; they need more memory than can be addressed",
                     options->keys);
}

static enum petal_status
growing_plan(const petal_bloom_options *options, petal_bloom_plan *plan, petal_error *error)
{
    enum petal_status status = check_keys(options, error);
    struct filter_lines lines;

    if (status != PETAL_OK)
        return status;
    lines = find_shape(options->keys, options->rate, 0);
    plan->bits = lines.count * BLOOM_LINE_BITS;
    plan->probes = lines.probes;
    plan->bits_per_key = (double)plan->bits / (double)options->keys;
    plan->rate = filter_lines_rate(&lines, options->keys);
    plan->bytes = filter_lines_bytes(&lines);
    plan->build_bytes = plan->bytes;
    return PETAL_OK;
}

/* ---- segments ---- */

static void
segment_free(const struct env *env, struct segment *segment)
{
    if (!segment->is_lent)
        filter_lines_free(&segment->lines, env);
    mem_free(env->allocator, segment, sizeof *segment);
}

static struct segment *
segment_new(const struct env *env, const struct filter_lines *lines, struct segment *older)
{
    struct segment *segment = mem_alloc_aligned(env->allocator, BLOOM_LINE_BYTES, sizeof *segment);

    if (segment == NULL)
        return NULL;
    memset((void *)segment, 0, sizeof *segment);
    segment->older = older;
    segment->number = older == NULL ? 0 : older->number + 1;
    segment->lines = *lines;
    return segment;
}

static enum petal_status
add_segment(petal_bloom *bloom, struct segment *full, petal_error *error)
{
    unsigned number = full == NULL ? 0 : full->number + 1;
    struct filter_lines lines;
    struct segment *segment;

    if (number < MOST_SEGMENTS)
        lines = find_shape(bloom->keys, bloom->rate, number);
    if (number == MOST_SEGMENTS || filter_lines_bytes(&lines) > SIZE_MAX / 2)
        return error_set(error, PETAL_NO_MEMORY,
                         "out of memory: the filter has grown beyond what can be addressed");
    if (!filter_lines_allocate(&lines, &bloom->env))
        return error_set(error, PETAL_NO_MEMORY,
                         "out of memory: the filter grows by %" PRIu64 " bytes",
                         filter_lines_bytes(&lines));
    segment = segment_new(&bloom->env, &lines, full);
    if (segment == NULL) {
        filter_lines_free(&lines, &bloom->env);
        return error_no_memory(error);
    }
    segment->capacity = capacity_of(bloom->keys, number);
    atomic_store_explicit(&growing_of(bloom)->newest, segment, memory_order_release);
    return PETAL_OK;
}

/* Put a segment after `full`, or find that another thread has. */
static enum petal_status
grow(petal_bloom *bloom, struct segment *full, petal_error *error)
{
    struct growing *growing = growing_of(bloom);
    enum petal_status status = PETAL_OK;

    mutex_lock(&growing->growth);
    if (newest_of(bloom) == full)
        status = add_segment(bloom, full, error);
    mutex_unlock(&growing->growth);
    return status;
}

/* Room for so many keys, or fewer. */
static uint64_t
reserve(struct segment *segment, uint64_t wanted)
{
    uint64_t keys = atomic_load_explicit(&segment->keys, memory_order_relaxed), granted;

    do {
        uint64_t room = segment->capacity > keys ? segment->capacity - keys : 0;

        granted = wanted < room ? wanted : room;
    } while (granted > 0 &&
             !atomic_compare_exchange_weak_explicit(&segment->keys, &keys, keys + granted,
                                                    memory_order_relaxed, memory_order_relaxed));
    return granted;
}

static void
give_back(struct segment *segment, uint64_t keys)
{
    if (keys > 0)
        atomic_fetch_sub_explicit(&segment->keys, keys, memory_order_relaxed);
}

/* ---- life ---- */

static enum petal_status
growing_new(const petal_allocator *allocator, struct growing **growing, petal_error *error)
{
    *growing = mem_zalloc(allocator, sizeof **growing);
    if (*growing == NULL)
        return error_no_memory(error);
    if (mutex_init(&(*growing)->growth))
        return PETAL_OK;
    mem_free(allocator, *growing, sizeof **growing);
    return error_no_memory(error);
}

static enum petal_status
growing_create(const petal_bloom_options *options, petal_bloom **bloom, petal_error *error)
{
    struct growing *growing;
    enum petal_status status;
    struct env env;

    status = check_keys(options, error);
    if (status != PETAL_OK)
        return status;
    env_init(&env, options->env);
    status = growing_new(env.allocator, &growing, error);
    if (status != PETAL_OK)
        return status;
    filter_init(&growing->bloom, options);
    *bloom = &growing->bloom;
    return PETAL_OK;
}

static void
growing_free(petal_bloom *bloom)
{
    const petal_allocator *allocator = bloom->env.allocator;
    struct segment *segment = newest_of(bloom);

    while (segment != NULL) {
        struct segment *older = segment->older;

        segment_free(&bloom->env, segment);
        segment = older;
    }
    if (growing_of(bloom)->file.body != NULL)
        set_file_close(&growing_of(bloom)->file);
    mutex_fini(&growing_of(bloom)->growth);
    mem_free(allocator, growing_of(bloom), sizeof(struct growing));
}

/* ---- questions ---- */

static bool
segment_may_contain(const struct segment *segment, uint64_t hash)
{
    const struct filter_lines *lines = &segment->lines;

    return filter_line_may_contain(filter_line(lines, hash), lines->probes, hash);
}

static bool
growing_may_contain_hash(const petal_bloom *bloom, uint64_t hash)
{
    const struct segment *segment = newest_of(bloom);

    while (segment != NULL && !segment_may_contain(segment, hash))
        segment = segment->older;
    return segment != NULL;
}

/* Ask for the hashes whose indexes are in open[0..count), and keep there those that it does not let
 * pass; returns how many. */
static size_t
ask_segment(const struct segment *segment, const uint64_t *hashes, uint16_t *open, size_t count,
            bool *answers)
{
    size_t left = 0;

    for (size_t i = 0; i < count && i < FILTER_AHEAD; i++)
        filter_line_prefetch(&segment->lines, hashes[open[i]]);
    for (size_t i = 0; i < count; i++) {
        uint16_t index = open[i];
        bool passes;

        if (count - i > FILTER_AHEAD)
            filter_line_prefetch(&segment->lines, hashes[open[i + FILTER_AHEAD]]);
        passes = segment_may_contain(segment, hashes[index]);
        answers[index] = passes;
        open[left] = index;
        left += !passes;
    }
    return left;
}

/* Ask the chain from `segment` on for up to CHUNK hashes. Returns how many pass. */
static size_t
ask_chunk(const struct segment *segment, const uint64_t *hashes, size_t count, bool *answers)
{
    uint16_t open[CHUNK];
    size_t left = count;

    assert(count <= CHUNK);
    for (size_t i = 0; i < count; i++) {
        open[i] = (uint16_t)i;
        answers[i] = false;
    }
    for (; segment != NULL && left > 0; segment = segment->older)
        left = ask_segment(segment, hashes, open, left, answers);
    return count - left;
}

static size_t
growing_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                           bool *answers)
{
    const struct segment *newest = newest_of(bloom);
    size_t passed = 0;

    for (size_t i = 0; i < count; i += CHUNK)
        passed += ask_chunk(newest, hashes + i, count - i < CHUNK ? count - i : CHUNK, answers + i);
    return passed;
}

/* ---- entering ---- */

/*
 * Enter hashes[0..count), of which `passes` says who is in already, into the segment, for as many
 * as there was room for. Returns how many hashes are done with. passes[i] becomes true where one
 * was entered meanwhile.
 */
static size_t
enter(struct segment *segment, const uint64_t *hashes, size_t count, bool *passes, uint64_t room)
{
    size_t done = 0;
    uint64_t entered = 0;

    for (; done < count && (passes[done] || entered < room); done++) {
        if (passes[done])
            continue;
        passes[done] = !filter_line_add(filter_line(&segment->lines, hashes[done]),
                                        segment->lines.probes, hashes[done]);
        entered += !passes[done];
    }
    give_back(segment, room - entered);
    return done;
}

/*
 * Hashes are asked for chunk by chunk before they are entered; when a segment fills up within a
 * chunk its rest is asked for again, since what is double there is found only in the full one.
 */
static enum petal_status
growing_add_hashes(petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *were_new,
                   petal_error *error)
{
    enum petal_status status = PETAL_OK;
    bool passes[CHUNK];

    for (size_t i = 0, done; i < count && status == PETAL_OK; i += done) {
        size_t chunk = count - i < CHUNK ? count - i : CHUNK;
        struct segment *newest = newest_of(bloom);
        size_t passed = ask_chunk(newest, hashes + i, chunk, passes);
        uint64_t room = newest == NULL ? 0 : reserve(newest, chunk - passed);

        done = 0;
        if (newest != NULL)
            done = enter(newest, hashes + i, chunk, passes, room);
        for (size_t j = 0; j < done && were_new != NULL; j++)
            were_new[i + j] = !passes[j];
        if (done < chunk && room < chunk - passed)
            status = grow(bloom, newest, error);
    }
    return status;
}

/* ---- numbers ---- */

static void
growing_extent(const petal_bloom *bloom, struct filter_extent *extent)
{
    *extent = (struct filter_extent){0, sizeof(struct growing), 0};
    for (const struct segment *at = newest_of(bloom); at != NULL; at = at->older) {
        extent->bits += at->lines.count * BLOOM_LINE_BITS;
        extent->bytes += filter_lines_bytes(&at->lines) + sizeof *at;
        extent->segments++;
    }
}

static double
growing_expected_rate(const petal_bloom *bloom, uint64_t keys)
{
    return chain_rate(bloom->keys, bloom->rate, keys);
}

static double
growing_present_rate(const petal_bloom *bloom)
{
    double none_passes = 1;

    for (const struct segment *at = newest_of(bloom); at != NULL; at = at->older)
        none_passes *= 1 - filter_lines_fill(&at->lines).rate;
    return 1 - none_passes;
}

static uint64_t
growing_count(const petal_bloom *bloom)
{
    double keys = 0;

    for (const struct segment *at = newest_of(bloom); at != NULL; at = at->older) {
        struct filter_fill fill = filter_lines_fill(&at->lines);

        /* Of those that came later some were let pass here. A segment that is full to its last bit
         * would let all pass. */
        keys = keys / fmax(1 - fill.rate, 0.5) + fill.keys;
    }
    return (uint64_t)llround(keys);
}

/* ---- files ---- */

/*
 * The body is a table of one page, an entry for each segment, then the lines of the segments, as in
 * the table oldest first:
 *     0  u64  lines
 *     8  u64  capacity  keys
 *    16  u64  keys      that are entered
 *    24  u64  probes
 *    32  32 bytes of 0
 */
#define ENTRY_BYTES 64

static_assert(MOST_SEGMENTS * ENTRY_BYTES == SET_FILE_PAGE_BYTES, "a table is a page");

enum { SEGMENTS = FILTER_OWN_PARAMETERS, UNUSED };

static void
put_entry(uint8_t *entry, const struct segment *segment)
{
    put_le64(entry, segment->lines.count);
    put_le64(entry + 8, segment->capacity);
    put_le64(entry + 16, atomic_load_explicit(&segment->keys, memory_order_relaxed));
    put_le64(entry + 24, segment->lines.probes);
}

static enum petal_status
growing_save(const petal_bloom *bloom, struct set_file_writer *writer, struct set_file_head *head,
             petal_error *error)
{
    const struct segment *oldest_first[MOST_SEGMENTS];
    uint8_t table[SET_FILE_PAGE_BYTES] = {0};
    const struct segment *newest = newest_of(bloom);
    unsigned count = newest == NULL ? 0 : newest->number + 1;
    enum petal_status status;

    assert(count <= MOST_SEGMENTS);
    head->parameters[SEGMENTS] = count;
    for (; newest != NULL; newest = newest->older) {
        oldest_first[newest->number] = newest;
        put_entry(table + (size_t)ENTRY_BYTES * newest->number, newest);
    }
    status = set_file_append(writer, table, sizeof table, error);
    for (unsigned i = 0; i < count && status == PETAL_OK; i++)
        status = set_file_append(writer, (const void *)oldest_first[i]->lines.words,
                                 (size_t)filter_lines_bytes(&oldest_first[i]->lines), error);
    return status;
}

/* Of `room` bytes of lines that are left. */
static enum petal_status
check_entry(const struct set_file *file, const char *path, unsigned number, uint64_t room,
            petal_error *error)
{
    const uint8_t *entry = file->body + (size_t)ENTRY_BYTES * number;
    uint64_t at = SET_FILE_PAGE_BYTES + (uint64_t)ENTRY_BYTES * number;
    uint64_t lines = get_le64(entry), probes = get_le64(entry + 24);

    if (lines == 0 || lines > room / BLOOM_LINE_BYTES)
        return error_corrupt(error, path, at,
                             "segment %u has %" PRIu64 " lines, where %" PRIu64
                             " bytes are left for them",
                             number, lines, room);
    if (probes < 1 || probes > BLOOM_MAX_PROBES)
        return error_corrupt(error, path, at + 24,
                             "segment %u has %" PRIu64 " probes; it must have 1 to %d", number,
                             probes, BLOOM_MAX_PROBES);
    for (unsigned i = 32; i < ENTRY_BYTES; i++)
        if (entry[i] != 0)
            return error_corrupt(error, path, at + i, "an unused byte of segment %u is not 0",
                                 number);
    return PETAL_OK;
}

static enum petal_status
check_chain(const petal_bloom *like, const struct set_file *file, const char *path,
            petal_error *error)
{
    uint64_t segments = file->head.parameters[SEGMENTS], room;
    enum petal_status status = filter_check_unused(file, path, UNUSED, error);

    if (status != PETAL_OK)
        return status;
    if (like->keys > MOST_CAPACITY)
        return filter_bad_parameter(error, path, FILTER_KEYS, "the number of keys is impossible");
    if (like->rate < PETAL_BLOOM_MIN_RATE || like->rate > PETAL_BLOOM_MAX_RATE)
        return filter_bad_parameter(error, path, FILTER_RATE, "the rate is impossible");
    if (segments > MOST_SEGMENTS)
        return filter_bad_parameter(error, path, SEGMENTS, "the number of segments is impossible");
    if (file->body_bytes < SET_FILE_PAGE_BYTES)
        return error_corrupt(error, path, SET_FILE_PAGE_BYTES,
                             "the body has %" PRIu64 " bytes, its table of segments alone needs %d",
                             file->body_bytes, SET_FILE_PAGE_BYTES);
    room = file->body_bytes - SET_FILE_PAGE_BYTES;
    for (unsigned i = 0; i < segments; i++) {
        status = check_entry(file, path, i, room, error);
        if (status != PETAL_OK)
            return status;
        room -= get_le64(file->body + (size_t)ENTRY_BYTES * i) * BLOOM_LINE_BYTES;
    }
    if (room > 0)
        return error_corrupt(error, path, SET_FILE_PAGE_BYTES + file->body_bytes - room,
                             "%" PRIu64 " bytes behind the last segment belong to none", room);
    return PETAL_OK;
}

/* One whose words lie in the body, after those of the older ones. */
static struct segment *
lend_segment(const petal_bloom *like, const struct set_file *file, struct segment *older,
             uint64_t *at)
{
    unsigned number = older == NULL ? 0 : older->number + 1;
    const uint8_t *entry = file->body + (size_t)ENTRY_BYTES * number;
    const struct filter_lines lines = {.count = get_le64(entry),
                                       .probes = (unsigned)get_le64(entry + 24),
                                       .positions = BLOOM_LINE_BITS,
                                       .words = (filter_word *)(file->body + *at)};
    struct segment *segment = segment_new(&like->env, &lines, older);

    if (segment == NULL)
        return NULL;
    segment->is_lent = true;
    segment->capacity = get_le64(entry + 8);
    atomic_init(&segment->keys, get_le64(entry + 16));
    *at += filter_lines_bytes(&lines);
    return segment;
}

static enum petal_status
growing_open(const char *path, const petal_bloom *like, struct set_file *file, petal_bloom **bloom,
             petal_error *error)
{
    enum petal_status status = check_chain(like, file, path, error);
    uint64_t at = SET_FILE_PAGE_BYTES;
    struct segment *newest = NULL;
    struct growing *growing;

    if (status == PETAL_OK)
        status = growing_new(like->env.allocator, &growing, error);
    if (status != PETAL_OK)
        return status;
    growing->bloom = *like;
    for (uint64_t i = 0; i < file->head.parameters[SEGMENTS]; i++) {
        struct segment *segment = lend_segment(like, file, newest, &at);

        if (segment == NULL) {
            growing_free(&growing->bloom);
            return error_no_memory(error);
        }
        newest = segment;
        atomic_store_explicit(&growing->newest, newest, memory_order_relaxed);
    }
    growing->file = filter_take_file(file);
    *bloom = &growing->bloom;
    return PETAL_OK;
}

const struct filter_kind filter_growing = {
    .plan = growing_plan,
    .create = growing_create,
    .free = growing_free,
    .add_hashes = growing_add_hashes,
    .may_contain_hash = growing_may_contain_hash,
    .may_contain_hashes = growing_may_contain_hashes,
    .extent = growing_extent,
    .expected_rate = growing_expected_rate,
    .present_rate = growing_present_rate,
    .count = growing_count,
    .save = growing_save,
    .open = growing_open,
};
