package petal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

func keys(prefix string, count int) [][]byte {
	list := make([][]byte, count)
	for i := range list {
		list[i] = []byte(fmt.Sprintf("%s%04d", prefix, i))
	}
	return list
}

func rowsOf(t *testing.T, table *Table, o *ScanOptions) (rows []string) {
	t.Helper()
	scan, err := table.Scan(background, o)
	must(t, err)
	defer scan.Close()
	for scan.Next() {
		rows = append(rows, string(scan.Cell().Row))
	}
	must(t, scan.Err())
	return rows
}

func TestMultiGet(t *testing.T) {
	db, table, f := opened(t)
	m, err := db.KV("m")
	must(t, err)
	list := keys("r", 100)
	for _, key := range list[:50] {
		must(t, f.Put(background, key, []byte("q"), Latest, key, nil))
		must(t, m.Put(key, key[:0]))
	}
	s, err := db.Snapshot()
	must(t, err)
	defer s.Close()
	must(t, m.Put(list[0], []byte("new")))
	rows, err := table.MultiGet(background, list, &ReadOptions{Snapshot: s})
	must(t, err)
	values, err := m.MultiGet(background, list, s)
	must(t, err)
	for i := range list {
		if i < 50 && (len(rows[i]) != 1 || string(rows[i][0].Value) != string(list[i]) || values[i] == nil || len(values[i]) > 0) {
			t.Fatal(i, rows[i], values[i])
		}
		if i >= 50 && (len(rows[i]) > 0 || values[i] != nil) {
			t.Fatal(i, rows[i], values[i])
		}
	}
	if rows, err = table.MultiGet(background, nil, nil); err != nil || len(rows) > 0 {
		t.Fatal(rows, err)
	}
	_, err = table.MultiGet(background, [][]byte{{}}, nil)
	is(t, err, ErrInvalid)
}

func TestReadOptions(t *testing.T) {
	_, table, f := opened(t)
	must(t, table.Alter(FamilyOptions{Name: "f", Versions: 9}, FamilyOptions{Name: "g"}))
	g, err := table.Family("g")
	must(t, err)
	row := []byte("r")
	for at := int64(1); at <= 5; at++ {
		for _, q := range []string{"", "a", "b"} {
			must(t, f.Put(background, row, []byte(q), at, []byte(fmt.Sprint(at)), nil))
		}
	}
	must(t, g.Put(background, row, []byte("c"), 9, []byte("9"), nil))
	for _, c := range []struct {
		o    ReadOptions
		want string
	}{
		{ReadOptions{}, "f:5 f:a5 f:b5 g:c9"},
		{ReadOptions{Columns: []Column{{f, []byte{}}, {g, nil}}}, "f:5 g:c9"},
		{ReadOptions{Columns: []Column{{f, []byte("a")}, {f, []byte("b")}}, Versions: 2}, "f:a5 f:a4 f:b5 f:b4"},
		{ReadOptions{TimeMin: 2, TimeLimit: 4}, "f:3 f:a3 f:b3"},
		{ReadOptions{TimeMin: 9}, "g:c9"},
		{ReadOptions{Filter: "QualifierFilter(=, 'binary:b')"}, "f:b5"},
		{ReadOptions{CellLimit: 1, CellOffset: 1}, "f:a5"},
	} {
		cells, err := table.Get(background, row, &c.o)
		must(t, err)
		var got []string
		for _, cell := range cells {
			got = append(got, fmt.Sprintf("%s:%s%d", cell.Family, cell.Qualifier, cell.Timestamp))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %s, not %s", c.o, got, c.want)
		}
	}
	_, err = table.Get(background, row, &ReadOptions{Columns: []Column{{nil, row}}})
	is(t, err, ErrInvalid)
	_, err = table.Get(background, row, &ReadOptions{Filter: "("})
	is(t, err, ErrInvalid)
}

