// Package petal stores rows of typed cells, or plain keys and values, in a directory: Go's way to
// libpetal. petal.h says what each call promises; the names here are its names.
//
// Any number of goroutines may use a DB, its tables, families and maps, snapshots, scans, batches,
// transactions and bulk loads at once; in the last four they take turns. Every object may be used
// after its Close, or that of its database: the call then fails with ErrInvalid. Finalizers close
// what a program forgot; close objects yourself.
//
// Slices of bytes are borrowed for a call. Those that are returned belong to the caller.
package petal

// #include "call.h"
import "C"

import (
	"math"
	"runtime"
	"strings"
	"sync"
	"time"
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

// Options of a database, as petal_options has them. A zero field means the default.
type Options struct {
	Create             bool // make a database if the directory has none
	ErrorIfExists      bool // with Create
	ReadOnly           bool // beside a writer, of this or another process: see Refresh
	RefreshAtSnapshots bool // with ReadOnly: Snapshot begins with a Refresh
	MemoryBytes        uint64
	CacheBytes         uint64
	MemtableBytes      uint64
	OpenFiles          uint32
	NoCompaction       bool
	NoLogMapping       bool
	MapFiles           bool
	LogSyncInterval    time.Duration // negative: never
	Durability         Durability
	MaxRegionBytes     uint64 // of a family's store files in a region, which is split then
}

func (o *Options) c() C.petal_options {
	sync := C.uint32_t(C.PETAL_NEVER)
	if o.LogSyncInterval >= 0 && o.LogSyncInterval < math.MaxUint32*time.Millisecond {
		sync = C.uint32_t((o.LogSyncInterval + time.Millisecond - 1) / time.Millisecond)
	}
	return C.petal_options{
		size: C.sizeof_petal_options, create: C.bool(o.Create), error_if_exists: C.bool(o.ErrorIfExists),
		read_only: C.bool(o.ReadOnly), refresh_at_snapshots: C.bool(o.RefreshAtSnapshots),
		memory_bytes: C.size_t(o.MemoryBytes), cache_bytes: C.size_t(o.CacheBytes),
		memtable_bytes: C.size_t(o.MemtableBytes), open_files: C.uint32_t(o.OpenFiles),
		no_compaction: C.bool(o.NoCompaction), no_log_mapping: C.bool(o.NoLogMapping),
		map_files: C.bool(o.MapFiles), log_sync_interval_ms: sync,
		durability: C.enum_petal_durability(o.Durability), max_region_bytes: C.uint64_t(o.MaxRegionBytes),
	}
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
	name, done, err := path(directory)
	if err != nil {
		return nil, err
	}
	defer done()
	db := &DB{}
	given := options.c()
	var handle *C.petal_db
	err = call(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_open(name, &given, &handle, e)
	})
	if err != nil {
		return nil, err
	}
	db.db = handle
	runtime.SetFinalizer(db, func(db *DB) { db.Close() })
	return db, nil
}

// path returns the directory's name for C.
func path(directory string) (*C.char, func(), error) {
	if strings.IndexByte(directory, 0) >= 0 {
		return nil, nil, invalid("the directory's name has a zero byte")
	}
	name := C.CString(directory)
	return name, func() { C.free(unsafe.Pointer(name)) }, nil
}

// Close flushes and releases the database, after the calls that run. ErrBusy: snapshots, scans,
// transactions or bulks are open, and the database stays open. A second Close does nothing.
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

// Refresh shows what the writer has committed by now, if the database was opened with ReadOnly.
func (db *DB) Refresh() error {
	return db.do(func(e *C.petal_error) C.enum_petal_status { return C.petal_refresh(db.db, e) })
}

// WaitIdle waits until no flush and no compaction is due or running.
func (db *DB) WaitIdle() error {
	return db.do(func(e *C.petal_error) C.enum_petal_status { return C.petal_wait_idle(db.db, e) })
}

// Checkpoint copies the database, as it is at one moment, to a directory that must not exist.
func (db *DB) Checkpoint(directory string) error {
	name, done, err := path(directory)
	if err != nil {
		return err
	}
	defer done()
	return db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_checkpoint(db.db, name, e)
	})
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

// lock holds the snapshot for a call; nil: there is none. The caller unlocks what it got.
func (s *Snapshot) lock(db *DB, e *C.petal_error) (*C.petal_snapshot, C.enum_petal_status) {
	if s == nil {
		return nil, C.PETAL_OK
	}
	s.mutex.RLock()
	if s.handle == nil || s.db != db {
		s.mutex.RUnlock()
		return nil, refuse(e, "the snapshot is closed, or of another database")
	}
	return s.handle, C.PETAL_OK
}

func (s *Snapshot) unlock() {
	if s != nil {
		s.mutex.RUnlock()
	}
}

// memory is C's, for what a call takes that points to bytes: room made once, filled from the front.
type memory struct {
	start unsafe.Pointer
	used  uintptr
}

// room makes memory for structs of so many bytes, and then for bytes.
func room(size uintptr, slices ...[]byte) (*memory, error) {
	for _, s := range slices {
		size += uintptr(len(s))
	}
	m := &memory{start: C.calloc(1, C.size_t(size+1))}
	if m.start == nil {
		return nil, ErrNoMemory
	}
	return m, nil
}

func (m *memory) take(size uintptr) unsafe.Pointer {
	m.used += size
	return unsafe.Add(m.start, m.used-size)
}

func (m *memory) slice(b []byte) C.petal_slice {
	to := m.take(uintptr(len(b)))
	copy(unsafe.Slice((*byte)(to), len(b)), b)
	return C.petal_slice{data: to, size: C.size_t(len(b))}
}

// slices takes room for the array, then for the bytes.
func (m *memory) slices(list [][]byte) *C.petal_slice {
	start := (*C.petal_slice)(m.take(uintptr(len(list)) * sliceSize))
	for i, to := 0, unsafe.Slice(start, len(list)); i < len(list); i++ {
		to[i] = m.slice(list[i])
	}
	return start
}

const sliceSize = unsafe.Sizeof(C.petal_slice{})

func (m *memory) free() { C.free(m.start) }

// bytes returns what C takes for a slice. C's char has no pointers, so cgo needs no check, and the
// runtime keeps the bytes in place during the call.
func bytes(b []byte) (*C.char, C.size_t) {
	if len(b) == 0 {
		return nil, 0
	}
	return (*C.char)(unsafe.Pointer(&b[0])), C.size_t(len(b))
}
