package petal

/*
#include "call.h"

static bool
go_watch_rows(void *stop, const petal_deleted_rows *done)
{
    (void)done;
    return go_goes_on(stop);
}
// `kv` NULL: rows of the table.
static enum petal_status
go_delete_rows(petal_table *table, petal_kv *kv, BYTES(from), BYTES(to), BYTES(prefix),
               const petal_delete_rows_options *given, void *stop, petal_deleted_rows *deleted,
               petal_error *error)
{
    petal_delete_rows_options options = *given;
    options.prefix = SLICE(prefix);
    options.argument = stop;
    options.watch = go_watch_rows;
    return kv ? petal_kv_delete_range(kv, SLICE(from), SLICE(to), &options, deleted, error)
              : petal_delete_rows(table, SLICE(from), SLICE(to), &options, deleted, error);
}
*/
import "C"

import (
	"context"
	"unsafe"
)

// DeleteRowsOptions say which rows to delete: those with From <= row < To that begin with Prefix.
type DeleteRowsOptions struct {
	From, To, Prefix []byte   // each may be empty
	Columns          []Column // only these, in the rows that have any; none: all
	Timestamp        int64    // of the markers; 0: the store's
	Snapshot         *Snapshot
	Durability       Durability
}

// DeletedRows is how far a deletion came.
type DeletedRows struct {
	Rows uint64
	Next []byte // after an error: all rows below it are done, so go on from there
}

// DeleteRows deletes the rows, in batches. The end of the context ends it between two.
func (t *Table) DeleteRows(ctx context.Context, options *DeleteRowsOptions) (DeletedRows, error) {
	return deleteRows(ctx, t, nil, options)
}

// DeleteRange deletes the keys with from <= key < to, each end may be empty, in batches, and returns
// how many. The end of the context ends it between two.
func (m *KV) DeleteRange(ctx context.Context, from, to []byte) (DeletedRows, error) {
	return deleteRows(ctx, m.table, m.kv, &DeleteRowsOptions{From: from, To: to})
}

func deleteRows(ctx context.Context, t *Table, kv *C.petal_kv, options *DeleteRowsOptions) (DeletedRows, error) {
	done := DeletedRows{}
	if options == nil {
		options = &DeleteRowsOptions{}
	}
	// C's memory, since `next` points into it.
	memory, err := room(unsafe.Sizeof(C.petal_deleted_rows{}))
	if err != nil {
		return done, err
	}
	defer memory.free()
	deleted := (*C.petal_deleted_rows)(memory.start)
	from, fromSize := bytes(options.From)
	to, toSize := bytes(options.To)
	prefix, prefixSize := bytes(options.Prefix)
	read := &ReadOptions{Columns: options.Columns, Snapshot: options.Snapshot}
	err = untilDone(ctx, func(stop unsafe.Pointer) error {
		return read.read(t.db, nil, 0, func(o *C.petal_read_options, _ *C.petal_transaction,
			e *C.petal_error) C.enum_petal_status {
			given := C.petal_delete_rows_options{
				size: C.sizeof_petal_delete_rows_options, columns: o.columns, column_count: o.column_count,
				snapshot: o.snapshot, durability: C.enum_petal_durability(options.Durability),
				has_timestamp: options.Timestamp != 0, timestamp: C.int64_t(options.Timestamp),
			}
			return C.go_delete_rows(t.table, kv, from, fromSize, to, toSize, prefix, prefixSize, &given,
				stop, deleted, e)
		})
	})
	done.Rows = uint64(deleted.rows)
	if err != nil {
		done.Next = C.GoBytes(deleted.next.data, C.int(deleted.next.size))
	}
	return done, err
}
