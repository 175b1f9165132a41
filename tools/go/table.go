package petal

/*
#include <petal.h>
#include <stdlib.h>

struct go_family {
    const char *name;
    size_t name_size;
    uint32_t versions, min_versions, ttl_seconds, block_bytes;
    int bloom, compression;
    bool in_memory;
};

// One table from families in C's memory. `table` NULL: make it, else alter it.
static enum petal_status go_table(petal_db *db, petal_table *table, const char *name, size_t size,
                                  const struct go_family *from, size_t count, petal_table **made,
                                  petal_error *error)
{
    petal_family_options *families = calloc(count ? count : 1, sizeof *families);
    if (!families)
        return PETAL_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        families[i] = (petal_family_options){.size = sizeof *families,
            .name = {from[i].name, from[i].name_size}, .versions = from[i].versions,
            .min_versions = from[i].min_versions, .ttl_seconds = from[i].ttl_seconds,
            .block_bytes = from[i].block_bytes, .in_memory = from[i].in_memory,
            .bloom = (enum petal_bloom_type)from[i].bloom,
            .compression = (enum petal_compression)from[i].compression};
    petal_table_options options = {.size = sizeof options, .name = {name, size},
                                   .families = families, .family_count = count};
    enum petal_status status = table ? petal_table_alter(table, &options, error)
                                     : petal_table_create(db, &options, made, error);
    free(families);
    return status;
}
static enum petal_status go_table_open(petal_db *db, const char *name, size_t size,
                                       petal_table **table, petal_error *error)
{
    return petal_table_open(db, (petal_slice){name, size}, table, error);
}
static enum petal_status go_family(petal_table *table, const char *name, size_t size,
                                   petal_family **family, petal_error *error)
{
    return petal_table_family(table, (petal_slice){name, size}, family, error);
}

struct go_tables {
    petal_table **tables;
    size_t count;
    bool failed;
};
static bool go_visit(void *argument, petal_table *table)
{
    struct go_tables *t = argument;
    petal_table **more = realloc(t->tables, (t->count + 1) * sizeof *more);
    t->failed = !more;
    if (more) {
        t->tables = more;
        more[t->count++] = table;
    }
    return more != NULL;
}
static enum petal_status go_list(petal_db *db, petal_table ***tables, size_t *count,
                                 petal_error *error)
{
    struct go_tables t = {NULL, 0, false};
    enum petal_status status = petal_table_list(db, go_visit, &t, error);
    *tables = t.tables;
    *count = t.count;
    return status ? status : t.failed ? PETAL_NO_MEMORY : PETAL_OK;
}
*/
import "C"

import "unsafe"

// Bloom says which keys a store file's filter holds.
type Bloom int

// The Bloom filters; the zero value is BloomRow.
const (
	BloomNone      Bloom = C.PETAL_BLOOM_NONE
	BloomRow       Bloom = C.PETAL_BLOOM_ROW
	BloomRowCol    Bloom = C.PETAL_BLOOM_ROWCOL
	BloomRowRowCol Bloom = C.PETAL_BLOOM_ROW_ROWCOL
)

// Compression is the codec of a family's blocks.
type Compression int

// The codecs; the zero value is LZ4.
const (
	NoCompression Compression = C.PETAL_COMPRESSION_NONE
	LZ4           Compression = C.PETAL_COMPRESSION_LZ4
)

// FamilyOptions describe a column family. A zero field means the default of petal_family_options.
type FamilyOptions struct {
	Name        string
	Versions    uint32
	MinVersions uint32
	TTLSeconds  uint32
	BlockBytes  uint32
	Bloom       Bloom
	Compression Compression
	InMemory    bool
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

func (db *DB) describe(table *C.petal_table, name string, families []FamilyOptions) (*Table, error) {
	size := C.size_t(unsafe.Sizeof(C.struct_go_family{}))
	memory := C.calloc(C.size_t(len(families)+1), size)
	if memory == nil {
		return nil, ErrNoMemory
	}
	defer C.free(memory)
	list := unsafe.Slice((*C.struct_go_family)(memory), len(families))
	for i, f := range families {
		list[i] = C.struct_go_family{
			name: C.CString(f.Name), name_size: C.size_t(len(f.Name)),
			versions: C.uint32_t(f.Versions), min_versions: C.uint32_t(f.MinVersions),
			ttl_seconds: C.uint32_t(f.TTLSeconds), block_bytes: C.uint32_t(f.BlockBytes),
			bloom: C.int(f.Bloom), compression: C.int(f.Compression), in_memory: C.bool(f.InMemory),
		}
		defer C.free(unsafe.Pointer(list[i].name))
	}
	data, length := bytes([]byte(name))
	made := table
	err := db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_table(db.db, table, data, length, (*C.struct_go_family)(memory),
			C.size_t(len(families)), &made, e)
	})
	if err != nil {
		return nil, err
	}
	return &Table{db, made}, nil
}

// CreateTable makes a table of at least one family. ErrExists: the name is taken.
func (db *DB) CreateTable(name string, families ...FamilyOptions) (*Table, error) {
	return db.describe(nil, name, families)
}

// Table finds a table; ErrNotFound if there is none.
func (db *DB) Table(name string) (*Table, error) {
	t := &Table{db: db}
	data, size := bytes([]byte(name))
	var table *C.petal_table
	err := db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.go_table_open(db.db, data, size, &table, e)
	})
	if err != nil {
		return nil, err
	}
	t.table = table
	return t, nil
}

// Tables returns the names of all tables, in order.
func (db *DB) Tables() ([]string, error) {
	var tables **C.petal_table
	var count C.size_t
	var names []string
	err := db.do(func(e *C.petal_error) C.enum_petal_status {
		status := C.go_list(db.db, &tables, &count, e)
		for _, t := range unsafe.Slice(tables, int(count)) {
			name := C.petal_table_name(t)
			names = append(names, C.GoStringN((*C.char)(name.data), C.int(name.size)))
		}
		return status
	})
	C.free(unsafe.Pointer(tables))
	if err != nil {
		return nil, err
	}
	return names, nil
}

// Alter makes the table's families those given: others are dropped with their data.
func (t *Table) Alter(families ...FamilyOptions) error {
	_, err := t.db.describe(t.table, "", families)
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
	var truncated *C.petal_table
	err := t.db.do(func(e *C.petal_error) C.enum_petal_status {
		return C.petal_table_truncate(t.table, &truncated, e)
	})
	if err != nil {
		return nil, err
	}
	return &Table{t.db, truncated}, nil
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
