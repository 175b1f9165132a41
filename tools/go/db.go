// Package petal stores rows of typed cells, or plain keys and values, in a directory: Go's way to
// libpetal. petal.h says what each call promises; the names here are its names.
//
// Any number of goroutines may use a DB, its tables, families and maps, snapshots, scans and
// batches at once. Every object may be used after its Close, or that of its database: the call
// then fails with ErrInvalid. Finalizers close what a program forgot; close objects yourself.
//
// Slices of bytes are borrowed for a call. Those that are returned belong to the caller.
package petal

/*
#include <petal.h>
#include <stdlib.h>

static enum petal_status go_open(const char *directory, bool create, bool error_if_exists,
                                 bool read_only, size_t memory, bool no_compaction, int durability,
                                 petal_db **db, petal_error *error)
{
    petal_options options = {.size = sizeof options, .create = create,
        .error_if_exists = error_if_exists, .read_only = read_only, .memory_bytes = memory,
        .no_compaction = no_compaction, .durability = (enum petal_durability)durability};
    return petal_open(directory, &options, db, error);
}
*/
import "C"

import (
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// Durability says what a write survives before it returns.
type Durability int

// The durabilities; the zero value is the table's, or the database's.
const (
	DefaultDurability Durability = C.PETAL_DURABILITY_DEFAULT
	SkipWAL           Durability = C.PETAL_SKIP_WAL
	AsyncWAL          Durability = C.PETAL_ASYNC_WAL
	SyncWAL           Durability = C.PETAL_SYNC_WAL
	FsyncWAL          Durability = C.PETAL_FSYNC_WAL
)

// Options of a database. A zero field means the default that petal_options has.
type Options struct {
	Create        bool // make a database if the directory has none
	ErrorIfExists bool // with Create
	ReadOnly      bool
	MemoryBytes   uint64
	NoCompaction  bool
	Durability    Durability
}

// DB is an open database.
type DB struct {
	// Held for reading by every call, for writing by Close: no call meets a closed database.
	mutex sync.RWMutex
	db    *C.petal_db
	spare struct {
		sync.Mutex
		results []*result
	}
}

// Version returns the library's version.
func Version() string { return C.GoString(C.petal_version()) }

// Open opens the database in the directory; nil options are all defaults.
func Open(directory string, options *Options) (*DB, error) {
	if options == nil {
		options = &Options{}
	}
	if strings.IndexByte(directory, 0) >= 0 {
		return nil, invalid("the directory's name has a zero byte")
	}
	name := C.CString(directory)
	defer C.free(unsafe.Pointer(name))
	db := &DB{}
	var handle *C.petal_db
	err := call(func(e *C.petal_error) C.enum_petal_status {
		return C.go_open(name, C.bool(options.Create), C.bool(options.ErrorIfExists),
			C.bool(options.ReadOnly), C.size_t(options.MemoryBytes), C.bool(options.NoCompaction),
			C.int(options.Durability), &handle, e)
	})
	if err != nil {
		return nil, err
	}
	db.db = handle
	runtime.SetFinalizer(db, func(db *DB) { db.Close() })
	return db, nil
}

// Close flushes and releases the database, after the calls that run. ErrBusy: snapshots or scans
// are open, and the database stays open. A second Close does nothing.
func (db *DB) Close() error {
	db.mutex.Lock()
	defer db.mutex.Unlock()
	if db.db == nil {
		return nil
	}
	err := call(func(e *C.petal_error) C.enum_petal_status { return C.petal_close(db.db, e) })
	if e, ok := err.(*Error); ok && e.Status == ErrBusy {
		return err
	}
	db.db = nil
	for _, r := range db.spare.results {
		r.free()
	}
	db.spare.results = nil
	runtime.SetFinalizer(db, nil)
	return err
}

// do makes a call on the open database.
func (db *DB) do(f func(*C.petal_error) C.enum_petal_status) error {
	db.mutex.RLock()
	defer db.mutex.RUnlock()
	if db.db == nil {
		return invalid("the database is closed")
	}
	return call(f)
}

// Flush writes all memtables to store files.
func (db *DB) Flush() error {
	return db.do(func(e *C.petal_error) C.enum_petal_status { return C.petal_flush(db.db, nil, e) })
}

// Checkpoint copies the database, as it is at one moment, to a directory that must not exist.
func (db *DB) Checkpoint(directory string) error {
	if strings.IndexByte(directory, 0) >= 0 {
		return invalid("the directory's name has a zero byte")
	}
	name := C.CString(directory)
	defer C.free(unsafe.Pointer(name))
	return db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_checkpoint(db.db, name, e)
	})
}

// Stats returns the statistics in Prometheus' text format.
func (db *DB) Stats() (string, error) {
	var text *C.char
	var size C.size_t
	err := db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_stats_text(db.db, C.PETAL_PROMETHEUS, &text, &size, e)
	})
	if err != nil {
		return "", err
	}
	defer C.petal_stats_text_free(text)
	return C.GoStringN(text, C.int(size)), nil
}

// Snapshot is a read point.
type Snapshot struct {
	db     *DB
	mutex  sync.RWMutex
	handle *C.petal_snapshot
}

// Snapshot makes a read point, to be closed before the database.
func (db *DB) Snapshot() (*Snapshot, error) {
	var handle *C.petal_snapshot
	err := db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_snapshot_new(db.db, &handle, e)
	})
	if err != nil {
		return nil, err
	}
	s := &Snapshot{db: db, handle: handle}
	runtime.SetFinalizer(s, func(s *Snapshot) { s.Close() })
	return s, nil
}

// Close frees the snapshot, after the calls that read it.
func (s *Snapshot) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	C.petal_snapshot_free(s.handle)
	s.handle = nil
	runtime.SetFinalizer(s, nil)
	return nil
}

// bytes returns what C takes for a slice. C's char has no pointers, so cgo needs no check, and the
// runtime keeps the bytes in place during the call.
func bytes(b []byte) (*C.char, C.size_t) {
	if len(b) == 0 {
		return nil, 0
	}
	return (*C.char)(unsafe.Pointer(&b[0])), C.size_t(len(b))
}
