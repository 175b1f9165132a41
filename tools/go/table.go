package petal

/*
#include "call.h"

// `table` NULL: make it, else alter it.
static enum petal_status
go_table(petal_db *db, petal_table *table, const petal_table_options *options, petal_table **made,
         petal_error *error)
{
    return table ? petal_table_alter(table, options, error)
                 : petal_table_create(db, options, made, error);
}
static enum petal_status
go_table_open(petal_db *db, const char *name, size_t size,
                                       petal_table **table, petal_error *error)
{
    return petal_table_open(db, (petal_slice){name, size}, table, error);
}
static enum petal_status
go_family(petal_table *table, const char *name, size_t size,
                                   petal_family **family, petal_error *error)
{
    return petal_table_family(table, (petal_slice){name, size}, family, error);
}

static bool
go_visit_table(void *argument, petal_table *table)
{
    return go_add(argument, petal_table_name(table));
}
static enum petal_status
go_table_list(petal_db *db, struct go_names *to, petal_error *error)
{
    enum petal_status status = petal_table_list(db, go_visit_table, to, error);
    return status ? status : go_added(to);
}
*/
import "C"

import (
	"strings"
	"unsafe"
)

// Bloom says which keys a store file's filter holds.
type Bloom int

// The Bloom filters; the zero value is BloomRow.
const (
	BloomNone      Bloom = C.PETAL_BLOOM_NONE
	BloomRow       Bloom = C.PETAL_BLOOM_ROW
	BloomRowCol    Bloom = C.PETAL_BLOOM_ROWCOL
	BloomRowRowCol Bloom = C.PETAL_BLOOM_ROW_ROWCOL
	BloomRowPrefix Bloom = C.PETAL_BLOOM_ROW_PREFIX // of BloomPrefixBytes
)

// BloomKind is what filters are made of.
type BloomKind int

// The kinds; the zero value is BloomBlocked.
const (
	BloomBlocked BloomKind = C.PETAL_BLOOM_KIND_BLOCKED
	BloomRibbon  BloomKind = C.PETAL_BLOOM_KIND_RIBBON
)

// Compression is the codec of a family's blocks.
type Compression int

// The codecs; the zero value is LZ4.
const (
	NoCompression Compression = C.PETAL_COMPRESSION_NONE
	LZ4           Compression = C.PETAL_COMPRESSION_LZ4
)

// KeepDeleted says what flushes and compactions do with deleted cells.
type KeepDeleted int

// The ways; the zero value is KeepDeletedFalse.
const (
	KeepDeletedFalse KeepDeleted = C.PETAL_KEEP_DELETED_FALSE
	KeepDeletedTrue  KeepDeleted = C.PETAL_KEEP_DELETED_TRUE
	KeepDeletedTTL   KeepDeleted = C.PETAL_KEEP_DELETED_TTL
)

// Forever as FamilyOptions.TTLSeconds is no time to live.
const Forever uint32 = C.PETAL_FOREVER

// FamilyOptions describe a column family, as petal_family_options. A zero field means the default.
type FamilyOptions struct {
	Name               string
	Versions           uint32
	MinVersions        uint32
	TTLSeconds         uint32
	KeepDeletedCells   KeepDeleted
	NewVersionBehavior bool
	BlockBytes         uint32
	Compression        Compression
	Bloom              Bloom
	BloomPrefixBytes   uint32
	BloomErrorRate     float64
	BloomRatePerFile   bool
	BloomKind          BloomKind
	InMemory           bool
	NoBlockCache       bool
}

// Table is a table; it needs no Close and is valid until the database's.
type Table struct {
	db    *DB
	table *C.petal_table
}

// Family is a column family of a table; it needs no Close.
type Family struct {
	db     *DB
	family *C.petal_family
}

func (db *DB) describe(table *C.petal_table, name string, splits [][]byte, families []FamilyOptions) (*Table, error) {
	names := [][]byte{[]byte(name)}
	for _, f := range families {
		names = append(names, []byte(f.Name))
	}
	size := uintptr(len(families)) * unsafe.Sizeof(C.petal_family_options{})
	m, err := room(size+uintptr(len(splits))*sliceSize, append(names, splits...)...)
	if err != nil {
		return nil, err
	}
	defer m.free()
	start := (*C.petal_family_options)(m.take(size))
	rows := m.slices(splits)
	given := C.petal_table_options{size: C.sizeof_petal_table_options, name: m.slice(names[0]),
		families: start, family_count: C.size_t(len(families)),
		splits: rows, split_count: C.size_t(len(splits))}
	for i, f := range families {
		unsafe.Slice(start, len(families))[i] = C.petal_family_options{
			size: C.sizeof_petal_family_options, name: m.slice(names[i+1]),
			versions: C.uint32_t(f.Versions), min_versions: C.uint32_t(f.MinVersions),
			ttl_seconds:          C.uint32_t(f.TTLSeconds),
			keep_deleted_cells:   C.enum_petal_keep_deleted(f.KeepDeletedCells),
			new_version_behavior: C.bool(f.NewVersionBehavior), block_bytes: C.uint32_t(f.BlockBytes),
			compression: C.enum_petal_compression(f.Compression), bloom: C.enum_petal_bloom_type(f.Bloom),
			bloom_prefix_bytes: C.uint32_t(f.BloomPrefixBytes), bloom_error_rate: C.double(f.BloomErrorRate),
			bloom_rate_per_file: C.bool(f.BloomRatePerFile), bloom_kind: C.enum_petal_bloom_kind(f.BloomKind),
			in_memory: C.bool(f.InMemory), no_block_cache: C.bool(f.NoBlockCache),
		}
	}
	return db.made(func(made **C.petal_table, e *C.petal_error) C.enum_petal_status {
		return C.go_table(db.db, table, &given, made, e)
	})
}

