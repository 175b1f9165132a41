package petal

// #include "call.h"
import "C"

import "unsafe"

// Stats are petal_stats of petal.h, where each field is explained: counters since Open, and below
// them the state of now. The arrays are of data, index and filter blocks.
type Stats struct {
	Gets, MemtablesConsidered, MemtablesSkipped, FilesConsidered         uint64
	SkippedFoundNewer, SkippedRowRange, SkippedTimeRange, SkippedExpired uint64
	SkippedColumns, SkippedBloom, FilesRead                              uint64
	FilterProbes, FilterNegatives, FilterUnasked, FilterFalsePositives   uint64
	ScanSeeks, ScanSeeksSaved, ScanCells                                 uint64
	DataCached, DataFetched, IndexCached, IndexFetched                   uint64
	FilterCached, FilterFetched, BytesFetched, FileReads, FileBytesRead  uint64
	CellsWritten, BatchesWritten, WriteGroups, LogBytes, LogSyncs        uint64
	Flushes, FlushCells, FlushBytes                                      uint64
	Compactions, CompactionCellsIn, CompactionCellsOut                   uint64
	CompactionBytesIn, CompactionBytesOut                                uint64
	DroppedMasked, DroppedSuperseded, DroppedSurplus, DroppedExpired     uint64
	DroppedMarkers, ExpiredFiles, BackgroundFailures                     uint64
	DelayedWrites, DelayUs, StoppedWrites, StopUs                        uint64
	CacheCapacity                                                        uint64
	CacheBytes, CacheBlocks, CacheInserted, CacheEvicted                 [C.PETAL_BLOCK_KINDS]uint64
	MemoryLimit, MemtableMemory, FileMemory                              uint64
	FlushesWaiting, CompactionsRunning, CompactingCells, CompactingDone  uint64
	ReadOnly                                                             bool
	BackgroundError                                                      error // nil: none
}

// The numbers are laid out as C's; this does not compile when there is another number of them.
const (
	statsNumbers = unsafe.Offsetof(Stats{}.ReadOnly)
	_            = statsNumbers - unsafe.Offsetof(C.petal_stats{}.read_only)
	_            = unsafe.Offsetof(C.petal_stats{}.read_only) - statsNumbers
)

// Stats returns the statistics, as of about now.
func (db *DB) Stats() (*Stats, error) {
	var c C.petal_stats
	err := db.do(func(*C.petal_error) C.enum_petal_status {
		C.petal_stats_get(db.db, &c)
		return C.PETAL_OK
	})
	if err != nil {
		return nil, err
	}
	s := &Stats{ReadOnly: bool(c.read_only)}
	copy((*[statsNumbers]byte)(unsafe.Pointer(s))[:], (*[statsNumbers]byte)(unsafe.Pointer(&c))[:])
	if c.background_error.status != C.PETAL_OK {
		s.BackgroundError = failure(c.background_error.status, &c.background_error)
	}
	return s, nil
}

// StatsText returns the statistics in Prometheus' text format.
func (db *DB) StatsText() (string, error) {
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
