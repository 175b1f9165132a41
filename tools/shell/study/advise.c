/*
 * advise.c -- advise: what sampled gets would have read of each family under each BLOOMFILTER and
 * BLOCKSIZE.
 *
 * THE MODEL.  Each get is made again without filters, from its receipt it is known which store
 * files facts leave over, in the order of reading until newer cells settle the answer, and which of
 * these hold what was asked; once more for whole families, which hold the row. A filter that can
 * tell (ROW: rows; ROWCOL: named columns; ROW_ROWCOL: both) spares a file that does not hold it but
 * for its error rate p, for each of k columns asked. So a file of b blocks, as they were counted,
 * costs
 *
 *     NONE        b
 *     ROW         b if it holds the row, else p b
 *     ROWCOL      columns named: b if it holds one, else min(1, k p) b; whole row: b
 *     ROW_ROWCOL  columns named: as ROWCOL; whole row: as ROW
 *
 * p is the file's own, or without a filter the family's share. A block of size B costs B times what
 * compression leaves, and to fetch n bytes at a place inside it takes 1 + n/B of them. Filters take
 * 1.06 ln(1/p)/ln(2)^2 bits a key, RIBBON ones 1.04 ln(1/p)/ln(2).
 *
 * BLOOMFILTER_KIND RIBBON is spoken of where it would free memory that the cache wants: the filters
 * take a tenth of the cache or more, and most of their keys are in outputs of compactions of all
 * files, the only ones that it makes smaller. What gets read is the same.
 */
#include "tools/shell/print/wrap.h"
#include "tools/shell/schema/words.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/study/commands.h"
#include "tools/shell/study/sample.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    TYPES = 4,
    SIZES = 5,
    MOST_SAMPLED = 100000,
    FILTER_BYTES_WORTH_A_CHANGE = 1 << 20,
    MUCH_OF_CACHE = 10 /* a part of it */
};

#define RIBBON_OF_BLOCKED (1.04 / 1.06 * log(2)) /* bits of the same rate */

static const enum petal_bloom_type types[TYPES] = {PETAL_BLOOM_NONE, PETAL_BLOOM_ROW,
                                                   PETAL_BLOOM_ROWCOL, PETAL_BLOOM_ROW_ROWCOL};
static const uint32_t sizes[SIZES] = {4096, 8192, 16384, 32768, 65536};

/* What is known of a store file. */
struct file_model {
    uint64_t number;
    double rate;       /* of errors of its filter */
    double row_bytes;  /* of a row, before compression, in the mean */
    double cell_bytes; /* of a cell */
    double bytes;      /* of all: no block is larger */
};

/* What is known of a family, and what gets of it would have cost. */
struct family_model {
    petal_family *family;
    petal_family_options options;
    struct file_model *files;
    size_t file_count;
    uint64_t visits,
        regions;     /* of files, once for each of their regions; regions that have files */
    uint32_t region; /* of the latest */
    uint64_t rows, cells, data_bytes, raw_bytes, index_bytes, data_blocks;
    uint64_t keys, merged_keys;       /* of filters; in outputs of compactions of all files */
    uint64_t filters, merged_filters; /* bytes, in the same way; of the latter without RIBBON */
    uint64_t gets, named_gets;
    double rate_sum;
    double measured;                    /* data blocks, read as things are .. */
    uint64_t considered;                /* .. of so many files .. */
    uint64_t skipped[PETAL_SKIP_COUNT]; /* .. without those that were skipped for a reason */
    double blocks[TYPES];               /* in the present size */
    double bytes[TYPES];                /* of them, before compression */
    double touched[TYPES][SIZES];       /* blocks of a size */
    double touched_bytes[TYPES][SIZES];
};

struct advice {
    struct session *session;
    petal_table *table;
    struct family_model *families;
    size_t count;
    petal_receipt *asked, *row; /* of the get as it was asked, and of its whole families */
    petal_column *whole;        /* these families */
};

