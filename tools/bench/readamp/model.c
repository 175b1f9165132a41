/* model.c -- see tools/bench/readamp/model.h. */
#include "tools/bench/readamp/model.h"

#include <math.h>

/* HBase, asked for a rate of 0.01, lets 0.0085 and less of each file pass: it halves the chunk that a
 * filter ends with only while the keys still fit at the rate, so that chunk has up to twice the bits
 * that it needs. */
static const struct {
    const char *name, *text;
    enum readamp_answer answer;
    double hbase[3]; /* blocks it was counted to read: NONE, ROW, ROWCOL; 0: not known */
} lookups[READAMP_LOOKUPS] = {
    {"absent-column", "a column of a row not there", READAMP_NOWHERE, {6, 0.051, 0.049}},
    {"absent-row", "a row that is not there", READAMP_NOWHERE, {6, 0.051, 6}},
    {"column-in-none", "a column that a row lacks", READAMP_NOWHERE, {6.008, 6.008, 0.047}},
    {"newest", "a column that all files have", READAMP_IN_MORE_FILES, {1, 1, 1.017}},
    {"row-in-oldest", "a row that one file has", READAMP_IN_ONE_FILE, {6, 1.051, 1.042}},
    {"column-in-oldest", "a column that one file has", READAMP_IN_ONE_FILE, {6, 6, 1.048}},
    {"whole-row", "a whole row spread over files", READAMP_IN_MORE_FILES, {6.021, 6.021, 6.021}},
    {"columns-200", "200 columns spread over files", READAMP_IN_MORE_FILES, {697, 697, 200.2}},
    {"scan-column", "scan of 10 rows for a column", READAMP_IN_MORE_FILES, {180, 180, 130}},
    {"scan-short", "scan of 10 rows", READAMP_IN_MORE_FILES, {0}},
};

enum readamp_answer
readamp_lookup_answer(enum readamp_lookup lookup)
{
    return lookups[lookup].answer;
}

const char *
readamp_lookup_name(enum readamp_lookup lookup)
{
    return lookups[lookup].name;
}

const char *
readamp_lookup_text(enum readamp_lookup lookup)
{
    return lookups[lookup].text;
}

double
readamp_hbase(enum readamp_lookup lookup, enum petal_bloom_type filter, unsigned files, double rate)
{
    const double *hbase = lookups[lookup].hbase;
    double counted = filter == PETAL_BLOOM_NONE     ? hbase[0]
                     : filter == PETAL_BLOOM_ROW    ? hbase[1]
                     : filter == PETAL_BLOOM_ROWCOL ? hbase[2]
                                                    : 0;

    if (files != 6 || (filter != PETAL_BLOOM_NONE && fabs(rate - 0.01) > 1e-9) || counted <= 0)
        return -1;
    return counted;
}

/* ---- what a read does in one file ---- */

struct visit {
    double present, absent; /* places sought in the file: what it has, what it has not */
    double besides;         /* blocks read, whatever the filter says */
    bool can_tell;          /* the filter can rule out what is absent */
    bool asks;              /* the filter is asked */
    double times;           /* rows of a scan */
};

/* How many of the 200 columns lie in the file that is the `age`-th newest. */
static double
columns_of_file(unsigned files, unsigned age)
{
    return (READAMP_COLUMNS - 1 - age) / files + 1;
}

static bool
row_is_there(enum readamp_lookup lookup, bool oldest)
{
    return lookup != READAMP_ABSENT_COLUMN && lookup != READAMP_ABSENT_ROW &&
           (lookup != READAMP_ROW_IN_OLDEST || oldest);
}

static bool
answer_is_there(enum readamp_lookup lookup, bool oldest)
{
    return lookup == READAMP_NEWEST || lookup == READAMP_WHOLE_ROW ||
           (lookup != READAMP_COLUMN_IN_NONE && row_is_there(lookup, oldest) && oldest);
}

