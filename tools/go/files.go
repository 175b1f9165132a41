package petal

/*
#include "call.h"

static enum petal_status
go_backup(petal_db *db, const char *to, bool copy, const char *previous, void *stop,
          petal_backup_report *report, petal_error *error)
{
    petal_backup_options options = {.size = sizeof options, .copy = copy, .previous = previous,
                                    .argument = stop, .watch = go_watch};
    return petal_backup(db, to, &options, report, error);
}
static enum petal_status
go_restore(const char *backup, const char *to, bool replace, void *stop,
           petal_backup_report *report, petal_error *error)
{
    petal_restore_options options = {.size = sizeof options, .replace = replace, .argument = stop,
                                     .watch = go_watch};
    return petal_restore(backup, to, &options, report, error);
}
// `to` NULL: only verify.
static enum petal_status
go_check(const char *from, const char *to, void *stop, petal_check_counts *counts,
         petal_error *error)
{
    petal_check_options options = {.size = sizeof options, .argument = stop, .watch = go_watch};
    return to ? petal_salvage(from, to, &options, counts, error)
              : petal_verify(from, &options, counts, error);
}
static enum petal_status
go_table_verify(petal_table *table, void *stop, petal_error *error)
{
    petal_check_options options = {.size = sizeof options, .argument = stop, .watch = go_watch};
    return petal_table_verify_watched(table, &options, error);
}
*/
import "C"

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
	"unsafe"
)

// untilDone runs f with a flag that the end of the context sets.
func untilDone(ctx context.Context, f func(stop unsafe.Pointer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := C.calloc(1, 4)
	if stop == nil {
		return ErrNoMemory
	}
	defer C.free(stop)
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ctx.Done():
			atomic.StoreInt32((*int32)(stop), 1)
		case <-over:
		}
	}()
	err := f(stop)
	close(over)
	<-watched
	if errors.Is(err, ErrBusy) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// BackupReport says what a backup or restore did, as petal_backup_report.
type BackupReport struct {
	Files, Skipped, Linked, Copied, Written, Bytes, BytesCopied, Removed, LastSequence uint64
	State                                                                              time.Time
	Took                                                                               time.Duration
}

func report(r *C.petal_backup_report) *BackupReport {
	return &BackupReport{
		Files: uint64(r.files), Skipped: uint64(r.skipped), Linked: uint64(r.linked),
		Copied: uint64(r.copied), Written: uint64(r.written), Bytes: uint64(r.bytes),
		BytesCopied: uint64(r.bytes_copied), Removed: uint64(r.removed),
		LastSequence: uint64(r.last_sequence), State: time.UnixMilli(int64(r.state_ms)),
		Took: time.Duration(r.took_us) * time.Microsecond,
	}
}

// BackupOptions of a backup.
type BackupOptions struct {
	Copy     bool   // share no files with the database
	Previous string // an earlier backup to share files with; "": none
}

// Backup backs the database up into the directory, which may hold an earlier backup of it. The end
// of the context ends it; the next backup completes it.
func (db *DB) Backup(ctx context.Context, directory string, options *BackupOptions) (*BackupReport, error) {
	if options == nil {
		options = &BackupOptions{}
	}
	to, done, err := path(directory)
	if err != nil {
		return nil, err
	}
	defer done()
	previous, done, err := path(options.Previous)
	if err != nil {
		return nil, err
	}
	defer done()
	if options.Previous == "" {
		previous = nil
	}
	var c C.petal_backup_report
	err = untilDone(ctx, func(stop unsafe.Pointer) error {
		return db.do(func(e *C.petal_error) C.enum_petal_status {
			return C.go_backup(db.db, to, C.bool(options.Copy), previous, stop, &c, e)
		})
	})
	if err != nil {
		return nil, err
	}
	return report(&c), nil
}

// Restore makes a database in the directory of a backup; `replace`: of the database that is there,
// which nobody may have open.
func Restore(ctx context.Context, backup, directory string, replace bool) (*BackupReport, error) {
	from, done, err := path(backup)
	if err != nil {
		return nil, err
	}
	defer done()
	to, done, err := path(directory)
	if err != nil {
		return nil, err
	}
	defer done()
	var c C.petal_backup_report
	err = untilDone(ctx, func(stop unsafe.Pointer) error {
		return call(func(e *C.petal_error) C.enum_petal_status {
			return C.go_restore(from, to, C.bool(replace), stop, &c, e)
		})
	})
	if err != nil {
		return nil, err
	}
	return report(&c), nil
}

// CheckCounts say what Verify looked at or Salvage wrote, as petal_check_counts.
type CheckCounts struct {
	Tables, Snapshots, Families, StoreFiles, DataBlocks, Cells uint64
	Logs, LogRecords, LogCells, Bytes, Faults, Harmless        uint64
}

// Verify checks all files of a database that nobody has open for writing. ErrCorrupt: the error is
// the first fault. The counts are there in any case.
func Verify(ctx context.Context, directory string) (CheckCounts, error) {
	return checked(ctx, directory, "")
}

// Salvage writes what is readable of a database that nobody has open into a new one.
func Salvage(ctx context.Context, directory, destination string) (CheckCounts, error) {
	if destination == "" {
		return CheckCounts{}, invalid("a destination is needed")
	}
	return checked(ctx, directory, destination)
}

func checked(ctx context.Context, directory, destination string) (CheckCounts, error) {
	var c C.petal_check_counts
	from, done, err := path(directory)
	if err != nil {
		return CheckCounts{}, err
	}
	defer done()
	to, done, err := path(destination)
	if err != nil {
		return CheckCounts{}, err
	}
	defer done()
	if destination == "" {
		to = nil
	}
	err = untilDone(ctx, func(stop unsafe.Pointer) error {
		return call(func(e *C.petal_error) C.enum_petal_status {
			return C.go_check(from, to, stop, &c, e)
		})
	})
	return CheckCounts{
		uint64(c.tables), uint64(c.snapshots), uint64(c.families), uint64(c.store_files),
		uint64(c.data_blocks), uint64(c.cells), uint64(c.logs), uint64(c.log_records),
		uint64(c.log_cells), uint64(c.bytes), uint64(c.faults), uint64(c.harmless),
	}, err
}

// Verify reads every block of the table's store files. ErrCorrupt: the error is the first fault.
func (t *Table) Verify(ctx context.Context) error {
	return untilDone(ctx, func(stop unsafe.Pointer) error {
		return t.db.do(func(e *C.petal_error) C.enum_petal_status {
			return C.go_table_verify(t.table, stop, e)
		})
	})
}
