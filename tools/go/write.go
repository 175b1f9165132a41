package petal

/*
#include "call.h"

static enum petal_status
go_put(petal_family *family, BYTES(row), BYTES(qualifier), int64_t at, BYTES(value),
       const petal_write_options *options, petal_error *error)
{
    return petal_put(family, SLICE(row), SLICE(qualifier), at, SLICE(value), options, error);
}
static enum petal_status
go_delete(petal_family *family, BYTES(row), BYTES(qualifier), int64_t at, int type,
          const petal_write_options *options, petal_error *error)
{
    return petal_delete(family, SLICE(row), SLICE(qualifier), at, (enum petal_cell_type)type,
                        options, error);
}
static enum petal_status
go_delete_row(petal_table *table, BYTES(row), int64_t at, const petal_write_options *options,
              petal_error *error)
{
    return petal_delete_row(table, SLICE(row), at, options, error);
}
static enum petal_status
go_append(petal_family *family, BYTES(row), BYTES(qualifier), BYTES(value),
          const petal_write_options *options, petal_error *error)
{
    return petal_append(family, SLICE(row), SLICE(qualifier), SLICE(value), options, error);
}
static enum petal_status
go_increment(petal_family *family, BYTES(row), BYTES(qualifier), int64_t amount,
             const petal_write_options *options, int64_t *sum, petal_error *error)
{
    return petal_increment(family, SLICE(row), SLICE(qualifier), amount, options, sum, error);
}
*/
import "C"

import (
	"context"
	"math"
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

// life is a time to live for C, at least as long.
func life(ttl time.Duration) C.int64_t {
	ms := ttl / time.Millisecond
	if ttl > ms*time.Millisecond {
		ms++
	}
	return C.int64_t(ms)
}

func mutation(ttl time.Duration) C.petal_mutation_options {
	return C.petal_mutation_options{
		size: C.sizeof_petal_mutation_options, has_ttl: ttl != 0, ttl_ms: life(ttl)}
}

// WriteOptions of a write. The zero value, and nil, are all defaults.
type WriteOptions struct {
	Durability Durability
	TTL        time.Duration // the cell's own, of one write alone; 0: none
	NewVersion bool          // a version of its own, also within one millisecond
}

// c returns the options for C. The context's deadline limits the wait for flushes and compactions.
func (o *WriteOptions) c(ctx context.Context) (C.petal_write_options, error) {
	if o == nil {
		o = &WriteOptions{}
	}
	wait, err := milliseconds(ctx)
	return C.petal_write_options{
		size: C.sizeof_petal_write_options, durability: C.enum_petal_durability(o.Durability),
		has_ttl: o.TTL != 0, ttl_ms: life(o.TTL), deadline_ms: wait, new_version: C.bool(o.NewVersion),
	}, err
}

// Put writes one cell.
func (f *Family) Put(ctx context.Context, row, qualifier []byte, timestamp int64, value []byte, options *WriteOptions) error {
	given, err := options.c(ctx)
	if err != nil {
		return err
	}
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	v, vs := bytes(value)
	return f.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_put(f.family, r, rs, q, qs, C.int64_t(timestamp), v, vs, &given, e)
	})
}

// Delete writes one marker of a type other than TypePut.
func (f *Family) Delete(ctx context.Context, row, qualifier []byte, timestamp int64, kind CellType, options *WriteOptions) error {
	given, err := options.c(ctx)
	if err != nil {
		return err
	}
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	return f.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_delete(f.family, r, rs, q, qs, C.int64_t(timestamp), C.int(kind), &given, e)
	})
}

// DeleteRow hides all cells of the row up to the timestamp.
func (t *Table) DeleteRow(ctx context.Context, row []byte, timestamp int64, options *WriteOptions) error {
	given, err := options.c(ctx)
	if err != nil {
		return err
	}
	r, rs := bytes(row)
	return t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_delete_row(t.table, r, rs, C.int64_t(timestamp), &given, e)
	})
}

// Append adds the value after the column's newest one.
func (f *Family) Append(ctx context.Context, row, qualifier, value []byte, options *WriteOptions) error {
	given, err := options.c(ctx)
	if err != nil {
		return err
	}
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	v, vs := bytes(value)
	return f.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_append(f.family, r, rs, q, qs, v, vs, &given, e)
	})
}

// Increment adds to the column's 8-byte big-endian number and returns the sum.
func (f *Family) Increment(ctx context.Context, row, qualifier []byte, amount int64, options *WriteOptions) (int64, error) {
	given, err := options.c(ctx)
	if err != nil {
		return 0, err
	}
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	var sum C.int64_t
	err = f.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_increment(f.family, r, rs, q, qs, C.int64_t(amount), &given, &sum, e)
	})
	return int64(sum), err
}
