package petal

/*
#include "call.h"

static enum petal_status
go_snapshot_create(petal_table *table, BYTES(name), const petal_table_snapshot_options *options,
                   petal_error *error)
{
    return petal_table_snapshot_create(table, SLICE(name), options, error);
}
static enum petal_status
go_snapshot_clone(petal_db *db, BYTES(name), BYTES(table), petal_table **made, petal_error *error)
{
    return petal_table_snapshot_clone(db, SLICE(name), SLICE(table), made, error);
}
static enum petal_status
go_snapshot_restore(petal_db *db, BYTES(name), petal_table **made, petal_error *error)
{
    return petal_table_snapshot_restore(db, SLICE(name), made, error);
}
static enum petal_status
go_snapshot_delete(petal_db *db, BYTES(name), petal_error *error)
{
    return petal_table_snapshot_delete(db, SLICE(name), error);
}

static bool
go_visit_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    return go_add(argument, info->name);
}
static enum petal_status
go_snapshot_list(petal_db *db, struct go_names *to, petal_error *error)
{
    enum petal_status status = petal_table_snapshot_list(db, go_visit_snapshot, to, error);
    return status ? status : go_added(to);
}
*/
import "C"

import "time"

// SnapshotOptions of a table's snapshot on disk.
type SnapshotOptions struct {
	SkipFlush bool          // leave out what is in memory
	TTL       time.Duration // its lifetime, in whole seconds; 0: no limit
}

// CreateSnapshot keeps the table's contents of now on disk, under a name. (DB.Snapshot is something
// else: a read point.)
func (t *Table) CreateSnapshot(name string, options *SnapshotOptions) error {
	given := C.petal_table_snapshot_options{size: C.sizeof_petal_table_snapshot_options}
	if options != nil {
		given.skip_flush = C.bool(options.SkipFlush)
		given.ttl_seconds = C.uint32_t((options.TTL + time.Second - 1) / time.Second)
	}
	n, size := bytes([]byte(name))
	return t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_snapshot_create(t.table, n, size, &given, e)
	})
}

// Snapshots returns the names of all tables' snapshots on disk, in order.
func (db *DB) Snapshots() ([]string, error) {
	return db.names(func(to *C.struct_go_names, e *C.petal_error) C.enum_petal_status {
		return C.go_snapshot_list(db.db, to, e)
	})
}

// CloneSnapshot makes a new table of the snapshot.
func (db *DB) CloneSnapshot(name, table string) (*Table, error) {
	n, size := bytes([]byte(name))
	to, toSize := bytes([]byte(table))
	return db.made(func(made **C.petal_table, e *C.petal_error) C.enum_petal_status {
		return C.go_snapshot_clone(db.db, n, size, to, toSize, made, e)
	})
}

// RestoreSnapshot returns the snapshot's table to its state at the snapshot. Tables of before behave
// as after Drop.
func (db *DB) RestoreSnapshot(name string) (*Table, error) {
	n, size := bytes([]byte(name))
	return db.made(func(made **C.petal_table, e *C.petal_error) C.enum_petal_status {
		return C.go_snapshot_restore(db.db, n, size, made, e)
	})
}

// DeleteSnapshot deletes the snapshot.
func (db *DB) DeleteSnapshot(name string) error {
	n, size := bytes([]byte(name))
	return db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_snapshot_delete(db.db, n, size, e)
	})
}
