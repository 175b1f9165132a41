package petal

/*
#include <petal.h>

#define BYTES(name) const char *name, size_t name##_size
#define SLICE(name) (petal_slice){name, name##_size}

static enum petal_status go_put(petal_family *family, BYTES(row), BYTES(qualifier), int64_t at,
                                BYTES(value), int durability, uint32_t wait, petal_error *error)
{
    petal_write_options options = {.size = sizeof options, .deadline_ms = wait,
                                   .durability = (enum petal_durability)durability};
    return petal_put(family, SLICE(row), SLICE(qualifier), at, SLICE(value), &options, error);
}
static enum petal_status go_delete(petal_family *family, BYTES(row), BYTES(qualifier), int64_t at,
                                   int type, petal_error *error)
{
    return petal_delete(family, SLICE(row), SLICE(qualifier), at, (enum petal_cell_type)type, NULL,
                        error);
}
static enum petal_status go_delete_row(petal_table *table, BYTES(row), int64_t at,
                                       petal_error *error)
{
    return petal_delete_row(table, SLICE(row), at, NULL, error);
}
static enum petal_status go_append(petal_family *family, BYTES(row), BYTES(qualifier), BYTES(value),
                                   petal_error *error)
{
    return petal_append(family, SLICE(row), SLICE(qualifier), SLICE(value), NULL, error);
}
static enum petal_status go_increment(petal_family *family, BYTES(row), BYTES(qualifier),
                                      int64_t amount, int64_t *sum, petal_error *error)
{
    return petal_increment(family, SLICE(row), SLICE(qualifier), amount, NULL, sum, error);
}
static enum petal_status go_batch_put(petal_batch *batch, petal_family *family, BYTES(row),
                                      BYTES(qualifier), int64_t at, BYTES(value),
                                      petal_error *error)
{
    return petal_batch_put(batch, family, SLICE(row), SLICE(qualifier), at, SLICE(value), error);
}
static enum petal_status go_batch_delete(petal_batch *batch, petal_family *family, BYTES(row),
                                         BYTES(qualifier), int64_t at, int type,
                                         petal_error *error)
{
    return petal_batch_delete(batch, family, SLICE(row), SLICE(qualifier), at,
                              (enum petal_cell_type)type, error);
}
static enum petal_status go_write(petal_db *db, petal_batch *batch, int durability, uint32_t wait,
                                  petal_error *error)
{
    petal_write_options options = {.size = sizeof options, .deadline_ms = wait,
                                   .durability = (enum petal_durability)durability};
    return petal_write(db, batch, &options, error);
}
static enum petal_status go_check(petal_table *table, petal_family *family, BYTES(row),
                                  BYTES(qualifier), bool absent, BYTES(value), petal_batch *batch,
                                  bool *applied, petal_error *error)
{
    petal_condition condition = {.size = sizeof condition, .family = family,
        .qualifier = SLICE(qualifier), .absent = absent, .compare = absent ? 0 : PETAL_EQUAL,
        .value = SLICE(value), .compare_empty = !absent};
    return petal_mutate_row(table, SLICE(row), &condition, batch, NULL, applied, error);
}
*/
import "C"

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"
)

// Latest as a timestamp makes the store assign one when it writes.
const Latest int64 = C.PETAL_LATEST

// CellType is the kind of a cell: a put, or a marker that hides older cells.
type CellType int

// HBase's type codes.
const (
	TypePut                 CellType = C.PETAL_PUT
	TypeDelete              CellType = C.PETAL_DELETE
	TypeDeleteFamilyVersion CellType = C.PETAL_DELETE_FAMILY_VERSION
	TypeDeleteColumn        CellType = C.PETAL_DELETE_COLUMN
	TypeDeleteFamily        CellType = C.PETAL_DELETE_FAMILY
)

// milliseconds returns the time that the context leaves, at least 1; 0 means without limit.
func milliseconds(ctx context.Context) (C.uint32_t, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0, nil
	}
	left := time.Until(deadline)/time.Millisecond + 1
	if left < 1 {
		return 0, context.DeadlineExceeded
	}
	if left >= math.MaxUint32 {
		left = math.MaxUint32 - 1
	}
	return C.uint32_t(left), nil
}

