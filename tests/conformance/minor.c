/* minor.c -- see tests/conformance/minor.h. */
#include "tests/conformance/minor.h"

#include "engine/compact/compactor.h"
#include "engine/compact/runs.h"
#include "engine/state/db.h"
#include "engine/state/read_point.h"

static size_t
count_runs(petal_family *family)
{
    struct read_point point;
    const struct region_list *list;
    size_t count;

    read_begin(family->table->db, &point);
    list = view_regions(point.view, family);
    count = list == NULL ? 0 : store_runs_count(region_at(list, 0)->view);
    read_end(family->table->db, &point);
    return count;
}

enum petal_status
minor_compaction(petal_table *table, size_t files, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < petal_table_family_count(table); i++) {
        petal_family *family = petal_table_family_at(table, i);
        size_t runs = count_runs(family), count = files < runs ? files : runs;

        if (count > 0)
            status = compactor_compact_runs(family, runs - count, count, error);
    }
    return status;
}
