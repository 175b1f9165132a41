package petal

/*
#include "call.h"

static enum petal_status
go_transaction_put(petal_transaction *transaction, petal_family *family, BYTES(row),
                   BYTES(qualifier), int64_t at, BYTES(value),
                   const petal_mutation_options *options, petal_error *error)
{
    return petal_transaction_put(transaction, family, SLICE(row), SLICE(qualifier), at,
                                 SLICE(value), options, error);
}
static enum petal_status
go_transaction_delete(petal_transaction *transaction, petal_family *family, BYTES(row),
                      BYTES(qualifier), int64_t at, int type, petal_error *error)
{
    return petal_transaction_delete(transaction, family, SLICE(row), SLICE(qualifier), at,
                                    (enum petal_cell_type)type, error);
}
static enum petal_status
go_transaction_delete_row(petal_transaction *transaction, petal_table *table, BYTES(row),
                          int64_t at, petal_error *error)
{
    return petal_transaction_delete_row(transaction, table, SLICE(row), at, error);
}
static enum petal_status
go_transaction_append(petal_transaction *transaction, petal_family *family, BYTES(row),
                      BYTES(qualifier), BYTES(value), petal_error *error)
{
    return petal_transaction_append(transaction, family, SLICE(row), SLICE(qualifier),
                                    SLICE(value), error);
}
static enum petal_status
go_transaction_increment(petal_transaction *transaction, petal_family *family, BYTES(row),
                         BYTES(qualifier), int64_t amount, int64_t *sum, petal_error *error)
{
    return petal_transaction_increment(transaction, family, SLICE(row), SLICE(qualifier), amount,
                                       sum, error);
}
*/
import "C"

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// Transaction is reads and writes of any rows and tables that happen as one: it reads the database
// as it was at Begin, with its own writes, which nobody else sees before Commit. Goroutines that
// share one take turns.
type Transaction struct {
	db     *DB
	mutex  sync.Mutex // also of the transaction's scans
	handle *C.petal_transaction
}

// Begin begins a transaction, to be ended by Commit or Abort before the database's Close. What the
// context's deadline leaves limits the waits of Commit.
func (db *DB) Begin(ctx context.Context, durability Durability) (*Transaction, error) {
	wait, err := milliseconds(ctx)
	if err != nil {
		return nil, err
	}
	options := C.petal_transaction_options{size: C.sizeof_petal_transaction_options,
		durability: C.enum_petal_durability(durability), deadline_ms: wait}
	var handle *C.petal_transaction
	err = db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_transaction_begin(db.db, &options, &handle, e)
	})
	if err != nil {
		return nil, err
	}
	tx := &Transaction{db: db, handle: handle}
	runtime.SetFinalizer(tx, func(tx *Transaction) { tx.Abort() })
	return tx, nil
}

// Transact calls f with a transaction and commits it, unless f fails, whose error it returns. After
// ErrConflict, of the commit or of f, it begins anew until the context ends: f may run several times.
func (db *DB) Transact(ctx context.Context, f func(tx *Transaction) error) error {
	for {
		err := db.once(ctx, f)
		if !errors.Is(err, ErrConflict) {
			return err
		}
		if ctx.Err() != nil {
			return err
		}
	}
}