// Put writes one cell. The context's deadline limits the wait for flushes and compactions.
func (f *Family) Put(ctx context.Context, row, qualifier []byte, timestamp int64, value []byte, durability Durability) error {
	wait, err := milliseconds(ctx)
	if err != nil {
		return err
	}
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	v, vs := bytes(value)
	return f.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_put(f.family, r, rs, q, qs, C.int64_t(timestamp), v, vs, C.int(durability), wait, e)
	})
}

// Delete writes one marker of a type other than TypePut.
func (f *Family) Delete(row, qualifier []byte, timestamp int64, kind CellType) error {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	return f.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_delete(f.family, r, rs, q, qs, C.int64_t(timestamp), C.int(kind), e)
	})
}

// DeleteRow hides all cells of the row up to the timestamp.
func (t *Table) DeleteRow(row []byte, timestamp int64) error {
	r, rs := bytes(row)
	return t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_delete_row(t.table, r, rs, C.int64_t(timestamp), e)
	})
}

// Append adds the value after the column's newest one.
func (f *Family) Append(row, qualifier, value []byte) error {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	v, vs := bytes(value)
	return f.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_append(f.family, r, rs, q, qs, v, vs, e)
	})
}

// Increment adds to the column's 8-byte big-endian number and returns the sum.
func (f *Family) Increment(row, qualifier []byte, amount int64) (int64, error) {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	var sum C.int64_t
	err := f.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_increment(f.family, r, rs, q, qs, C.int64_t(amount), &sum, e)
	})
	return int64(sum), err
}

// Batch collects writes, which Write applies all or none.
type Batch struct {
	db    *DB
	mutex sync.Mutex
	batch *C.petal_batch
}

// Batch makes an empty batch.
func (db *DB) Batch() (*Batch, error) {
	var batch *C.petal_batch
	err := db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_batch_new(db.db, &batch, e)
	})
	if err != nil {
		return nil, err
	}
	b := &Batch{db: db, batch: batch}
	runtime.SetFinalizer(b, func(b *Batch) { b.Close() })
	return b, nil
}

func (b *Batch) do(db *DB, f func(*C.petal_error) C.enum_petal_status) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.batch == nil {
		return invalid("the batch is closed")
	}
	if db != b.db {
		return invalid("the batch is of another database")
	}
	return b.db.do(f)
}

// Put adds a put.
func (b *Batch) Put(f *Family, row, qualifier []byte, timestamp int64, value []byte) error {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	v, vs := bytes(value)
	return b.do(f.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_batch_put(b.batch, f.family, r, rs, q, qs, C.int64_t(timestamp), v, vs, e)
	})
}

// Delete adds a marker.
func (b *Batch) Delete(f *Family, row, qualifier []byte, timestamp int64, kind CellType) error {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	return b.do(f.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_batch_delete(b.batch, f.family, r, rs, q, qs, C.int64_t(timestamp), C.int(kind), e)
	})
}

// Clear removes all writes.
func (b *Batch) Clear() error {
	return b.do(b.db, func(*C.petal_error) C.enum_petal_status {
		C.petal_batch_clear(b.batch)
		return C.PETAL_OK
	})
}

// Write applies the batch, which keeps its writes until Clear.
func (b *Batch) Write(ctx context.Context, durability Durability) error {
	wait, err := milliseconds(ctx)
	if err != nil {
		return err
	}
	return b.do(b.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_write(b.db.db, b.batch, C.int(durability), wait, e)
	})
}

// Close frees the batch.
func (b *Batch) Close() error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	C.petal_batch_free(b.batch)
	b.batch = nil
	runtime.SetFinalizer(b, nil)
	return nil
}

// CheckAndMutate applies the batch, all of the row, if the column's newest value equals `expected`;
// nil: if the column is absent. It returns whether it did. No other write to the row comes between.
func (t *Table) CheckAndMutate(f *Family, row, qualifier, expected []byte, b *Batch) (bool, error) {
	if f.db != t.db {
		return false, invalid("the family is of another database")
	}
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	v, vs := bytes(expected)
	var applied C.bool
	err := b.do(t.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_check(t.table, f.family, r, rs, q, qs, C.bool(expected == nil), v, vs, b.batch,
			&applied, e)
	})
	return bool(applied), err
}
