package petal

/*
#include "call.h"

static enum petal_status
go_batch_put(petal_batch *batch, petal_family *family, BYTES(row), BYTES(qualifier), int64_t at,
             BYTES(value), petal_error *error)
{
    return petal_batch_put(batch, family, SLICE(row), SLICE(qualifier), at, SLICE(value), error);
}
static enum petal_status
go_batch_put_key(petal_batch *batch, petal_kv *kv, BYTES(key), BYTES(value), petal_error *error)
{
    return petal_kv_batch_put(batch, kv, SLICE(key), SLICE(value), error);
}
static enum petal_status
go_batch_delete_key(petal_batch *batch, petal_kv *kv, BYTES(key), petal_error *error)
{
    return petal_kv_batch_delete(batch, kv, SLICE(key), error);
}
static enum petal_status
go_batch_delete(petal_batch *batch, petal_family *family, BYTES(row), BYTES(qualifier), int64_t at,
                int type, petal_error *error)
{
    return petal_batch_delete(batch, family, SLICE(row), SLICE(qualifier), at,
                              (enum petal_cell_type)type, error);
}
static enum petal_status
go_batch_delete_row(petal_batch *batch, petal_table *table, BYTES(row), int64_t at,
                    petal_error *error)
{
    return petal_batch_delete_row(batch, table, SLICE(row), at, error);
}
static enum petal_status
go_batch_append(petal_batch *batch, petal_family *family, BYTES(row), BYTES(qualifier),
                BYTES(value), petal_error *error)
{
    return petal_batch_append(batch, family, SLICE(row), SLICE(qualifier), SLICE(value), error);
}
static enum petal_status
go_batch_increment(petal_batch *batch, petal_family *family, BYTES(row), BYTES(qualifier),
                   int64_t amount, petal_error *error)
{
    return petal_batch_increment(batch, family, SLICE(row), SLICE(qualifier), amount, error);
}
static enum petal_status
go_mutate(petal_db *db, petal_table *table, BYTES(row), petal_condition *condition, BYTES(filter),
          petal_batch *batch, const petal_write_options *options, bool *applied,
          petal_error *error)
{
    petal_filter *parsed = NULL;
    if (filter_size) {
        enum petal_status status = petal_filter_parse(db, SLICE(filter), &parsed, error);
        if (status)
            return status;
        condition->filter = parsed;
    }
    enum petal_status status =
        petal_mutate_row(table, SLICE(row), condition, batch, options, applied, error);
    petal_filter_free(parsed);
    return status;
}
*/
import "C"

import (
	"context"
	"runtime"
	"sync"
	"time"
)

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

// PutKey adds a put of a map.
func (b *Batch) PutKey(m *KV, key, value []byte) error {
	k, ks := bytes(key)
	v, vs := bytes(value)
	return b.do(m.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_batch_put_key(b.batch, m.kv, k, ks, v, vs, e)
	})
}

// DeleteKey adds a deletion of a map's key.
func (b *Batch) DeleteKey(m *KV, key []byte) error {
	k, ks := bytes(key)
	return b.do(m.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_batch_delete_key(b.batch, m.kv, k, ks, e)
	})
}

// Mutation begins a mutation: the cells that are added until the next one die after `ttl`; 0: they
// do not. One without cells makes Write refuse the batch.
func (b *Batch) Mutation(ttl time.Duration) error {
	options := mutation(ttl)
	return b.do(b.db, func(e *C.petal_error) C.enum_petal_status {
		return C.petal_batch_mutation(b.batch, &options, e)
	})
}

// DeleteRow adds the markers of Table.DeleteRow.
func (b *Batch) DeleteRow(t *Table, row []byte, timestamp int64) error {
	r, rs := bytes(row)
	return b.do(t.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_batch_delete_row(b.batch, t.table, r, rs, C.int64_t(timestamp), e)
	})
}

// Append adds an append. Of two of one column the later one wins.
func (b *Batch) Append(f *Family, row, qualifier, value []byte) error {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	v, vs := bytes(value)
	return b.do(f.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_batch_append(b.batch, f.family, r, rs, q, qs, v, vs, e)
	})
}

// Increment adds an increment. Of two of one column the later one wins.
func (b *Batch) Increment(f *Family, row, qualifier []byte, amount int64) error {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	return b.do(f.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_batch_increment(b.batch, f.family, r, rs, q, qs, C.int64_t(amount), e)
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
func (b *Batch) Write(ctx context.Context, options *WriteOptions) error {
	given, err := options.c(ctx)
	if err != nil {
		return err
	}
	return b.do(b.db, func(e *C.petal_error) C.enum_petal_status {
		return C.petal_write(b.db.db, b.batch, &given, e)
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

// Compare relates a stored value to that of a condition.
type Compare int

// The comparisons; the zero value is Equal.
const (
	Less           Compare = C.PETAL_LESS
	LessOrEqual    Compare = C.PETAL_LESS_OR_EQUAL
	Equal          Compare = C.PETAL_EQUAL
	NotEqual       Compare = C.PETAL_NOT_EQUAL
	GreaterOrEqual Compare = C.PETAL_GREATER_OR_EQUAL
	Greater        Compare = C.PETAL_GREATER
)

// Condition of a change of a row. A Filter alone: the row read with it is not empty. Else one column
// decides: it is Absent, or its newest version exists and compares with the Value: Value Compare
// stored.
type Condition struct {
	Family             *Family
	Qualifier          []byte
	Absent             bool
	Compare            Compare
	Value              []byte
	Filter             string
	TimeMin, TimeLimit int64 // of the read, as in ReadOptions
}

// CheckAndMutate applies the batch, all of the row, if the condition is true; nil: always. It
// returns whether it did. No other write to the row comes between.
func (t *Table) CheckAndMutate(ctx context.Context, row []byte, condition *Condition, b *Batch, options *WriteOptions) (bool, error) {
	given, err := options.c(ctx)
	if err != nil {
		return false, err
	}
	r, rs := bytes(row)
	var applied C.bool
	if condition == nil {
		err = b.do(t.db, func(e *C.petal_error) C.enum_petal_status {
			return C.go_mutate(t.db.db, t.table, r, rs, nil, nil, 0, b.batch, &given, &applied, e)
		})
		return bool(applied), err
	}
	m, err := room(0, condition.Qualifier, condition.Value)
	if err != nil {
		return false, err
	}
	defer m.free()
	c := C.petal_condition{
		size: C.sizeof_petal_condition, absent: C.bool(condition.Absent),
		compare: C.enum_petal_compare(condition.Compare), qualifier: m.slice(condition.Qualifier),
		value: m.slice(condition.Value), compare_empty: C.bool(!condition.Absent && condition.Filter == ""),
	}
	c.has_time_range, c.time_min, c.time_limit = timeRange(condition.TimeMin, condition.TimeLimit)
	if c.compare_empty && c.compare == 0 {
		c.compare = C.PETAL_EQUAL
	}
	if condition.Family != nil {
		if condition.Family.db != t.db {
			return false, invalid("the family is of another database")
		}
		c.family = condition.Family.family
	}
	text, size := bytes([]byte(condition.Filter))
	err = b.do(t.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_mutate(t.db.db, t.table, r, rs, &c, text, size, b.batch, &given, &applied, e)
	})
	return bool(applied), err
}