func (db *DB) once(ctx context.Context, f func(tx *Transaction) error) error {
	tx, err := db.Begin(ctx, DefaultDurability)
	if err != nil {
		return err
	}
	defer tx.Abort()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Commit writes all, or nothing: ErrConflict, if others have written meanwhile to a row that was
// read or written here. The transaction is over, whatever the error is.
func (tx *Transaction) Commit() error {
	return tx.do(tx.db, func(e *C.petal_error) C.enum_petal_status {
		status := C.petal_transaction_commit(tx.handle, e)
		tx.handle = nil
		runtime.SetFinalizer(tx, nil)
		return status
	})
}

// Abort drops the writes. When the transaction is over already it does nothing.
func (tx *Transaction) Abort() {
	tx.mutex.Lock()
	defer tx.mutex.Unlock()
	C.petal_transaction_abort(tx.handle)
	tx.handle = nil
	runtime.SetFinalizer(tx, nil)
}

// lock holds the transaction for a call of the database; nil: there is none.
func (tx *Transaction) lock(db *DB, e *C.petal_error) (*C.petal_transaction, C.enum_petal_status) {
	if tx == nil {
		return nil, C.PETAL_OK
	}
	if tx.db != db {
		return nil, refuse(e, "the transaction is of another database")
	}
	tx.mutex.Lock()
	if tx.handle == nil {
		tx.mutex.Unlock()
		return nil, refuse(e, "the transaction is over")
	}
	return tx.handle, C.PETAL_OK
}

func (tx *Transaction) unlock() {
	if tx != nil {
		tx.mutex.Unlock()
	}
}

func (tx *Transaction) do(db *DB, f func(*C.petal_error) C.enum_petal_status) error {
	return tx.db.do(func(e *C.petal_error) C.enum_petal_status {
		_, status := tx.lock(db, e)
		if status != C.PETAL_OK {
			return status
		}
		defer tx.unlock()
		return f(e)
	})
}

// Get is Table.Get.
func (tx *Transaction) Get(ctx context.Context, t *Table, row []byte, options *ReadOptions) ([]Cell, error) {
	return t.get(ctx, tx, row, options)
}

// MultiGet is Table.MultiGet.
func (tx *Transaction) MultiGet(ctx context.Context, t *Table, rows [][]byte, options *ReadOptions) ([][]Cell, error) {
	return t.multiGet(ctx, tx, rows, options)
}

// Scan is Table.Scan. It sees what was written here before, and counts as read as far as it has
// fetched cells. After the end of the transaction it goes on.
func (tx *Transaction) Scan(ctx context.Context, t *Table, options *ScanOptions) (*Scan, error) {
	return t.scan(ctx, tx, options)
}

// GetKey is KV.Get.
func (tx *Transaction) GetKey(ctx context.Context, m *KV, key []byte) (value []byte, found bool, err error) {
	cells, err := m.table.get(ctx, tx, key, &ReadOptions{Columns: []Column{{m.family, []byte{}}}})
	if err != nil || len(cells) == 0 {
		return nil, false, err
	}
	return cells[0].Value, true, nil
}

// Put is Family.Put, when the transaction commits. A TTL other than 0 is the cell's own.
func (tx *Transaction) Put(f *Family, row, qualifier []byte, timestamp int64, value []byte, ttl time.Duration) error {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	v, vs := bytes(value)
	options := mutation(ttl)
	return tx.do(f.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_transaction_put(tx.handle, f.family, r, rs, q, qs, C.int64_t(timestamp), v, vs,
			&options, e)
	})
}

// PutKey is KV.Put.
func (tx *Transaction) PutKey(m *KV, key, value []byte, ttl time.Duration) error {
	return tx.Put(m.family, key, nil, Latest, value, ttl)
}

// Delete is Family.Delete.
func (tx *Transaction) Delete(f *Family, row, qualifier []byte, timestamp int64, kind CellType) error {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	return tx.do(f.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_transaction_delete(tx.handle, f.family, r, rs, q, qs, C.int64_t(timestamp),
			C.int(kind), e)
	})
}

// DeleteKey is KV.Delete.
func (tx *Transaction) DeleteKey(m *KV, key []byte) error {
	return tx.Delete(m.family, key, nil, Latest, TypeDeleteColumn)
}

// DeleteRow is Table.DeleteRow.
func (tx *Transaction) DeleteRow(t *Table, row []byte, timestamp int64) error {
	r, rs := bytes(row)
	return tx.do(t.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_transaction_delete_row(tx.handle, t.table, r, rs, C.int64_t(timestamp), e)
	})
}

// Append is Family.Append; several of one column add up.
func (tx *Transaction) Append(f *Family, row, qualifier, value []byte) error {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	v, vs := bytes(value)
	return tx.do(f.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_transaction_append(tx.handle, f.family, r, rs, q, qs, v, vs, e)
	})
}

// Increment is Family.Increment; several of one column add up.
func (tx *Transaction) Increment(f *Family, row, qualifier []byte, amount int64) (int64, error) {
	r, rs := bytes(row)
	q, qs := bytes(qualifier)
	var sum C.int64_t
	err := tx.do(f.db, func(e *C.petal_error) C.enum_petal_status {
		return C.go_transaction_increment(tx.handle, f.family, r, rs, q, qs, C.int64_t(amount), &sum, e)
	})
	return int64(sum), err
}
