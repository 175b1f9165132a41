package petal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var background = context.Background()

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func is(t *testing.T, err error, status Status) {
	t.Helper()
	if !errors.Is(err, status) {
		t.Fatalf("%v is not %q", err, status.Error())
	}
}

func opened(t *testing.T) (*DB, *Table, *Family) {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "db"), &Options{Create: true})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	table, err := db.CreateTable("t", FamilyOptions{Name: "f"})
	must(t, err)
	family, err := table.Family("f")
	must(t, err)
	return db, table, family
}

func put(t *testing.T, f *Family, row, value string) {
	t.Helper()
	must(t, f.Put(background, []byte(row), []byte("q"), Latest, []byte(value), nil))
}

func value(t *testing.T, table *Table, o *ReadOptions) string {
	t.Helper()
	cells, err := table.Get(background, []byte("r"), o)
	must(t, err)
	if len(cells) == 0 {
		return "-"
	}
	return string(cells[0].Value)
}

func TestErrorsHaveStatusFileAndText(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "none")
	_, err := Open(directory, nil)
	is(t, err, ErrNotFound)
	var e *Error
	if !errors.As(err, &e) || e.Text == "" || !strings.Contains(e.Text+e.File, "none") {
		t.Fatalf("%#v", err)
	}
	_, err = Open("a\x00b", nil)
	is(t, err, ErrInvalid)
	db, _, _ := opened(t)
	_, err = db.CreateTable("t", FamilyOptions{Name: "f"})
	is(t, err, ErrExists)
	_, err = db.CreateTable("u")
	is(t, err, ErrInvalid)
}

func TestDeadlineErrorIsBoth(t *testing.T) {
	err := error(&Error{Status: ErrTimeout})
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrTimeout) {
		t.Fatal(err)
	}
}

func TestSnapshotSeesItsMoment(t *testing.T) {
	db, table, f := opened(t)
	put(t, f, "r", "old")
	s, err := db.Snapshot()
	must(t, err)
	put(t, f, "r", "new")
	if value(t, table, nil) != "new" || value(t, table, &ReadOptions{Snapshot: s}) != "old" {
		t.Fatal("the read point is not kept")
	}
	is(t, db.Close(), ErrBusy)
	must(t, s.Close())
	must(t, s.Close())
	_, err = table.Get(background, []byte("r"), &ReadOptions{Snapshot: s})
	is(t, err, ErrInvalid)
}

func TestReadModifyWrite(t *testing.T) {
	db, table, f := opened(t)
	for want := int64(5); want <= 10; want += 5 {
		sum, err := f.Increment(background, []byte("n"), []byte("q"), 5, nil)
		must(t, err)
		if sum != want {
			t.Fatal(sum)
		}
	}
	put(t, f, "r", "a")
	must(t, f.Append(background, []byte("r"), []byte("q"), []byte("b"), nil))
	b, err := db.Batch()
	must(t, err)
	must(t, b.Put(f, []byte("r"), []byte("q"), Latest, []byte("c")))
	for _, c := range []struct {
		expected []byte
		applied  bool
	}{{nil, false}, {[]byte("a"), false}, {[]byte{}, false}, {[]byte("ab"), true}} {
		condition := &Condition{Family: f, Qualifier: []byte("q"), Absent: c.expected == nil, Value: c.expected}
		applied, err := table.CheckAndMutate(background, []byte("r"), condition, b, nil)
		must(t, err)
		if applied != c.applied {
			t.Fatalf("%q: %v", c.expected, applied)
		}
	}
	if value(t, table, nil) != "c" {
		t.Fatal(value(t, table, nil))
	}
	must(t, b.Clear())
	must(t, b.Delete(f, []byte("r"), []byte("q"), Latest, TypeDeleteColumn))
	must(t, b.Write(background, &WriteOptions{Durability: FsyncWAL}))
	if value(t, table, nil) != "-" {
		t.Fatal("not deleted")
	}
	must(t, b.Close())
	is(t, b.Write(background, nil), ErrInvalid)
}

func TestScans(t *testing.T) {
	_, table, f := opened(t)
	const rows = 1000
	for i := 0; i < rows; i++ {
		put(t, f, fmt.Sprintf("%04d", i), fmt.Sprint(i))
	}
	count := func(o *ScanOptions) (n int, first string) {
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		s, err := table.Scan(ctx, o)
		must(t, err)
		defer s.Close()
		for ; s.Next(); n++ {
			if n == 0 {
				first = string(s.Cell().Row)
			}
		}
		must(t, s.Err())
		return n, first
	}
	for _, c := range []struct {
		o     *ScanOptions
		n     int
		first string
	}{
		{nil, rows, "0000"},
		{&ScanOptions{Reversed: true}, rows, "0999"},
		{&ScanOptions{Prefix: []byte("01")}, 100, "0100"},
		{&ScanOptions{Start: []byte("0990"), Rows: 3}, 3, "0990"},
		{&ScanOptions{ReadOptions: ReadOptions{Filter: "ValueFilter(=, 'binary:77')"}}, 1, "0077"},
		{&ScanOptions{ReadOptions: ReadOptions{Columns: []Column{{f, nil}}}, Stop: []byte("0005")}, 5, "0000"},
	} {
		if n, first := count(c.o); n != c.n || first != c.first {
			t.Errorf("%+v: %d cells from %s", c.o, n, first)
		}
	}
	_, err := table.Scan(background, &ScanOptions{ReadOptions: ReadOptions{Filter: "("}})
	is(t, err, ErrInvalid)
}