/* ---- The files ------------------------------------------------------------------------------- */

static struct family_model *
find_family(struct advice *advice, petal_slice name)
{
    for (size_t i = 0; i < advice->count; i++)
        if (slices_equal(petal_family_name(advice->families[i].family), name))
            return &advice->families[i];
    return NULL;
}

static const struct file_model *
find_file(const struct family_model *family, uint64_t number)
{
    for (size_t i = 0; i < family->file_count; i++)
        if (family->files[i].number == number)
            return &family->files[i];
    return NULL;
}

static bool
add_file(void *argument, const petal_file_info *file)
{
    struct family_model *family = find_family(argument, file->family);
    struct file_model *model;

    if (family == NULL || file->rows == 0)
        return true;
    family->visits++;
    family->regions += family->region != file->region;
    family->region = file->region;
    if (find_file(family, file->number) != NULL)
        return true;
    family->files = memory_grow(family->files, (family->file_count + 1) * sizeof(*family->files));
    model = &family->files[family->file_count++];
    *model = (struct file_model){
        .number = file->number,
        .rate = file->bloom != PETAL_BLOOM_NONE ? file->bloom_error_rate : 0,
        .row_bytes = (double)file->raw_data_bytes / (double)file->rows,
        .bytes = (double)file->raw_data_bytes,
        .cell_bytes = (double)file->raw_data_bytes / (double)file->cells,
    };
    family->rows += file->rows;
    family->cells += file->cells;
    family->data_bytes += file->data_bytes;
    family->raw_bytes += file->raw_data_bytes;
    family->index_bytes += file->index_bytes;
    family->data_blocks += file->data_blocks;
    family->keys += file->bloom_keys;
    family->filters += file->filter_bytes;
    if (file->of_all_files)
        family->merged_keys += file->bloom_keys;
    if (file->of_all_files && file->bloom_kind != PETAL_BLOOM_KIND_RIBBON)
        family->merged_filters += file->filter_bytes;
    return true;
}

static enum shell_status
take_files(struct advice *advice)
{
    petal_error error;

    advice->count = petal_table_family_count(advice->table);
    advice->families = memory_allocate(advice->count * sizeof(*advice->families));
    for (size_t i = 0; i < advice->count; i++) {
        struct family_model *family = &advice->families[i];

        *family = (struct family_model){.family = petal_table_family_at(advice->table, i),
                                        .options.size = sizeof(petal_family_options)};
        petal_family_describe(family->family, &family->options);
    }
    if (petal_table_files(advice->table, add_file, advice, &error) != PETAL_OK)
        return session_fail_petal(advice->session, &error);
    for (size_t i = 0; i < advice->count; i++) {
        struct family_model *family = &advice->families[i];
        double share = family->options.bloom_error_rate;

        if (!family->options.bloom_rate_per_file && family->file_count > 0)
            share *= (double)family->regions / (double)family->visits;
        for (size_t k = 0; k < family->file_count; k++) {
            if (family->files[k].rate <= 0)
                family->files[k].rate = share;
            family->rate_sum += family->files[k].rate;
        }
    }
    return SHELL_FINE;
}

/* ---- The gets -------------------------------------------------------------------------------- */

static petal_read_options
options_of(const struct past_get *get, petal_receipt *receipt)
{
    return (petal_read_options){
        .size = sizeof(petal_read_options),
        .columns = get->columns,
        .column_count = get->column_count,
        .has_time_range = get->has_time_range,
        .time_min = get->time_min,
        .time_limit = get->time_limit,
        .versions = get->versions,
        .keep_out_of_cache = true,
        .receipt = receipt,
    };
}

