/*
 * database.h -- the soak's database: its options, its two tables, and looks at their rows.
 *
 * Threads: a soak_database may be used by several threads; a soak_reader belongs to one.
 */
#ifndef PETAL_TESTS_SOAK_DATABASE_H
#define PETAL_TESTS_SOAK_DATABASE_H

#include "tests/soak/model.h"

#define SOAK_MEMORY_BYTES ((size_t)4 << 20)
#define SOAK_OPEN_FILES   16

struct soak_database {
    struct soak_shared *shared;
    petal_db *db;
    petal_table *tables[SOAK_TABLES];
    petal_family *families[SOAK_TABLES][SOAK_FAMILIES];
};

/* Memory of one thread that reads. */
struct soak_reader {
    struct soak_database *database;
    petal_result *results[SOAK_TABLES];
    struct soak_cells *cells;
};

petal_slice soak_text(const char *text);
int64_t soak_clock_ms(void);
/* ROOT/name */
void soak_path(const struct soak_shared *shared, char *path, size_t bytes, const char *name);

/* Open `directory`, make the tables if there are none. Ends the process when that fails. */
void soak_open(struct soak_database *database, struct soak_shared *shared, const char *directory,
               bool read_only);
/* The handles of the tables; after a restore they are other ones. */
void soak_attach(struct soak_database *database);
void soak_close(struct soak_database *database);

/* Attributes of the families that change nothing in what readers see, by chance; `spare`: one
 * family more. */
#define SOAK_MOST_FAMILIES (SOAK_FAMILIES + 1)
size_t soak_family_options(petal_family_options families[SOAK_MOST_FAMILIES], uint64_t chance);

void soak_reader_init(struct soak_reader *reader, struct soak_database *database);
void soak_reader_free(struct soak_reader *reader);

/* "" or what is wrong: the cells of a row against those expected. */
const char *soak_compare(const struct soak_cells *cells, const petal_result *result);

/*
 * Read a WHOLE slot in both tables, as of one moment, and check that they agree and that the sum is
 * right. Returns the generation found, 0 when there is nothing. Ends the process when something is
 * wrong.
 */
uint64_t soak_check_whole(struct soak_reader *reader, uint32_t slot, petal_snapshot *snapshot);

/* The same of "first" alone: the row has its own sum. */
uint64_t soak_check_first(struct soak_reader *reader, uint32_t slot);

#endif
