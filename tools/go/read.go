package petal

/*
#include <petal.h>
#include <stdlib.h>

#define BYTES(name) const char *name, size_t name##_size
#define SLICE(name) (petal_slice){name, name##_size}

// A result, and its cells one after the other, so that Go reads them without a call for each.
struct go_result {
    petal_result *result;
    petal_cell *cells;
    size_t count, room;
};
static enum petal_status go_get(petal_table *table, petal_family *family, BYTES(row),
                                BYTES(qualifier), bool whole, int32_t versions,
                                const petal_snapshot *snapshot, uint32_t deadline,
                                struct go_result *to, petal_error *error)
{
    petal_column column = {family, SLICE(qualifier), whole};
    petal_read_options options = {.size = sizeof options, .columns = &column,
        .column_count = family ? 1 : 0, .versions = versions, .snapshot = snapshot,
        .deadline_ms = deadline};
    to->count = 0;
    enum petal_status status = petal_get(table, SLICE(row), &options, to->result, error);
    if (status)
        return status;
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
static enum petal_status go_scan(petal_table *table, petal_family *family, BYTES(start),
                                 BYTES(stop), BYTES(prefix), BYTES(filter), petal_db *db,
                                 int32_t versions, uint64_t rows, bool reversed, bool raw,
                                 const petal_snapshot *snapshot, uint32_t step,
                                 petal_cursor **cursor, petal_error *error)
{
    petal_column column = {family, {NULL, 0}, true};
    petal_scan_options options = {.size = sizeof options, .start_row = SLICE(start),
        .stop_row = SLICE(stop), .prefix = SLICE(prefix), .row_limit = rows, .reversed = reversed,
        .raw = raw, .read = {.size = sizeof options.read, .columns = &column,
        .column_count = family ? 1 : 0, .versions = versions, .snapshot = snapshot,
        .deadline_ms = step}};
    petal_filter *parsed = NULL;
    if (filter_size) {
        enum petal_status status = petal_filter_parse(db, SLICE(filter), &parsed, error);
        if (status)
            return status;
        options.read.filter = parsed;
    }
    enum petal_status status = petal_cursor_open(table, &options, cursor, error);
    petal_filter_free(parsed); // the cursor keeps it
    return status;
}
*/
import "C"

import (
	"context"
	"runtime"
	"sync"
	"unsafe"
)