/* The columns that the get names of a family; *asked: it asks anything of it. */
static size_t
columns_of(const struct past_get *get, const petal_family *family, bool *asked)
{
    size_t named = 0;
    bool whole = get->column_count == 0;

    for (size_t i = 0; i < get->column_count; i++) {
        if (get->columns[i].family != family)
            continue;
        whole = whole || get->columns[i].whole_family;
        named++;
    }
    *asked = named > 0 || whole;
    return whole ? 0 : named;
}

/* Does the file hold the row?  Where its receipt does not know the file, it may. */
static bool
holds_row(const petal_receipt *row, uint64_t number)
{
    for (size_t i = 0; i < petal_receipt_count(row); i++) {
        const petal_receipt_source *source = petal_receipt_at(row, i);

        if (source->file_number == number)
            return source->skip == PETAL_SKIP_NONE && !source->held_nothing;
    }
    return true;
}

/* The chance that a get comes to read a file that facts leave over. */
static double
chance(enum petal_bloom_type type, size_t named, bool holds, bool row, double rate)
{
    double columns = (double)named * rate < 1 ? (double)named * rate : 1;

    switch (type) {
    case PETAL_BLOOM_ROW:
        return row ? 1 : rate;
    case PETAL_BLOOM_ROWCOL:
        return named == 0 || holds ? 1 : columns;
    case PETAL_BLOOM_ROW_ROWCOL:
        if (named == 0)
            return row ? 1 : rate;
        return holds ? 1 : columns;
    default:
        return 1;
    }
}

static void
add_source(struct family_model *family, const petal_receipt_source *source, size_t named,
           const petal_receipt *row)
{
    const struct file_model *file = find_file(family, source->file_number);
    uint32_t blocks =
        source->blocks_cached[PETAL_BLOCK_DATA] + source->blocks_fetched[PETAL_BLOCK_DATA];
    bool has_row;
    double need;

    if (source->skip != PETAL_SKIP_NONE || file == NULL || blocks == 0)
        return;
    has_row = holds_row(row, source->file_number);
    need = source->held_nothing ? 0
           : named > 0          ? (double)named * file->cell_bytes
                                : file->row_bytes;
    for (size_t i = 0; i < TYPES; i++) {
        double read = chance(types[i], named, !source->held_nothing, has_row, file->rate);

        family->blocks[i] += read * blocks;
        family->bytes[i] += read * blocks * fmin(family->options.block_bytes, file->bytes);
        for (size_t k = 0; k < SIZES; k++) {
            double touched = read * (1 + need / sizes[k]);

            family->touched[i][k] += touched;
            family->touched_bytes[i][k] += touched * fmin(sizes[k], file->bytes);
        }
    }
}

static enum petal_status
read_again(struct advice *advice, const struct past_get *get, petal_error *error)
{
    petal_read_options now = options_of(get, advice->session->receipt);
    petal_read_options asked = options_of(get, advice->asked), row = options_of(get, advice->row);
    petal_result *result = advice->session->result;
    enum petal_status status = petal_get(get->table, get->row, &now, result, error);

    asked.without = PETAL_WITHOUT(PETAL_SKIP_BLOOM);
    row.without = PETAL_WITHOUT(PETAL_SKIP_BLOOM) | PETAL_WITHOUT(PETAL_SKIP_FOUND_NEWER) |
                  PETAL_WITHOUT(PETAL_SKIP_TIME_RANGE) | PETAL_WITHOUT(PETAL_SKIP_EXPIRED);
    advice->whole = memory_grow(advice->whole, (get->column_count + 1) * sizeof(*advice->whole));
    for (size_t i = 0; i < get->column_count; i++)
        advice->whole[i] = (petal_column){.family = get->columns[i].family, .whole_family = true};
    row.columns = advice->whole;
    row.has_time_range = false;
    row.time_min = row.time_limit = 0;
    row.versions = PETAL_ALL_VERSIONS;
    if (status == PETAL_OK)
        status = petal_get(get->table, get->row, &asked, result, error);
    if (status == PETAL_OK)
        status = petal_get(get->table, get->row, &row, result, error);
    return status;
}