/* What a read does in the `age`-th newest file, if it comes to it. */
static struct visit
visit_of(const struct readamp_store *store, const struct readamp_reads *reads, unsigned age)
{
    enum readamp_lookup lookup = reads->lookup;
    bool oldest = age + 1 == store->files;
    bool has_columns =
        store->filter == PETAL_BLOOM_ROWCOL || store->filter == PETAL_BLOOM_ROW_ROWCOL;
    bool has_rows = store->filter == PETAL_BLOOM_ROW || store->filter == PETAL_BLOOM_ROW_ROWCOL;
    bool asks_columns =
        lookup != READAMP_ABSENT_ROW && lookup != READAMP_WHOLE_ROW && lookup != READAMP_SCAN_SHORT;
    bool by_column = asks_columns && has_columns;
    struct visit visit = {.times = 1};

    visit.present = answer_is_there(lookup, oldest);
    visit.absent = 1 - visit.present;
    visit.asks =
        by_column || (has_rows && lookup != READAMP_SCAN_COLUMN && lookup != READAMP_SCAN_SHORT);
    visit.can_tell = by_column || (visit.asks && !row_is_there(lookup, oldest));
    if (lookup == READAMP_COLUMNS_200) { /* those that newer files had are not asked again */
        double asked = READAMP_COLUMNS;

        for (unsigned newer = 0; newer < age; newer++)
            asked -= columns_of_file(store->files, newer);
        visit.present = columns_of_file(store->files, age);
        visit.absent = asked - visit.present;
    }
    if (lookup == READAMP_SCAN_COLUMN) {
        visit.times = READAMP_SCAN_ROWS;
        visit.besides = 1;
    }
    return visit;
}

/* ---- sums ---- */

/* How much two files with common keys err together: see the header, 2. */
static double
correlation(double p, double common)
{
    double b = 1 - exp2(-common), d = 1 - exp2(common - 1);
    double both = pow(b + (1 - b) * d * d, -log2(p));

    return both <= p * p ? 0 : (both - p * p) / (p - p * p);
}

struct sums {
    double chance, chance_root; /* variances of files, and the sum of their roots */
    double made, made_root;     /* the same, of what filters were made */
    double p, weight;           /* for the mean of p */
};

/* Of the sum over files. */
static double
standard_error(const struct sums *sums, const struct readamp_store *store,
               const struct readamp_reads *reads)
{
    double p = sums->weight > 0 ? sums->p / sums->weight : 0;
    double together = p > 0 ? correlation(p, store->common) : 0;
    double chance =
        sums->chance + together * (sums->chance_root * sums->chance_root - sums->chance);
    double made = sums->made + store->common * (sums->made_root * sums->made_root - sums->made);

    double rounded = 0.04 / sqrt(3) * sums->p;

    return sqrt(chance * (1 / reads->gets + 1 / reads->population) + made + rounded * rounded);
}

void
readamp_expect(const struct readamp_store *store, const struct readamp_reads *reads,
               struct readamp_expected *expected)
{
    struct sums sums = {0};

    *expected = (struct readamp_expected){.false_rate = -1};
    /* Rows lie in blocks as they fall: a scan crosses from one to the next as often as there are
     * ends of blocks in its cells. The first cell after its last row is looked at, too. */
    if (reads->lookup == READAMP_SCAN_SHORT) {
        double crossings = READAMP_SCAN_ROWS * store->blocks_per_row + store->blocks_per_cell;

        expected->data = store->files + crossings;
        expected->grain = 1 / reads->gets + 1 / reads->population;
        expected->standard_error = sqrt(crossings * expected->grain);
        return;
    }
    for (unsigned age = 0; age < store->files; age++) {
        struct visit visit = visit_of(store, reads, age);
        double questions, chance, made;

        if (reads->lookup == READAMP_NEWEST && age > 0) {
            expected->found_newer++; /* the get is over before it comes to that file */
            continue;
        }
        expected->data += visit.times * (visit.present + visit.absent + visit.besides);
        if (visit.asks)
            expected->true_positives +=
                visit.times * (visit.can_tell ? visit.present : visit.present + visit.absent);
        if (!visit.can_tell || visit.absent == 0)
            continue;
        expected->data -= visit.times * visit.absent * (1 - store->rate[age]);
        expected->negatives += visit.times * visit.absent;
        questions = visit.times * visit.absent;
        chance = questions * store->rate[age] * (1 - store->rate[age]);
        made = questions * store->rate[age] * 1.1 * log(store->rate[age]) / sqrt(store->keys[age]);
        sums.chance += chance;
        sums.chance_root += sqrt(chance);
        sums.made += made * made;
        sums.made_root += fabs(made);
        sums.p += questions * store->rate[age];
        sums.weight += questions;
    }
    if (sums.weight > 0) {
        expected->standard_error = standard_error(&sums, store, reads);
        expected->grain = 1 / reads->gets + 1 / reads->population;
        expected->false_rate = sums.p / sums.weight;
        expected->false_rate_error = expected->standard_error / sums.weight;
        expected->false_rate_grain = expected->grain / sums.weight;
    }
}

bool
readamp_is_outside(double measured, double expected, double standard_error, double grain)
{
    double far_off =
        READAMP_FAR_OFF * standard_error + (READAMP_FAR_OFF * READAMP_FAR_OFF - 1) / 6.0 * grain;

    return fabs(measured - expected) > far_off + 1e-9 * expected;
}
