package petal

/*
#include "call.h"

static enum petal_status
go_bulk_add(petal_bulk *bulk, petal_family *family, BYTES(row), BYTES(qualifier), BYTES(value),
            int64_t at, int type, bool has_ttl, int64_t ttl, petal_error *error)
{
    petal_cell cell = {.row = SLICE(row), .qualifier = SLICE(qualifier), .value = SLICE(value),
        .timestamp = at, .type = (enum petal_cell_type)type, .has_ttl = has_ttl, .ttl_ms = ttl};
    return petal_bulk_add(bulk, family, &cell, error);
}
*/
import "C"

import (
	"runtime"
	"sync"
)

// BulkOptions of a bulk load.
type BulkOptions struct {
	Below     bool   // its cells count as written before everything in the table
	FileBytes uint64 // end a store file after so many; 0: as compactions do
}

// Bulk is sorted cells that become store files directly.
type Bulk struct {
	db    *DB
	mutex sync.Mutex
	bulk  *C.petal_bulk
}

// Bulk begins a bulk load, to be closed before the database; nil options are all defaults.
func (t *Table) Bulk(options *BulkOptions) (*Bulk, error) {
	given := C.petal_bulk_options{size: C.sizeof_petal_bulk_options}
	if options != nil {
		given.file_bytes = C.uint64_t(options.FileBytes)
		if options.Below {
			given.place = C.PETAL_BULK_BELOW
		}
	}
	var bulk *C.petal_bulk
	err := t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_bulk_begin(t.table, &given, &bulk, e)
	})
	if err != nil {
		return nil, err
	}
	b := &Bulk{db: t.db, bulk: bulk}
	runtime.SetFinalizer(b, func(b *Bulk) { b.Close() })
	return b, nil
}

func (b *Bulk) do(f func(*C.petal_error) C.enum_petal_status) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.bulk == nil {
		return invalid("the bulk load is closed")
	}
	return b.db.do(f)
}

// Add adds a cell to the family; the cell's Family does not count. The cells of a family come by
// row, qualifier, and timestamp from high to low. After a failure the bulk can only be closed.
func (b *Bulk) Add(f *Family, cell Cell) error {
	if f.db != b.db {
		return invalid("the family is of another database")
	}
	r, rs := bytes(cell.Row)
	q, qs := bytes(cell.Qualifier)
	v, vs := bytes(cell.Value)
	return b.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_bulk_add(b.bulk, f.family, r, rs, q, qs, v, vs, C.int64_t(cell.Timestamp),
			C.int(cell.Type), cell.TTL != 0, life(cell.TTL), e)
	})
}

// Commit adds all cells to the table, or none. Afterwards the bulk can only be closed.
func (b *Bulk) Commit() error {
	return b.do(func(e *C.petal_error) C.enum_petal_status { return C.petal_bulk_commit(b.bulk, e) })
}

// Close frees the bulk; without a Commit nothing of it remains.
func (b *Bulk) Close() error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	C.petal_bulk_free(b.bulk)
	b.bulk = nil
	runtime.SetFinalizer(b, nil)
	return nil
}