static void
count_get(struct advice *advice, const struct past_get *get)
{
    const petal_receipt *now = advice->session->receipt;

    for (size_t i = 0; i < petal_receipt_count(now); i++) {
        const petal_receipt_source *source = petal_receipt_at(now, i);
        struct family_model *family = find_family(advice, source->family);

        if (family == NULL || source->file_number == 0)
            continue;
        family->measured +=
            source->blocks_cached[PETAL_BLOCK_DATA] + source->blocks_fetched[PETAL_BLOCK_DATA];
        family->considered++;
        family->skipped[source->skip]++;
    }
    for (size_t i = 0; i < advice->count; i++) {
        struct family_model *family = &advice->families[i];
        bool asked;
        size_t named = columns_of(get, family->family, &asked);

        family->gets += asked;
        family->named_gets += named > 0;
        for (size_t k = 0; asked && k < petal_receipt_count(advice->asked); k++) {
            const petal_receipt_source *source = petal_receipt_at(advice->asked, k);

            if (slices_equal(source->family, petal_family_name(family->family)))
                add_source(family, source, named, advice->row);
        }
    }
}

/* A get of a family that was dropped since is passed over. */
static enum shell_status
take_sample(struct advice *advice, const struct sample *sample)
{
    enum shell_status status = SHELL_FINE;
    petal_error error;

    for (size_t i = 0; i < sample->count && status == SHELL_FINE; i++) {
        enum petal_status outcome = read_again(advice, sample->gets[i], &error);

        if (outcome == PETAL_OK)
            count_get(advice, sample->gets[i]);
        else if (outcome != PETAL_NOT_FOUND)
            status = session_fail_petal(advice->session, &error);
        if (status == SHELL_FINE)
            status = interrupt_check(advice->session);
    }
    return status;
}

/* ---- Costs ----------------------------------------------------------------------------------- */

static double
a_get(const struct family_model *family, double sum)
{
    return family->gets > 0 ? sum / (double)family->gets : 0;
}

static double
filter_bytes(const struct family_model *family, enum petal_bloom_type type)
{
    double rate = family->file_count > 0 ? family->rate_sum / (double)family->file_count : 1;
    double bits = 1.06 * log(1 / rate) / (log(2) * log(2));
    double keys = 0;

    if (type == PETAL_BLOOM_ROW || type == PETAL_BLOOM_ROW_ROWCOL)
        keys += (double)family->rows;
    if (type == PETAL_BLOOM_ROWCOL || type == PETAL_BLOOM_ROW_ROWCOL)
        keys += (double)family->cells;
    if (bits > 20)
        bits = 20;
    if (family->options.bloom_kind == PETAL_BLOOM_KIND_RIBBON && family->keys > 0)
        bits -= bits * (1 - RIBBON_OF_BLOCKED) * (double)family->merged_keys / (double)family->keys;
    return keys * bits / 8;
}

/* Bytes of the filters that there are, if those that can be were RIBBON. */
static double
ribbon_bytes(const struct family_model *family)
{
    return (double)family->filters - (double)family->merged_filters * (1 - RIBBON_OF_BLOCKED);
}

/* Would RIBBON help?  Not asked where another BLOOMFILTER is better. */
static bool
wants_ribbon(const struct advice *advice, const struct family_model *family)
{
    petal_stats stats;

    petal_stats_get(advice->session->db, &stats);
    return family->options.bloom_kind != PETAL_BLOOM_KIND_RIBBON &&
           family->options.bloom != PETAL_BLOOM_NONE && 2 * family->merged_keys >= family->keys &&
           family->merged_filters > 0 && stats.cache_capacity > 0 &&
           family->filters >= stats.cache_capacity / MUCH_OF_CACHE;
}

static double
stored_share(const struct family_model *family)
{
    return family->raw_bytes > 0 ? (double)family->data_bytes / (double)family->raw_bytes : 1;
}