func TestSeek(t *testing.T) {
	_, table, f := opened(t)
	for _, key := range keys("r", 500) {
		put(t, f, string(key), "v")
	}
	scan, err := table.Scan(background, &ScanOptions{Start: []byte("r0100"), Stop: []byte("r0400")})
	must(t, err)
	for _, c := range [][2]string{{"r0300", "r0300"}, {"r02999", "r0300"}, {"r0001", "r0100"}, {"r0400", ""}, {"r0399", "r0399"}} {
		must(t, scan.Seek([]byte(c[0]), nil, nil))
		scan.Next()
		if got := string(scan.Cell().Row); got != c[1] {
			t.Fatalf("%s is not %s", got, c[1])
		}
	}
	if scan.Next() {
		t.Fatal("past the end")
	}
	must(t, scan.Seek([]byte("r0200"), f, []byte("r")))
	if !scan.Next() || string(scan.Cell().Row) != "r0201" {
		t.Fatal(string(scan.Cell().Row))
	}
	must(t, scan.Close())
	is(t, scan.Seek([]byte("r"), nil, nil), ErrInvalid)
}

func TestDeleteRows(t *testing.T) {
	db, table, f := opened(t)
	m, err := db.KV("m")
	must(t, err)
	for _, key := range append(keys("r", 3000), []byte("s")) {
		put(t, f, string(key), "v")
		must(t, m.Put(key, nil))
	}
	done, err := table.DeleteRows(background, &DeleteRowsOptions{From: []byte("r1"), To: []byte("r2")})
	if err != nil || done.Rows != 1000 || done.Next != nil {
		t.Fatal(done, err)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	_, err = table.DeleteRows(ctx, &DeleteRowsOptions{Prefix: []byte("r")})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if done, err = table.DeleteRows(background, &DeleteRowsOptions{Prefix: []byte("r")}); err != nil || done.Rows != 2000 {
		t.Fatal(done, err)
	}
	if rows := rowsOf(t, table, nil); len(rows) != 1 || rows[0] != "s" {
		t.Fatal(rows)
	}
	if done, err = table.DeleteRows(background, &DeleteRowsOptions{Columns: []Column{{f, []byte("q")}}}); err != nil || done.Rows != 1 {
		t.Fatal(done, err)
	}
	if done, err = m.DeleteRange(background, nil, []byte("s")); err != nil || done.Rows != 3000 {
		t.Fatal(done, err)
	}
	if rows := rowsOf(t, m.Table(), nil); len(rows) != 1 || rows[0] != "s" {
		t.Fatal(rows)
	}
	_, err = m.DeleteRange(background, make([]byte, 40000), nil)
	is(t, err, ErrInvalid)
}

// A call that runs ends with its context, and can go on.
func TestCancelledWhileItRuns(t *testing.T) {
	_, table, f := opened(t)
	for turn := 0; ; turn++ {
		for _, key := range keys("r", 5000) {
			put(t, f, string(key), "v")
		}
		ctx, cancel := context.WithCancel(background)
		go func() {
			time.Sleep(time.Duration(turn*10) * time.Microsecond)
			cancel()
		}()
		first, err := table.DeleteRows(ctx, &DeleteRowsOptions{Prefix: []byte("r")})
		cancel()
		if err == nil && turn < 500 {
			continue
		}
		if err != context.Canceled {
			t.Fatal(err)
		}
		rest, err := table.DeleteRows(background, &DeleteRowsOptions{From: first.Next})
		if err != nil || first.Rows+rest.Rows != 5000 {
			t.Fatal(first.Rows, rest.Rows, err)
		}
		if first.Next != nil {
			break
		}
	}
}

func TestTimesToLive(t *testing.T) {
	db, table, f := opened(t)
	m, err := db.KV("m")
	must(t, err)
	b, err := db.Batch()
	must(t, err)
	defer b.Close()
	now := time.Now().UnixMilli()
	for _, ttl := range []time.Duration{time.Hour, -time.Hour} {
		must(t, f.Put(background, []byte(fmt.Sprint("put", ttl)), []byte("q"), now, nil, &WriteOptions{TTL: ttl}))
		must(t, m.PutWith(background, []byte(fmt.Sprint("put", ttl)), nil, &WriteOptions{TTL: ttl}))
		must(t, b.Mutation(ttl))
		must(t, b.Put(f, []byte(fmt.Sprint("batch", ttl)), []byte("q"), now, nil))
	}
	must(t, b.Write(background, nil))
	if rows := strings.Join(rowsOf(t, table, nil), " "); rows != "batch1h0m0s put1h0m0s" {
		t.Fatal(rows)
	}
	if rows := strings.Join(rowsOf(t, m.Table(), nil), " "); rows != "put1h0m0s" {
		t.Fatal(rows)
	}
	cells, err := table.Get(background, []byte("put1h0m0s"), nil)
	if err != nil || cells[0].TTL != time.Hour {
		t.Fatal(cells, err)
	}
	if life(1) != 1 || life(time.Millisecond) != 1 || life(-time.Millisecond) != -1 {
		t.Fatal("a time to live is cut short")
	}
}

func TestBatchOfAllKinds(t *testing.T) {
	db, table, f := opened(t)
	m, err := db.KV("m")
	must(t, err)
	b, err := db.Batch()
	must(t, err)
	defer b.Close()
	put(t, f, "gone", "v")
	must(t, m.Put([]byte("gone"), nil))
	must(t, b.Append(f, []byte("a"), []byte("q"), []byte("x")))
	must(t, b.Increment(f, []byte("i"), []byte("q"), 7))
	must(t, b.DeleteRow(table, []byte("gone"), Latest))
	must(t, b.PutKey(m, []byte("k"), []byte("v")))
	must(t, b.DeleteKey(m, []byte("gone")))
	must(t, b.Write(background, nil))
	if rows := strings.Join(rowsOf(t, table, nil), " "); rows != "a i" {
		t.Fatal(rows)
	}
	if rows := strings.Join(rowsOf(t, m.Table(), nil), " "); rows != "k" {
		t.Fatal(rows)
	}
}

func TestConditions(t *testing.T) {
	db, table, f := opened(t)
	must(t, f.Put(background, []byte("r"), []byte("q"), 5, []byte("m"), nil))
	b, err := db.Batch()
	must(t, err)
	defer b.Close()
	must(t, b.Put(f, []byte("r"), []byte("done"), Latest, nil))
	q := []byte("q")
	for i, c := range []struct {
		condition *Condition
		want      bool
	}{
		{nil, true},
		{&Condition{Family: f, Qualifier: q, Value: []byte("m")}, true},
		{&Condition{Family: f, Qualifier: q, Compare: Less, Value: []byte("l")}, true},
		{&Condition{Family: f, Qualifier: q, Compare: Greater, Value: []byte("l")}, false},
		{&Condition{Family: f, Qualifier: q, Compare: NotEqual, Value: []byte("m")}, false},
		{&Condition{Family: f, Qualifier: []byte("none"), Absent: true}, true},
		{&Condition{Family: f, Qualifier: q, Value: []byte("m"), TimeLimit: 5}, false},
		{&Condition{Filter: "ValueFilter(=, 'binary:m')"}, true},
		{&Condition{Filter: "ValueFilter(=, 'binary:n')"}, false},
	} {
		applied, err := table.CheckAndMutate(background, []byte("r"), c.condition, b, nil)
		if err != nil || applied != c.want {
			t.Errorf("%d: %v %v", i, applied, err)
		}
	}
	for _, wrong := range []*Condition{{}, {Filter: "("}, {Family: f, Absent: true, Value: q}} {
		_, err := table.CheckAndMutate(background, []byte("r"), wrong, b, nil)
		is(t, err, ErrInvalid)
	}
}

func TestBulk(t *testing.T) {
	db, table, f := opened(t)
	put(t, f, "r0000", "old")
	for _, below := range []bool{false, true} {
		bulk, err := table.Bulk(&BulkOptions{Below: below})
		must(t, err)
		for _, row := range keys("r", 1000) {
			must(t, bulk.Add(f, Cell{Row: row, Qualifier: []byte("b"), Timestamp: 7, Type: TypePut, Value: row, TTL: 1000 * time.Hour}))
		}
		is(t, db.Close(), ErrBusy)
		if !below {
			must(t, bulk.Close())
			if rows := rowsOf(t, table, nil); len(rows) != 1 {
				t.Fatal(rows)
			}
			continue
		}
		must(t, bulk.Commit())
		must(t, bulk.Close())
		is(t, bulk.Commit(), ErrInvalid)
	}
	// Past their time to live, which counts from timestamp 7.
	if rows := rowsOf(t, table, nil); len(rows) != 1 {
		t.Fatal(len(rows))
	}
	bulk, err := table.Bulk(nil)
	must(t, err)
	now := time.Now().UnixMilli()
	for _, row := range keys("r", 1000) {
		must(t, bulk.Add(f, Cell{Row: row, Qualifier: []byte("b"), Timestamp: now, Type: TypePut, Value: row}))
	}
	must(t, bulk.Commit())
	must(t, bulk.Close())
	if rows := rowsOf(t, table, nil); len(rows) != 1001 {
		t.Fatal(len(rows))
	}
	bulk, err = table.Bulk(nil)
	must(t, err)
	defer bulk.Close()
	must(t, bulk.Add(f, Cell{Row: []byte("b"), Timestamp: 1, Type: TypePut}))
	is(t, bulk.Add(f, Cell{Row: []byte("a"), Timestamp: 1, Type: TypePut}), ErrInvalid)
}

func TestReadingBesideAWriter(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "db")
	db, err := Open(directory, &Options{Create: true, LogSyncInterval: -1, MemtableBytes: 1 << 20, CacheBytes: 1 << 20})
	must(t, err)
	defer db.Close()
	m, err := db.KV("m")
	must(t, err)
	must(t, m.Put([]byte("k"), []byte("1")))
	reader, err := Open(directory, &Options{ReadOnly: true})
	must(t, err)
	defer reader.Close()
	other, err := Open(directory, &Options{ReadOnly: true, RefreshAtSnapshots: true})
	must(t, err)
	defer other.Close()
	must(t, m.Put([]byte("k"), []byte("2")))
	look := func(db *DB, want string) {
		t.Helper()
		m, err := db.KV("m")
		must(t, err)
		if value, _, err := m.Get([]byte("k")); err != nil || string(value) != want {
			t.Fatal(string(value), err)
		}
	}
	look(reader, "1")
	must(t, reader.Refresh())
	look(reader, "2")
	look(other, "1")
	s, err := other.Snapshot()
	must(t, err)
	must(t, s.Close())
	look(other, "2")
	must(t, db.Refresh())
	must(t, db.WaitIdle())
}

