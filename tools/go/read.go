package petal

/*
#include "call.h"

// A result, and its cells one after the other, so that Go reads them without a call for each.
struct go_result {
    petal_result *result;
    petal_cell *cells;
    size_t count, room;
};
static enum petal_status
go_cells(struct go_result *to)
{
    size_t count = petal_result_count(to->result);
    if (count > to->room) {
        petal_cell *more = realloc(to->cells, count * sizeof *more);
        if (!more)
            return PETAL_NO_MEMORY;
        to->cells = more;
        to->room = count;
    }
    for (size_t i = 0; i < count; i++)
        to->cells[i] = *petal_result_cell(to->result, i);
    to->count = count;
    return PETAL_OK;
}
static enum petal_status
go_get(petal_table *table, petal_transaction *transaction, BYTES(row),
       const petal_read_options *options, struct go_result *to, petal_error *error)
{
    enum petal_status status =
        transaction
            ? petal_transaction_get(transaction, table, SLICE(row), options, to->result, error)
            : petal_get(table, SLICE(row), options, to->result, error);
    to->count = 0;
    return status ? status : go_cells(to);
}
static enum petal_status
go_multi_get(petal_table *table, petal_transaction *transaction, const petal_slice *rows,
             size_t count, const petal_read_options *options, struct go_result **to,
             petal_result **results, petal_error *error)
{
    for (size_t i = 0; i < count; i++)
        results[i] = to[i]->result;
    enum petal_status status =
        transaction ? petal_transaction_multi_get(transaction, table, rows, count, options,
                                                  results, error)
                    : petal_multi_get(table, rows, count, options, results, error);
    for (size_t i = 0; !status && i < count; i++)
        status = go_cells(to[i]);
    return status;
}
static enum petal_status
go_filter(petal_db *db, BYTES(text), petal_filter **filter, petal_error *error)
{
    return petal_filter_parse(db, SLICE(text), filter, error);
}
*/
import "C"

import (
	"context"
	"math"
	"time"
	"unsafe"
)

// Cell is a stored value with its place: row, column and version.
type Cell struct {
	Row, Qualifier, Value []byte
	Family                string
	Timestamp             int64
	Type                  CellType
	TTL                   time.Duration // the cell's own; 0: none
}

// The cells' bytes, copied once into memory that the cells share.
func copied(cells []C.petal_cell) []Cell {
	total := 0
	for i := range cells {
		c := &cells[i]
		total += int(c.row.size + c.qualifier.size + c.value.size)
	}
	memory := make([]byte, 0, total)
	take := func(s C.petal_slice) []byte {
		begin := len(memory)
		memory = append(memory, unsafe.Slice((*byte)(s.data), int(s.size))...)
		return memory[begin:len(memory):len(memory)]
	}
	family := ""
	out := make([]Cell, len(cells))
	for i := range cells {
		c := &cells[i]
		if name := unsafe.Slice((*byte)(c.family.data), int(c.family.size)); family != string(name) {
			family = string(name)
		}
		ttl := time.Duration(0)
		if c.has_ttl {
			ttl = time.Duration(c.ttl_ms) * time.Millisecond
		}
		out[i] = Cell{TTL: ttl, Row: take(c.row), Qualifier: take(c.qualifier), Value: take(c.value),
			Family: family, Timestamp: int64(c.timestamp), Type: CellType(c._type)}
	}
	return out
}

type result struct{ c *C.struct_go_result }

func (r *result) free() {
	C.petal_result_free(r.c.result)
	C.free(unsafe.Pointer(r.c.cells))
	C.free(unsafe.Pointer(r.c))
}

// result takes a spare result or makes one; within DB.do.
func (db *DB) result(e *C.petal_error) (*result, C.enum_petal_status) {
	db.spare.Lock()
	defer db.spare.Unlock()
	if n := len(db.spare.results); n > 0 {
		r := db.spare.results[n-1]
		db.spare.results = db.spare.results[:n-1]
		return r, C.PETAL_OK
	}
	var handle *C.petal_result
	status := C.petal_result_new(db.db, &handle, e)
	if status != C.PETAL_OK {
		return nil, status
	}
	c := (*C.struct_go_result)(C.calloc(1, C.size_t(unsafe.Sizeof(C.struct_go_result{}))))
	if c == nil {
		C.petal_result_free(handle)
		return nil, C.PETAL_NO_MEMORY
	}
	c.result = handle
	return &result{c}, C.PETAL_OK
}

func (db *DB) giveBack(r *result) {
	db.spare.Lock()
	defer db.spare.Unlock()
	if len(db.spare.results) < 16 {
		db.spare.results = append(db.spare.results, r)
	} else {
		r.free()
	}
}

// Column is a column that a read names.
type Column struct {
	Family    *Family
	Qualifier []byte // nil: the whole family
}

// ReadOptions narrow a read; petal_read_options says more of each.
type ReadOptions struct {
	Columns            []Column  // none: all families
	Versions           int32     // of each column; 0: 1
	Snapshot           *Snapshot // nil: as of now
	TimeMin, TimeLimit int64     // TimeMin <= timestamp < TimeLimit; 0 as the limit: none
	Filter             string    // in HBase's filter language; "": none
	CellLimit          uint64    // of each family in each row; 0: none
	CellOffset         uint64    // skip so many of them first
	KeepOutOfCache     bool
}

// AllVersions as ReadOptions.Versions asks for all.
const AllVersions int32 = C.PETAL_ALL_VERSIONS