// Families returns the table's families in order of names, with defaults filled in.
func (t *Table) Families() ([]FamilyOptions, error) {
	var families []FamilyOptions
	err := t.db.do(func(*C.petal_error) C.enum_petal_status {
		found := C.petal_table_options{size: C.sizeof_petal_table_options}
		C.petal_table_describe(t.table, &found)
		for _, f := range unsafe.Slice(found.families, int(found.family_count)) {
			families = append(families, FamilyOptions{
				Name:     C.GoStringN((*C.char)(f.name.data), C.int(f.name.size)),
				Versions: uint32(f.versions), MinVersions: uint32(f.min_versions),
				TTLSeconds: uint32(f.ttl_seconds), KeepDeletedCells: KeepDeleted(f.keep_deleted_cells),
				NewVersionBehavior: bool(f.new_version_behavior), BlockBytes: uint32(f.block_bytes),
				Compression: Compression(f.compression), Bloom: Bloom(f.bloom),
				BloomPrefixBytes: uint32(f.bloom_prefix_bytes), BloomErrorRate: float64(f.bloom_error_rate),
				BloomRatePerFile: bool(f.bloom_rate_per_file), BloomKind: BloomKind(f.bloom_kind),
				InMemory: bool(f.in_memory), NoBlockCache: bool(f.no_block_cache),
			})
		}
		return C.PETAL_OK
	})
	return families, err
}

// CreateTable makes a table of at least one family. ErrExists: the name is taken.
func (db *DB) CreateTable(name string, families ...FamilyOptions) (*Table, error) {
	return db.describe(nil, name, nil, families)
}

// CreateSplitTable makes a table whose regions begin with these rows, and one before them.
func (db *DB) CreateSplitTable(name string, splits [][]byte, families ...FamilyOptions) (*Table, error) {
	return db.describe(nil, name, splits, families)
}

// made returns the table that the call finds or makes.
func (db *DB) made(f func(**C.petal_table, *C.petal_error) C.enum_petal_status) (*Table, error) {
	var table *C.petal_table
	err := db.do(func(e *C.petal_error) C.enum_petal_status { return f(&table, e) })
	if err != nil {
		return nil, err
	}
	return &Table{db, table}, nil
}

// Table finds a table; ErrNotFound if there is none.
func (db *DB) Table(name string) (*Table, error) {
	data, size := bytes([]byte(name))
	return db.made(func(table **C.petal_table, e *C.petal_error) C.enum_petal_status {
		return C.go_table_open(db.db, data, size, table, e)
	})
}

// names returns those that the call lists.
func (db *DB) names(f func(*C.struct_go_names, *C.petal_error) C.enum_petal_status) ([]string, error) {
	var names C.struct_go_names
	err := db.do(func(e *C.petal_error) C.enum_petal_status { return f(&names, e) })
	defer C.free(unsafe.Pointer(names.bytes))
	if err != nil || names.size == 0 {
		return nil, err
	}
	return strings.Split(C.GoStringN(names.bytes, C.int(names.size-1)), "\x00"), nil
}

// Tables returns the names of all tables, in order.
func (db *DB) Tables() ([]string, error) {
	return db.names(func(to *C.struct_go_names, e *C.petal_error) C.enum_petal_status {
		return C.go_table_list(db.db, to, e)
	})
}

// Alter makes the table's families those given: others are dropped with their data.
func (t *Table) Alter(families ...FamilyOptions) error {
	_, err := t.db.describe(t.table, "", nil, families)
	return err
}

// Drop drops the table with its data; calls on it return ErrNotFound afterwards.
func (t *Table) Drop() error {
	return t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_table_drop(t.table, e)
	})
}

// Truncate removes all cells and returns the new table; the old one behaves as after Drop.
func (t *Table) Truncate() (*Table, error) {
	return t.db.made(func(truncated **C.petal_table, e *C.petal_error) C.enum_petal_status {
		return C.petal_table_truncate(t.table, truncated, e)
	})
}

// Compact merges all store files of each family.
func (t *Table) Compact() error {
	return t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_compact(t.table, nil, e)
	})
}

// Family finds a family; ErrNotFound if the table has none of that name.
func (t *Table) Family(name string) (*Family, error) {
	data, size := bytes([]byte(name))
	var family *C.petal_family
	err := t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_family(t.table, data, size, &family, e)
	})
	if err != nil {
		return nil, err
	}
	return &Family{t.db, family}, nil
}