// Cell is a stored value with its place: row, column and version.
type Cell struct {
	Row, Qualifier, Value []byte
	Family                string
	Timestamp             int64
	Type                  CellType
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
		out[i] = Cell{Row: take(c.row), Qualifier: take(c.qualifier), Value: take(c.value),
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

// ReadOptions narrow a read.
type ReadOptions struct {
	Family    *Family   // nil: all families
	Qualifier []byte    // of Family, for Get; nil: the whole family
	Versions  int32     // of each column; 0: 1
	Snapshot  *Snapshot // nil: as of now
}

// AllVersions as ReadOptions.Versions asks for all.
const AllVersions int32 = C.PETAL_ALL_VERSIONS

// hold keeps the snapshot open and returns what ends that.
func (s *Snapshot) hold(db *DB) (*C.petal_snapshot, func(), error) {
	if s == nil {
		return nil, func() {}, nil
	}
	s.mutex.RLock()
	if s.handle == nil || s.db != db {
		s.mutex.RUnlock()
		return nil, nil, invalid("the snapshot is closed, or of another database")
	}
	return s.handle, s.mutex.RUnlock, nil
}

func (o *ReadOptions) family(db *DB) (*C.petal_family, error) {
	if o.Family == nil {
		return nil, nil
	}
	if o.Family.db != db {
		return nil, invalid("the family is of another database")
	}
	return o.Family.family, nil
}

// Get reads a row; nil options: the newest version of all columns. A row without cells is empty.
// A context with a deadline costs the time of a short scan (petal_read_options.deadline_ms).
func (t *Table) Get(ctx context.Context, row []byte, options *ReadOptions) ([]Cell, error) {
	if options == nil {
		options = &ReadOptions{}
	}
	deadline, err := milliseconds(ctx)
	if err != nil {
		return nil, err
	}
	family, err := options.family(t.db)
	if err != nil {
		return nil, err
	}
	snapshot, done, err := options.Snapshot.hold(t.db)
	if err != nil {
		return nil, err
	}
	defer done()
	r, rs := bytes(row)
	q, qs := bytes(options.Qualifier)
	var cells []Cell
	err = t.db.do(func(e *C.petal_error) C.enum_petal_status {
		result, status := t.db.result(e)
		if status != C.PETAL_OK {
			return status
		}
		defer t.db.giveBack(result)
		status = C.go_get(t.table, family, r, rs, q, qs, C.bool(options.Qualifier == nil),
			C.int32_t(options.Versions), snapshot, deadline, result.c, e)
		if status == C.PETAL_OK {
			cells = copied(unsafe.Slice(result.c.cells, int(result.c.count)))
		}
		return status
	})
	return cells, err
}

// ScanOptions narrow a scan. Rows are Start <= row < Stop, or those with the Prefix.
type ScanOptions struct {
	ReadOptions
	Start, Stop, Prefix []byte
	Filter              string // in HBase's filter language; "": none
	Rows                uint64 // at most; 0: no limit
	Reversed            bool   // Start is then the high end
	Raw                 bool   // also markers and deleted cells
}

// A step of a scan whose context can be cancelled takes so many milliseconds until that is looked
// at; the scan then continues where it was.
const stepMilliseconds = 20

const cellsAtOnce = 128

// Scan is an iterator over the cells of a table as they were when it was opened:
//
//	for scan.Next() { use(scan.Cell()) }
//	err := scan.Err()
type Scan struct {
	db     *DB
	ctx    context.Context
	mutex  sync.Mutex
	cursor *C.petal_cursor
	cells  []Cell
	at     int
	err    error
	ended  bool
}

// Scan opens a scan, to be closed before the database; nil options: all cells. The context ends it.
func (t *Table) Scan(ctx context.Context, options *ScanOptions) (*Scan, error) {
	if options == nil {
		options = &ScanOptions{}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if options.Qualifier != nil {
		return nil, invalid("a scan takes a family, and a qualifier in its filter")
	}
	family, err := options.family(t.db)
	if err != nil {
		return nil, err
	}
	snapshot, done, err := options.Snapshot.hold(t.db)
	if err != nil {
		return nil, err
	}
	defer done()
	start, startSize := bytes(options.Start)
	stop, stopSize := bytes(options.Stop)
	prefix, prefixSize := bytes(options.Prefix)
	filter, filterSize := bytes([]byte(options.Filter))
	step := C.uint32_t(0)
	if ctx.Done() != nil {
		step = stepMilliseconds
	}
	var cursor *C.petal_cursor
	err = t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_scan(t.table, family, start, startSize, stop, stopSize, prefix, prefixSize,
			filter, filterSize, t.db.db, C.int32_t(options.Versions), C.uint64_t(options.Rows),
			C.bool(options.Reversed), C.bool(options.Raw), snapshot, step, &cursor, e)
	})
	if err != nil {
		return nil, err
	}
	s := &Scan{db: t.db, ctx: ctx, cursor: cursor, at: -1}
	runtime.SetFinalizer(s, func(s *Scan) { s.Close() })
	return s, nil
}

// Next steps to the next cell; false: at the end, after Close, or after a failure, which Err tells.
func (s *Scan) Next() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.at++
	if s.at < len(s.cells) {
		return true
	}
	s.cells, s.at = nil, -1
	for s.err == nil && !s.ended {
		if s.cursor == nil {
			s.err = invalid("the scan is closed")
		} else if s.err = s.ctx.Err(); s.err == nil {
			err := s.run()
			if e, ok := err.(*Error); ok && e.Status == ErrTimeout {
				continue
			}
			s.err = err
			if len(s.cells) > 0 {
				s.at = 0
				return true
			}
			s.ended = true
		}
	}
	return false
}

func (s *Scan) run() error {
	var cells *C.petal_cell
	var count C.size_t
	return s.db.do(func(e *C.petal_error) C.enum_petal_status {
		status := C.petal_cursor_next_many(s.cursor, cellsAtOnce, &cells, &count, e)
		if status == C.PETAL_OK {
			s.cells = copied(unsafe.Slice(cells, int(count)))
		}
		return status
	})
}

// Cell returns the current cell, whose bytes stay valid; empty before the first Next and at the end.
func (s *Scan) Cell() Cell {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.at < 0 || s.at >= len(s.cells) {
		return Cell{}
	}
	return s.cells[s.at]
}

// Err returns why Next was false, nil at the end.
func (s *Scan) Err() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.err
}

// Close ends the scan.
func (s *Scan) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	C.petal_cursor_close(s.cursor)
	s.cursor, s.cells, s.at = nil, nil, -1
	runtime.SetFinalizer(s, nil)
	return nil
}