static double
bytes_of_size(const struct family_model *family, size_t type, size_t size)
{
    return a_get(family, family->touched_bytes[type][size]) * stored_share(family);
}

/* Of the index, with blocks of a size: as many entries as blocks. */
static double
index_bytes(const struct family_model *family, size_t size)
{
    double entry =
        family->data_blocks > 0 ? (double)family->index_bytes / (double)family->data_blocks : 0;

    return entry * ceil((double)family->raw_bytes / sizes[size]);
}

/* The filter that is there, if it is about as good as the best one and not much larger than one
 * as good; else the smallest of those. */
static size_t
best_type(const struct family_model *family)
{
    double least = family->blocks[0];
    size_t best = TYPES, present = TYPES;

    for (size_t i = 1; i < TYPES; i++)
        least = family->blocks[i] < least ? family->blocks[i] : least;
    for (size_t i = 0; i < TYPES; i++) {
        if (a_get(family, family->blocks[i]) > a_get(family, least) * 1.02 + 0.01)
            continue;
        if (best == TYPES)
            best = i;
        if (types[i] == family->options.bloom)
            present = i;
    }
    return present < TYPES &&
                   filter_bytes(family, types[present]) - filter_bytes(family, types[best]) <
                       FILTER_BYTES_WORTH_A_CHANGE
               ? present
               : best;
}

/* The size that reads fewest bytes, as long as the index stays below a tenth of the cache;
 * SIZES: the present one is about as good. */
static size_t
best_size(const struct advice *advice, const struct family_model *family, size_t type)
{
    petal_stats stats;
    size_t best = SIZES;
    double now;

    petal_stats_get(advice->session->db, &stats);
    now = a_get(family, family->bytes[type]) * stored_share(family);
    for (size_t i = 0; i < SIZES; i++) {
        if (sizes[i] == family->options.block_bytes)
            now = bytes_of_size(family, type, i);
        if (index_bytes(family, i) > (double)stats.cache_capacity / 10)
            continue;
        if (best == SIZES || bytes_of_size(family, type, i) < bytes_of_size(family, type, best))
            best = i;
    }
    if (best == SIZES || sizes[best] == family->options.block_bytes ||
        bytes_of_size(family, type, best) > now * 0.9 || a_get(family, family->blocks[type]) < 0.01)
        return SIZES;
    return best;
}

/* ---- What is shown --------------------------------------------------------------------------- */

static void
show_choice(struct advice *advice, const struct family_model *family, const char *key,
            const char *value, bool now, double blocks, double bytes, double memory,
            const char *what)
{
    struct output *output = &advice->session->output;
    struct text name = {0}, *text = &advice->session->scratch;

    if (format_is_on(&output->format)) {
        format_bytes(&output->format, petal_family_name(family->family));
        format_string(&output->format, key);
        format_string(&output->format, value);
        format_number(&output->format, now);
        format_real(&output->format, blocks);
        format_real(&output->format, round(bytes));
        format_real(&output->format, round(memory));
        return;
    }
    text_add_binary(&name, petal_family_name(family->family));
    text_add_format(&name, " %s %s%s", key, value, now ? " (now)" : "");
    text_clear(text);
    text_add_format(text, "%.3f data blocks and %.0f bytes a get; %.0f bytes of %s", blocks, bytes,
                    memory, what);
    output_parts(output, text_slice(&name), text_slice(text));
    text_free(&name);
}