func TestFiles(t *testing.T) {
	db, table, f := opened(t)
	put(t, f, "r", "v")
	folder := t.TempDir()
	backup, made, saved := filepath.Join(folder, "backup"), filepath.Join(folder, "made"), filepath.Join(folder, "saved")
	report, err := db.Backup(background, backup, nil)
	if err != nil || report.Files != 1 || time.Since(report.State) > time.Minute {
		t.Fatal(report, err)
	}
	if report, err = db.Backup(background, backup, &BackupOptions{Copy: true}); err != nil || report.Skipped != 1 {
		t.Fatal(report, err)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err = db.Backup(ctx, backup, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if report, err = Restore(background, backup, made, false); err != nil || report.Copied != 1 {
		t.Fatal(report, err)
	}
	_, err = Restore(background, backup, made, false)
	is(t, err, ErrExists)
	_, err = Restore(background, backup, made, true)
	must(t, err)
	counts, err := Verify(background, made)
	if err != nil || counts.Tables != 1 || counts.Faults != 0 {
		t.Fatal(counts, err)
	}
	must(t, table.Verify(background))
	stores, _ := filepath.Glob(filepath.Join(made, "*.sst"))
	must(t, os.Truncate(stores[0], 100))
	counts, err = Verify(background, made)
	is(t, err, ErrCorrupt)
	var e *Error
	if !errors.As(err, &e) || !strings.HasSuffix(e.File, filepath.Base(stores[0])) || counts.Faults == 0 {
		t.Fatalf("%#v %v", e, counts)
	}
	counts, err = Salvage(background, backup, saved)
	if err != nil || counts.Cells != 1 {
		t.Fatal(counts, err)
	}
	_, err = Salvage(background, backup, "")
	is(t, err, ErrInvalid)
}

func TestStats(t *testing.T) {
	db, table, f := opened(t)
	put(t, f, "r", "v")
	value(t, table, nil)
	must(t, db.Flush())
	s, err := db.Stats()
	must(t, err)
	if s.Gets != 1 || s.CellsWritten != 1 || s.Flushes != 1 || s.MemoryLimit != 64<<20 || s.ReadOnly || s.BackgroundError != nil {
		t.Fatalf("%+v", s)
	}
	// The fields are those of the header, in its order.
	header, err := os.ReadFile("../../engine/petal.h")
	must(t, err)
	text := string(header)
	names := regexp.MustCompile(`(?m)^    X\((\w+),`).FindAllStringSubmatch(text[strings.Index(text, "#define PETAL_STATS_MAP"):strings.Index(text, "typedef struct petal_stats {")], -1)
	var want []string
	for _, name := range names {
		want = append(want, name[1])
	}
	text = text[strings.Index(text, "uint64_t cache_capacity;"):strings.Index(text, "} petal_stats;")]
	for _, line := range regexp.MustCompile(`(?:uint64_t|bool|petal_error)\s+([^;]+);`).FindAllStringSubmatch(text, -1) {
		for _, name := range strings.Split(line[1], ",") {
			want = append(want, strings.TrimSpace(regexp.MustCompile(`\[.*`).ReplaceAllString(name, "")))
		}
	}
	kind := reflect.TypeOf(Stats{})
	for i := 0; i < kind.NumField() || i < len(want); i++ {
		if i >= kind.NumField() || i >= len(want) || !strings.EqualFold(kind.Field(i).Name, strings.ReplaceAll(want[i], "_", "")) {
			t.Fatal("Stats differs from petal_stats at field ", i)
		}
	}
}

func TestFamilies(t *testing.T) {
	db, _, _ := opened(t)
	want := FamilyOptions{
		Name: "all", Versions: 5, MinVersions: 2, TTLSeconds: 100, KeepDeletedCells: KeepDeletedTTL,
		NewVersionBehavior: true, BlockBytes: 8192, Compression: NoCompression, Bloom: BloomRowPrefix,
		BloomPrefixBytes: 3, BloomErrorRate: 0.02, BloomRatePerFile: true, BloomKind: BloomRibbon,
		InMemory: true, NoBlockCache: true,
	}
	table, err := db.CreateTable("all", FamilyOptions{Name: "other"}, want)
	must(t, err)
	families, err := table.Families()
	if err != nil || len(families) != 2 || families[0] != want {
		t.Fatalf("%+v %v", families, err)
	}
	if o := families[1]; o.Versions != 1 || o.TTLSeconds != Forever || o.Bloom != BloomRow || o.Compression != LZ4 {
		t.Fatalf("%+v", o)
	}
	must(t, table.Alter(families[1]))
	if families, err = table.Families(); err != nil || len(families) != 1 {
		t.Fatal(families, err)
	}
}

func TestSnapshotsOnDisk(t *testing.T) {
	db, table, f := opened(t)
	put(t, f, "r", "old")
	must(t, table.CreateSnapshot("s", &SnapshotOptions{TTL: time.Hour}))
	must(t, table.CreateSnapshot("empty", nil))
	is(t, table.CreateSnapshot("s", nil), ErrExists)
	put(t, f, "r", "new")
	names, err := db.Snapshots()
	if err != nil || strings.Join(names, " ") != "empty s" {
		t.Fatal(names, err)
	}
	clone, err := db.CloneSnapshot("s", "clone")
	must(t, err)
	if value(t, clone, nil) != "old" || value(t, table, nil) != "new" {
		t.Fatal(value(t, clone, nil))
	}
	restored, err := db.RestoreSnapshot("s")
	must(t, err)
	if value(t, restored, nil) != "old" {
		t.Fatal(value(t, restored, nil))
	}
	must(t, db.DeleteSnapshot("s"))
	is(t, db.DeleteSnapshot("s"), ErrNotFound)
	_, err = db.CloneSnapshot("s", "other")
	is(t, err, ErrNotFound)
	if names, err = db.Tables(); err != nil || strings.Join(names, " ") != "clone t" {
		t.Fatal(names, err)
	}
}
