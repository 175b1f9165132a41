package petal

/*
#include <petal.h>

#define BYTES(name) const char *name, size_t name##_size
#define SLICE(name) (petal_slice){name, name##_size}

static enum petal_status go_kv_open(petal_db *db, BYTES(name), petal_kv **kv, petal_error *error)
{
    return petal_kv_open(db, SLICE(name), NULL, kv, error);
}
static enum petal_status go_kv_put(petal_kv *kv, BYTES(key), BYTES(value), petal_error *error)
{
    return petal_kv_put(kv, SLICE(key), SLICE(value), NULL, error);
}
static enum petal_status go_kv_delete(petal_kv *kv, BYTES(key), petal_error *error)
{
    return petal_kv_delete(kv, SLICE(key), error);
}
static enum petal_status go_kv_get(petal_kv *kv, BYTES(key), petal_result *result, bool *found,
                                   const void **data, size_t *size, petal_error *error)
{
    petal_slice value = {NULL, 0};
    enum petal_status status = petal_kv_get(kv, SLICE(key), result, found, &value, error);
    *data = value.data;
    *size = value.size;
    return status;
}
static enum petal_status go_kv_swap(petal_kv *kv, BYTES(key), bool has_old, BYTES(old), bool has_new,
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
	db    *DB
	kv    *C.petal_kv
	table *Table
}

// KV opens the map of that name, and makes it if there is none.
func (db *DB) KV(name string) (*KV, error) {
	data, size := bytes([]byte(name))
	var kv *C.petal_kv
	var table *C.petal_table
	err := db.do(func(e *C.petal_error) C.enum_petal_status {
		status := C.go_kv_open(db.db, data, size, &kv, e)
		table = C.petal_kv_table(kv)
		return status
	})
	if err != nil {
		return nil, err
	}
	return &KV{db, kv, &Table{db, table}}, nil
}

// Put puts the value in place of the key's old one.
func (m *KV) Put(key, value []byte) error {
	k, ks := bytes(key)
	v, vs := bytes(value)
	return m.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_kv_put(m.kv, k, ks, v, vs, e)
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
