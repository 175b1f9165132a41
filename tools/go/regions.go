package petal

/*
#include "call.h"

// Regions, with copies of their rows in one block of memory: start and end of each, in turn.
struct go_regions {
    petal_region_info *regions;
    size_t count;
    struct go_rows {
        char *bytes;
        size_t size;
    } rows;
    bool failed;
};

static bool
go_add_row(struct go_rows *to, petal_slice row)
{
    char *more = realloc(to->bytes, to->size + row.size + 1);
    if (!more)
        return false;
    to->bytes = more;
    if (row.size)
        memcpy(more + to->size, row.data, row.size);
    to->size += row.size;
    return true;
}
static bool
go_visit_region(void *argument, const petal_region_info *info)
{
    struct go_regions *to = argument;
    petal_region_info *more = realloc(to->regions, (to->count + 1) * sizeof *more);
    if (more)
        to->regions = more;
    to->failed = !more || !go_add_row(&to->rows, info->start) || !go_add_row(&to->rows, info->end);
    if (to->failed)
        return false;
    more[to->count++] = *info;
    return true;
}
static enum petal_status
go_regions(petal_table *table, struct go_regions *to, petal_error *error)
{
    enum petal_status status = petal_table_regions(table, go_visit_region, to, error);
    return status ? status : to->failed ? PETAL_NO_MEMORY : PETAL_OK;
}
static enum petal_status
go_split(petal_table *table, BYTES(row), uint32_t region, petal_error *error)
{
    return petal_table_split(table, SLICE(row), region, error);
}
*/
import "C"

import "unsafe"

// Region is a range of a table's rows, with store files and memtables of its own.
type Region struct {
	ID            uint32 // never used again in the database
	Start         []byte // its first row; empty: the first of all
	End           []byte // the first row after it; empty: there is none
	Files         uint64 // store files with rows of it
	FileBytes     uint64 // about, of these those that are of its rows
	MemtableBytes uint64
	Cells         uint64 // about
}

// Regions returns the table's regions in the order of rows. Scans of their ranges, side by side and
// of one snapshot, give the table's rows, each once.
func (t *Table) Regions() ([]Region, error) {
	var found C.struct_go_regions
	err := t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_regions(t.table, &found, e)
	})
	defer C.free(unsafe.Pointer(found.regions))
	defer C.free(unsafe.Pointer(found.rows.bytes))
	if err != nil {
		return nil, err
	}
	rows := C.GoBytes(unsafe.Pointer(found.rows.bytes), C.int(found.rows.size))
	take := func(size C.size_t) []byte {
		row := rows[:size:size]
		rows = rows[size:]
		return row
	}
	regions := make([]Region, 0, int(found.count))
	for _, r := range unsafe.Slice(found.regions, int(found.count)) {
		regions = append(regions, Region{ID: uint32(r.id), Start: take(r.start.size), End: take(r.end.size),
			Files: uint64(r.files), FileBytes: uint64(r.file_bytes),
			MemtableBytes: uint64(r.memtable_bytes), Cells: uint64(r.cells)})
	}
	return regions, nil
}

// Split splits the region that has the row before it. ErrInvalid: a region begins with the row.
func (t *Table) Split(row []byte) error {
	if len(row) == 0 {
		return invalid("a region is split before a row, which is not empty")
	}
	data, size := bytes(row)
	return t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_split(t.table, data, size, 0, e)
	})
}

// SplitRegion splits the region of that ID, after a flush, in the middle of its store files; 0: each
// that has a middle. ErrInvalid: it has none.
func (t *Table) SplitRegion(region uint32) error {
	return t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_split(t.table, nil, 0, C.uint32_t(region), e)
	})
}

// Merge merges two regions that are neighbours into one, which keeps the ID of the first.
func (t *Table) Merge(region, other uint32) error {
	return t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_table_merge(t.table, C.uint32_t(region), C.uint32_t(other), e)
	})
}