// columns are those of the options in C's memory, nil if there are none.
func (o *ReadOptions) columns() (*memory, error) {
	if len(o.Columns) == 0 {
		return nil, nil
	}
	names := make([][]byte, len(o.Columns))
	for i := range names {
		names[i] = o.Columns[i].Qualifier
	}
	m, err := room(uintptr(len(names))*unsafe.Sizeof(C.petal_column{}), names...)
	if err != nil {
		return nil, err
	}
	list := unsafe.Slice((*C.petal_column)(m.take(uintptr(len(names))*unsafe.Sizeof(C.petal_column{}))), len(names))
	for i, c := range o.Columns {
		list[i].family, list[i].whole_family = c.Family.family, c.Qualifier == nil
		list[i].qualifier = m.slice(c.Qualifier)
	}
	return m, nil
}

// timeRange is TimeMin and TimeLimit for C.
func timeRange(least, limit int64) (C.bool, C.int64_t, C.int64_t) {
	if limit == 0 && least != 0 {
		limit = math.MaxInt64
	}
	return limit != 0, C.int64_t(least), C.int64_t(limit)
}

// read runs f in the open database with the options for C, and the transaction, or NULL.
func (o *ReadOptions) read(db *DB, tx *Transaction, deadline C.uint32_t,
	f func(*C.petal_read_options, *C.petal_transaction, *C.petal_error) C.enum_petal_status) error {
	for _, c := range o.Columns {
		if c.Family == nil || c.Family.db != db {
			return invalid("a column has no family, or one of another database")
		}
	}
	columns, err := o.columns()
	if err != nil {
		return err
	}
	given := C.petal_read_options{
		size: C.sizeof_petal_read_options, column_count: C.size_t(len(o.Columns)),
		versions: C.int32_t(o.Versions), deadline_ms: deadline,
		keep_out_of_cache: C.bool(o.KeepOutOfCache), family_cell_limit: C.uint64_t(o.CellLimit),
		family_cell_offset: C.uint64_t(o.CellOffset),
	}
	given.has_time_range, given.time_min, given.time_limit = timeRange(o.TimeMin, o.TimeLimit)
	if columns != nil {
		defer columns.free()
		given.columns = (*C.petal_column)(columns.start)
	}
	return db.do(func(e *C.petal_error) (status C.enum_petal_status) {
		if given.snapshot, status = o.Snapshot.lock(db, e); status != C.PETAL_OK {
			return status
		}
		defer o.Snapshot.unlock()
		if o.Filter != "" {
			text, size := bytes([]byte(o.Filter))
			var filter *C.petal_filter
			if status = C.go_filter(db.db, text, size, &filter, e); status != C.PETAL_OK {
				return status
			}
			defer C.petal_filter_free(filter) // a cursor keeps it
			given.filter = filter
		}
		transaction, status := tx.lock(db, e)
		if status != C.PETAL_OK {
			return status
		}
		defer tx.unlock()
		return f(&given, transaction, e)
	})
}

// Get reads a row; nil options: the newest version of all columns. A row without cells is empty.
// A context with a deadline costs the time of a short scan (petal_read_options.deadline_ms).
func (t *Table) Get(ctx context.Context, row []byte, options *ReadOptions) ([]Cell, error) {
	return t.get(ctx, nil, row, options)
}

func (t *Table) get(ctx context.Context, tx *Transaction, row []byte, options *ReadOptions) ([]Cell, error) {
	if options == nil {
		options = &ReadOptions{}
	}
	deadline, err := milliseconds(ctx)
	if err != nil {
		return nil, err
	}
	r, rs := bytes(row)
	var cells []Cell
	err = options.read(t.db, tx, deadline, func(o *C.petal_read_options, transaction *C.petal_transaction,
		e *C.petal_error) C.enum_petal_status {
		result, status := t.db.result(e)
		if status != C.PETAL_OK {
			return status
		}
		defer t.db.giveBack(result)
		status = C.go_get(t.table, transaction, r, rs, o, result.c, e)
		if status == C.PETAL_OK {
			cells = copied(unsafe.Slice(result.c.cells, int(result.c.count)))
		}
		return status
	})
	return cells, err
}

// MultiGet reads several rows as of one moment: the cells of each, in the order of `rows`.
func (t *Table) MultiGet(ctx context.Context, rows [][]byte, options *ReadOptions) ([][]Cell, error) {
	return t.multiGet(ctx, nil, rows, options)
}

func (t *Table) multiGet(ctx context.Context, tx *Transaction, rows [][]byte, options *ReadOptions) ([][]Cell, error) {
	if options == nil {
		options = &ReadOptions{}
	}
	deadline, err := milliseconds(ctx)
	if err != nil {
		return nil, err
	}
	m, err := room(uintptr(len(rows))*(sliceSize+2*unsafe.Sizeof(uintptr(0))), rows...)
	if err != nil {
		return nil, err
	}
	defer m.free()
	pointers := uintptr(len(rows)) * unsafe.Sizeof(uintptr(0))
	structs, results := (**C.struct_go_result)(m.take(pointers)), (**C.petal_result)(m.take(pointers))
	names := m.slices(rows)
	found := make([][]Cell, len(rows))
	err = options.read(t.db, tx, deadline, func(o *C.petal_read_options, transaction *C.petal_transaction,
		e *C.petal_error) C.enum_petal_status {
		to := unsafe.Slice(structs, len(rows))
		for i := range to {
			result, status := t.db.result(e)
			if status != C.PETAL_OK {
				return status
			}
			defer t.db.giveBack(result)
			to[i] = result.c
		}
		status := C.go_multi_get(t.table, transaction, names, C.size_t(len(rows)), o, structs, results, e)
		for i := range to {
			if status == C.PETAL_OK {
				found[i] = copied(unsafe.Slice(to[i].cells, int(to[i].count)))
			}
		}
		return status
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