static void
show_choices(struct advice *advice, const struct family_model *family, size_t type)
{
    char value[16];

    for (size_t i = 0; i < TYPES; i++) {
        double blocks = a_get(family, family->blocks[i]);

        show_choice(advice, family, "BLOOMFILTER", word_of(bloom_words, (int)types[i]),
                    family->options.bloom == types[i], blocks,
                    a_get(family, family->bytes[i]) * stored_share(family),
                    filter_bytes(family, types[i]), "filters");
    }
    for (size_t i = 0; i < SIZES; i++) {
        (void)snprintf(value, sizeof(value), "%" PRIu32, sizes[i]);
        show_choice(advice, family, "BLOCKSIZE", value, family->options.block_bytes == sizes[i],
                    a_get(family, family->touched[type][i]), bytes_of_size(family, type, i),
                    index_bytes(family, i), "index");
    }
}

/* Of filters that take much of the cache. */
static void
show_kinds(struct advice *advice, const struct family_model *family, size_t type)
{
    double blocks = a_get(family, family->blocks[type]);
    double bytes = a_get(family, family->bytes[type]) * stored_share(family);

    show_choice(advice, family, "BLOOMFILTER_KIND", "BLOCKED", true, blocks, bytes,
                (double)family->filters, "filters");
    show_choice(advice, family, "BLOOMFILTER_KIND", "RIBBON", false, blocks, bytes,
                ribbon_bytes(family), "filters");
}

/* The commands that change the family: in lines of their own on a terminal, where they are to be
 * copied. */
static void
add_commands(struct text *text, const struct advice *advice, const struct family_model *family,
             size_t type, size_t size, bool ribbon)
{
    unsigned width = advice->session->output.width;
    struct text commands = {0};

    text_add_string(&commands, "alter '");
    text_add_binary(&commands, petal_table_name(advice->table));
    text_add_string(&commands, "', {NAME => '");
    text_add_binary(&commands, petal_family_name(family->family));
    text_add_string(&commands, "'");
    if (types[type] != family->options.bloom)
        text_add_format(&commands, ", BLOOMFILTER => '%s'", word_of(bloom_words, (int)types[type]));
    if (size < SIZES)
        text_add_format(&commands, ", BLOCKSIZE => '%" PRIu32 "'", sizes[size]);
    if (ribbon)
        text_add_string(&commands, ", BLOOMFILTER_KIND => 'RIBBON'");
    text_add_string(&commands, width > 0 ? "}\nmajor_compact '" : "}; major_compact '");
    text_add_binary(&commands, petal_table_name(advice->table));
    text_add_string(&commands, "', '");
    text_add_binary(&commands, petal_family_name(family->family));
    text_add_string(&commands, "'");
    if (width > 0)
        wrap_add_example(text, text_slice(&commands), width);
    else
        text_add_slice(text, text_slice(&commands));
    text_free(&commands);
}

static void
show_recommendation(struct advice *advice, const struct family_model *family, size_t type,
                    size_t size)
{
    struct output *output = &advice->session->output;
    struct text text = {0};
    bool ribbon = types[type] == family->options.bloom && wants_ribbon(advice, family);
    bool keep = types[type] == family->options.bloom && size == SIZES && !ribbon;

    text_add_binary(&text, petal_family_name(family->family));
    text_add_format(&text, ": %" PRIu64 " gets, %" PRIu64 " of them of named columns; measured ",
                    family->gets, family->named_gets);
    text_add_format(&text, "%.3f data blocks a get; %.3f files", a_get(family, family->measured),
                    a_get(family, (double)family->considered));
    for (int skip = PETAL_SKIP_NONE + 1; skip < PETAL_SKIP_COUNT; skip++)
        if (family->skipped[skip] > 0)
            text_add_format(&text, ", %.3f skipped: %s",
                            a_get(family, (double)family->skipped[skip]),
                            petal_skip_text((enum petal_skip)skip));
    text_add_string(&text, "; ");
    if (keep)
        text_add_string(&text, "keep it as it is");
    else if (output->width > 0)
        text_add_string(&text, "this would help:");
    else
        add_commands(&text, advice, family, type, size, ribbon);
    output_message(output, text_slice(&text));
    if (!keep && output->width > 0) {
        text_clear(&text);
        add_commands(&text, advice, family, type, size, ribbon);
        text.size--; /* the end of the last line */
        output_plain_slice(output, text_slice(&text));
    }
    text_free(&text);
}

