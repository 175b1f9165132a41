package petal

/*
#include "call.h"

static enum petal_status
go_scan(petal_table *table, petal_transaction *transaction, const petal_scan_options *options,
        petal_cursor **cursor, petal_error *error)
{
    return transaction ? petal_transaction_scan(transaction, table, options, cursor, error)
                       : petal_cursor_open(table, options, cursor, error);
}
static enum petal_status
go_seek(petal_cursor *cursor, BYTES(row), const petal_family *family, BYTES(qualifier),
        petal_error *error)
{
    return petal_cursor_seek(cursor, SLICE(row), family, SLICE(qualifier), error);
}
*/
import "C"

import (
	"context"
	"runtime"
	"sync"
	"unsafe"
)

// ScanOptions narrow a scan. Rows are Start <= row < Stop, or those with the Prefix.
type ScanOptions struct {
	ReadOptions
	Start, Stop, Prefix           []byte
	StartExclusive, StopInclusive bool
	Rows                          uint64 // at most; 0: no limit
	Reversed                      bool   // Start is then the high end
	Raw                           bool   // also markers and deleted cells
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
	tx     *Transaction // nil: of none
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
	return t.scan(ctx, nil, options)
}

func (t *Table) scan(ctx context.Context, tx *Transaction, options *ScanOptions) (*Scan, error) {
	if options == nil {
		options = &ScanOptions{}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, err := room(0, options.Start, options.Stop, options.Prefix)
	if err != nil {
		return nil, err
	}
	defer m.free()
	given := C.petal_scan_options{
		size: C.sizeof_petal_scan_options, start_row: m.slice(options.Start),
		stop_row: m.slice(options.Stop), prefix: m.slice(options.Prefix),
		row_limit: C.uint64_t(options.Rows), reversed: C.bool(options.Reversed),
		raw: C.bool(options.Raw), start_exclusive: C.bool(options.StartExclusive),
		stop_inclusive: C.bool(options.StopInclusive),
	}
	step := C.uint32_t(0)
	if ctx.Done() != nil {
		step = stepMilliseconds
	}
	var cursor *C.petal_cursor
	err = options.read(t.db, tx, step, func(o *C.petal_read_options, transaction *C.petal_transaction,
		e *C.petal_error) C.enum_petal_status {
		given.read = *o
		return C.go_scan(t.table, transaction, &given, &cursor, e)
	})
	if err != nil {
		return nil, err
	}
	s := &Scan{db: t.db, tx: tx, ctx: ctx, cursor: cursor, at: -1}
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
	return s.alone(func(e *C.petal_error) C.enum_petal_status {
		status := C.petal_cursor_next_many(s.cursor, cellsAtOnce, &cells, &count, e)
		if status == C.PETAL_OK {
			s.cells = copied(unsafe.Slice(cells, int(count)))
		}
		return status
	})
}

// alone makes a call, during which the scan's transaction has no other.
func (s *Scan) alone(f func(*C.petal_error) C.enum_petal_status) error {
	return s.db.do(func(e *C.petal_error) C.enum_petal_status {
		if s.tx != nil {
			s.tx.mutex.Lock()
			defer s.tx.mutex.Unlock()
		}
		return f(e)
	})
}

// Seek moves the scan, forward or back, so that Next steps to the first cell at or after that place,
// in a reversed scan to the first of that row or of those below it. A nil family: the row's first
// cell. The bounds of the options stay.
func (s *Scan) Seek(row []byte, family *Family, qualifier []byte) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.cursor == nil {
		return invalid("the scan is closed")
	}
	var of *C.petal_family
	if family != nil {
		if family.db != s.db {
			return invalid("the family is of another database")
		}
		of = family.family
	}
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	s.cells, s.at, s.ended, s.err = nil, -1, false, nil
	s.err = s.alone(func(e *C.petal_error) C.enum_petal_status {
		return C.go_seek(s.cursor, r, rs, of, q, qs, e)
	})
	return s.err
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
	if s.tx != nil {
		s.tx.mutex.Lock()
		defer s.tx.mutex.Unlock()
	}
	C.petal_cursor_close(s.cursor)
	s.cursor, s.cells, s.at = nil, nil, -1
	runtime.SetFinalizer(s, nil)
	return nil
}
