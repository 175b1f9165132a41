package petal

/*
#include "call.h"

static enum petal_status
go_kv_open(petal_db *db, BYTES(name), petal_kv **kv, petal_error *error)
{
    return petal_kv_open(db, SLICE(name), NULL, kv, error);
}
static enum petal_status
go_kv_put(petal_kv *kv, BYTES(key), BYTES(value), const petal_write_options *options,
          petal_error *error)
{
    return petal_kv_put(kv, SLICE(key), SLICE(value), options, error);
}
static enum petal_status
go_kv_delete(petal_kv *kv, BYTES(key), petal_error *error)
{
    return petal_kv_delete(kv, SLICE(key), error);
}
static enum petal_status
go_kv_get(petal_kv *kv, BYTES(key), petal_result *result, bool *found,
                                   const void **data, size_t *size, petal_error *error)
{
    petal_slice value = {NULL, 0};
    enum petal_status status = petal_kv_get(kv, SLICE(key), result, found, &value, error);
    *data = value.data;
    *size = value.size;
    return status;
}
static enum petal_status
go_kv_swap(petal_kv *kv, BYTES(key), bool has_old, BYTES(old), bool has_new,
                                    BYTES(new), bool *swapped, petal_error *error)
{
    petal_slice from = SLICE(old), to = SLICE(new);
    return petal_kv_compare_and_swap(kv, SLICE(key), has_old ? &from : NULL, has_new ? &to : NULL,
                                     swapped, error);
}
*/
import "C"

import (
	"context"
	"unsafe"
)

// KV is an ordered map of keys to values; it needs no Close.
type KV struct {
	db     *DB
	kv     *C.petal_kv
	table  *Table
	family *Family
}

// KV opens the map of that name, and makes it if there is none.
func (db *DB) KV(name string) (*KV, error) {
	data, size := bytes([]byte(name))
	var kv *C.petal_kv
	var table *C.petal_table
	var family *C.petal_family
	err := db.do(func(e *C.petal_error) C.enum_petal_status {
		status := C.go_kv_open(db.db, data, size, &kv, e)
		if status == C.PETAL_OK {
			table = C.petal_kv_table(kv)
			family = C.petal_table_family_at(table, 0)
		}
		return status
	})
	if err != nil {
		return nil, err
	}
	return &KV{db, kv, &Table{db, table}, &Family{db, family}}, nil
}

// Table returns the map's table, whose cells with the empty qualifier are the pairs.
func (m *KV) Table() *Table { return m.table }

// Put puts the value in place of the key's old one.
func (m *KV) Put(key, value []byte) error {
	return m.PutWith(context.Background(), key, value, nil)
}

// PutWith is Put with options: a time to live, a durability.
func (m *KV) PutWith(ctx context.Context, key, value []byte, options *WriteOptions) error {
	given, err := options.c(ctx)
	if err != nil {
		return err
	}
	k, ks := bytes(key)
	v, vs := bytes(value)
	return m.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_kv_put(m.kv, k, ks, v, vs, &given, e)
	})
}

// Delete deletes the key, if present.
func (m *KV) Delete(key []byte) error {
	k, ks := bytes(key)
	return m.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_kv_delete(m.kv, k, ks, e)
	})
}

// Get returns the key's value, and whether the key is present.
func (m *KV) Get(key []byte) (value []byte, found bool, err error) {
	k, ks := bytes(key)
	err = m.db.do(func(e *C.petal_error) C.enum_petal_status {
		result, status := m.db.result(e)
		if status != C.PETAL_OK {
			return status
		}
		defer m.db.giveBack(result)
		var present C.bool
		var data unsafe.Pointer
		var size C.size_t
		status = C.go_kv_get(m.kv, k, ks, result.c.result, &present, &data, &size, e)
		if status == C.PETAL_OK && bool(present) {
			found = true
			value = append([]byte{}, unsafe.Slice((*byte)(data), int(size))...)
		}
		return status
	})
	return value, found, err
}

// MultiGet returns the keys' values as of one moment, of a snapshot if that is not nil; nil for keys
// that are absent.
func (m *KV) MultiGet(ctx context.Context, keys [][]byte, snapshot *Snapshot) ([][]byte, error) {
	deadline, err := milliseconds(ctx)
	if err != nil {
		return nil, err
	}
	count := uintptr(len(keys))
	memory, err := room(count*(2*sliceSize+1), keys...)
	if err != nil {
		return nil, err
	}
	defer memory.free()
	values := (*C.petal_slice)(memory.take(count * sliceSize))
	names := memory.slices(keys)
	found := (*C.bool)(memory.take(count))
	list := make([][]byte, len(keys))
	options := &ReadOptions{Snapshot: snapshot}
	err = options.read(m.db, nil, deadline, func(o *C.petal_read_options, _ *C.petal_transaction,
		e *C.petal_error) C.enum_petal_status {
		result, status := m.db.result(e)
		if status != C.PETAL_OK {
			return status
		}
		defer m.db.giveBack(result)
		status = C.petal_kv_multi_get(m.kv, names, C.size_t(count), o, result.c.result, found, values, e)
		if status == C.PETAL_OK {
			for i, value := range unsafe.Slice(values, len(keys)) {
				if unsafe.Slice(found, len(keys))[i] {
					list[i] = append([]byte{}, unsafe.Slice((*byte)(value.data), int(value.size))...)
				}
			}
		}
		return status
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// CompareAndSwap puts `value` (nil: deletes the key) if the current one equals `expected` (nil: if
// the key is absent), and returns whether it did.
func (m *KV) CompareAndSwap(key, expected, value []byte) (bool, error) {
	k, ks := bytes(key)
	x, xs := bytes(expected)
	v, vs := bytes(value)
	var swapped C.bool
	err := m.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_kv_swap(m.kv, k, ks, C.bool(expected != nil), x, xs, C.bool(value != nil), v, vs,
			&swapped, e)
	})
	return bool(swapped), err
}

// Scan scans the map: each cell's Row is a key, its Value the value.
func (m *KV) Scan(ctx context.Context, options *ScanOptions) (*Scan, error) {
	return m.table.Scan(ctx, options)
}