static void
show_advice(struct advice *advice, const struct sample *sample)
{
    struct output *output = &advice->session->output;

    if (format_is_on(&output->format))
        format_begin(&output->format,
                     "family attribute value now blocks_a_get bytes_a_get memory_bytes");
    else
        output_header(output, "FAMILY", "WHAT GETS WOULD READ");
    for (size_t i = 0; i < advice->count; i++) {
        struct family_model *family = &advice->families[i];
        size_t type = best_type(family);

        if (family->gets == 0 || family->file_count == 0)
            continue;
        show_choices(advice, family, type);
        if (types[type] == family->options.bloom && wants_ribbon(advice, family))
            show_kinds(advice, family, type);
    }
    output_plain(output, "%zu gets, %s", sample->count, sample->what);
    output_message(
        output,
        slice_of_string(
            "Assumed: index and filters are in the cache and data is not; files stay as many as "
            "they are; BLOCKSIZE under the filter that is advised; scans are not counted, larger "
            "blocks suit them"));
    for (size_t i = 0; i < advice->count; i++) {
        struct family_model *family = &advice->families[i];
        size_t type = best_type(family);

        if (family->gets > 0 && family->file_count > 0)
            show_recommendation(advice, family, type, best_size(advice, family, type));
    }
}

/* ---- The command ----------------------------------------------------------------------------- */

static enum shell_status
read_sample(struct session *session, petal_table *table, const struct value *options,
            struct sample *sample)
{
    const struct value *wanted = options != NULL ? value_hash_get(options, "SAMPLE") : NULL;
    const struct value *keys = options != NULL ? value_hash_get(options, "KEYS") : NULL;
    int64_t count;

    *sample = (struct sample){.count = 0};
    if (options == NULL) {
        sample_past(session, table, sample);
        if (sample->count == 0)
            return session_fail(session, SHELL_NOT_FOUND,
                                "No get of this table in this session; SAMPLE => n reads rows at "
                                "random");
        return SHELL_FINE;
    }
    if (keys != NULL)
        return sample_read(session, table, value_to_string(&session->arena, keys), sample);
    if (wanted == NULL || !value_to_integer(wanted, &count) || count < 1 || count > MOST_SAMPLED)
        return session_fail(session, SHELL_USAGE, "SAMPLE => n takes a number of rows from 1 to %d",
                            MOST_SAMPLED);
    return sample_draw(session, table, (uint64_t)count, sample);
}

static enum shell_status
advise(struct advice *advice, const struct sample *sample)
{
    petal_db *db = advice->session->db;
    petal_error error;
    enum shell_status status = take_files(advice);

    if (status == SHELL_FINE && (petal_receipt_new(db, &advice->asked, &error) != PETAL_OK ||
                                 petal_receipt_new(db, &advice->row, &error) != PETAL_OK))
        status = session_fail_petal(advice->session, &error);
    if (status == SHELL_FINE)
        status = take_sample(advice, sample);
    if (status == SHELL_FINE)
        show_advice(advice, sample);
    petal_receipt_free(advice->asked);
    petal_receipt_free(advice->row);
    for (size_t i = 0; i < advice->count; i++)
        free(advice->families[i].files);
    free(advice->families);
    free(advice->whole);
    return status;
}

COMMAND_FUNCTION(command_advise)
{
    struct advice advice = {.session = session};
    struct sample sample;
    enum shell_status status = session_enabled_table(session, &arguments[0], &advice.table);

    if (status != SHELL_FINE)
        return status;
    status = read_sample(session, advice.table, count > 1 ? &arguments[1] : NULL, &sample);
    if (status == SHELL_FINE)
        status = advise(&advice, &sample);
    sample_free(&sample);
    return status;
}