func TestCancelledScanEnds(t *testing.T) {
	_, table, f := opened(t)
	for i := 0; i < 3*cellsAtOnce; i++ {
		put(t, f, fmt.Sprintf("%04d", i), "v")
	}
	ctx, cancel := context.WithCancel(background)
	s, err := table.Scan(ctx, nil)
	must(t, err)
	defer s.Close()
	n := 0
	for ; s.Next(); n++ {
		cancel()
	}
	if n == 0 || n > cellsAtOnce || !errors.Is(s.Err(), context.Canceled) {
		t.Fatal(n, s.Err())
	}
	past, cancel := context.WithDeadline(background, time.Unix(1, 0))
	defer cancel()
	_, err = table.Get(past, []byte("r"), nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestCallsAfterCloseFail(t *testing.T) {
	db, table, f := opened(t)
	m, err := db.KV("m")
	must(t, err)
	b, err := db.Batch()
	must(t, err)
	s, err := table.Scan(background, nil)
	must(t, err)
	must(t, s.Close())
	if s.Next() {
		t.Fatal("a closed scan steps")
	}
	is(t, s.Err(), ErrInvalid)
	must(t, db.Close())
	must(t, db.Close())
	is(t, f.Put(background, []byte("r"), nil, Latest, nil, nil), ErrInvalid)
	is(t, m.Put([]byte("k"), nil), ErrInvalid)
	_, err = m.Scan(background, nil)
	is(t, err, ErrInvalid)
	_, err = db.Tables()
	is(t, err, ErrInvalid)
	_, err = db.Snapshot()
	is(t, err, ErrInvalid)
	_, err = db.Begin(background, 0)
	is(t, err, ErrInvalid)
	is(t, db.Transact(background, func(*Transaction) error { return nil }), ErrInvalid)
	_, err = table.Bulk(nil)
	is(t, err, ErrInvalid)
	_, err = table.DeleteRows(background, nil)
	is(t, err, ErrInvalid)
	_, err = m.MultiGet(background, [][]byte{[]byte("k")}, nil)
	is(t, err, ErrInvalid)
	_, err = db.Backup(background, filepath.Join(t.TempDir(), "backup"), nil)
	is(t, err, ErrInvalid)
	_, err = db.Stats()
	is(t, err, ErrInvalid)
	is(t, db.Refresh(), ErrInvalid)
	is(t, table.Verify(background), ErrInvalid)
	_, err = table.Get(background, []byte("r"), nil)
	is(t, err, ErrInvalid)
	is(t, b.Put(f, []byte("r"), nil, Latest, nil), ErrInvalid)
	is(t, table.Drop(), ErrInvalid)
	must(t, b.Close())
}

func TestCloseBesideCalls(t *testing.T) {
	db, table, f := opened(t)
	var group sync.WaitGroup
	for g := 0; g < 4; g++ {
		group.Add(1)
		go func(g int) {
			defer group.Done()
			for i := 0; i < 2000; i++ {
				row := []byte(fmt.Sprint(g, i))
				err := f.Put(background, row, []byte("q"), Latest, row, nil)
				if err == nil {
					_, err = table.Get(background, row, nil)
				}
				if err != nil && !errors.Is(err, ErrInvalid) {
					t.Error(err)
				}
			}
		}(g)
	}
	time.Sleep(5 * time.Millisecond)
	must(t, db.Close())
	group.Wait()
}

func TestTablesAndCheckpoint(t *testing.T) {
	db, table, f := opened(t)
	put(t, f, "r", "v")
	must(t, table.Alter(FamilyOptions{Name: "f", Versions: 2}, FamilyOptions{Name: "g"}))
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, db.Checkpoint(copied))
	is(t, db.Checkpoint(copied), ErrExists)
	fresh, err := table.Truncate()
	must(t, err)
	if value(t, fresh, nil) != "-" {
		t.Fatal("not empty")
	}
	_, err = table.Get(background, []byte("r"), nil)
	is(t, err, ErrNotFound)
	must(t, fresh.Drop())
	names, err := db.Tables()
	if err != nil || len(names) != 0 {
		t.Fatal(names, err)
	}
	text, err := db.StatsText()
	if err != nil || !strings.Contains(text, "petal_") {
		t.Fatal(text, err)
	}
	other, err := Open(copied, &Options{ReadOnly: true})
	must(t, err)
	defer other.Close()
	table, err = other.Table("t")
	must(t, err)
	if value(t, table, nil) != "v" {
		t.Fatal("the copy lacks the row")
	}
	is(t, other.Flush(), ErrReadOnly)
}

func TestMap(t *testing.T) {
	db, _, _ := opened(t)
	m, err := db.KV("m")
	must(t, err)
	must(t, m.Put([]byte("k"), nil))
	v, found, err := m.Get([]byte("k"))
	if err != nil || !found || len(v) != 0 {
		t.Fatal(v, found, err)
	}
	swapped, err := m.CompareAndSwap([]byte("k"), []byte{}, []byte("w"))
	if err != nil || !swapped {
		t.Fatal(swapped, err)
	}
	swapped, err = m.CompareAndSwap([]byte("k"), nil, []byte("x"))
	if err != nil || swapped {
		t.Fatal(swapped, err)
	}
	must(t, m.Delete([]byte("k")))
	if _, found, err = m.Get([]byte("k")); err != nil || found {
		t.Fatal(found, err)
	}
}

func BenchmarkGet(b *testing.B) {
	db, err := Open(filepath.Join(b.TempDir(), "db"), &Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	m, err := db.KV("m")
	if err != nil {
		b.Fatal(err)
	}
	key := []byte("key")
	_ = m.Put(key, key)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, _, err := m.Get(key); err != nil {
			b.Fatal(err)
		}
	}
}
