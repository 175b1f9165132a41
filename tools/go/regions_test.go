package petal

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// ranges returns the regions' rows: "..b b..d d.."
func ranges(t *testing.T, table *Table) (string, []Region) {
	t.Helper()
	regions, err := table.Regions()
	must(t, err)
	var texts []string
	for _, r := range regions {
		texts = append(texts, fmt.Sprintf("%s..%s", r.Start, r.End))
	}
	return strings.Join(texts, " "), regions
}

func TestRegions(t *testing.T) {
	db, plain, _ := opened(t)
	table, err := db.CreateSplitTable("split", [][]byte{[]byte("d"), []byte("b")}, FamilyOptions{Name: "f"})
	must(t, err)
	f, err := table.Family("f")
	must(t, err)
	for _, row := range []string{"a", "b", "c", "d", "e", "f"} {
		put(t, f, row, "v")
	}
	must(t, db.Flush())
	must(t, table.Split([]byte("e")))
	is(t, table.Split([]byte("e")), ErrInvalid)
	is(t, table.Split(nil), ErrInvalid)
	is(t, table.SplitRegion(999), ErrNotFound)
	is(t, table.SplitRegion(0), ErrInvalid) // too small to have a middle
	text, regions := ranges(t, table)
	if text != "..b b..d d..e e.." {
		t.Fatal(text)
	}
	if r := regions[0]; r.ID == 0 || r.Files != 1 || r.FileBytes == 0 || r.Cells != 1 {
		t.Fatalf("%+v", r)
	}

	// Side by side, of one snapshot: each row once.
	snapshot, err := db.Snapshot()
	must(t, err)
	put(t, f, "later", "v")
	var group sync.WaitGroup
	counts := make([]int, len(regions))
	for i, r := range regions {
		group.Add(1)
		go func(i int, r Region) {
			defer group.Done()
			scan, err := table.Scan(background, &ScanOptions{
				Start: r.Start, Stop: r.End, ReadOptions: ReadOptions{Snapshot: snapshot}})
			if err != nil {
				t.Error(err)
				return
			}
			for scan.Next() {
				counts[i]++
			}
			if err := scan.Close(); err != nil {
				t.Error(err)
			}
		}(i, r)
	}
	group.Wait()
	must(t, snapshot.Close())
	if fmt.Sprint(counts) != "[1 2 1 2]" {
		t.Fatal(counts)
	}

	is(t, table.Merge(regions[0].ID, regions[2].ID), ErrInvalid)
	is(t, table.Merge(regions[0].ID, 999), ErrNotFound)
	must(t, table.Merge(regions[2].ID, regions[1].ID))
	if text, _ = ranges(t, table); text != "..b b..e e.." {
		t.Fatal(text)
	}
	if text, _ = ranges(t, plain); text != ".." {
		t.Fatal(text)
	}
	_, err = db.CreateSplitTable("twice", [][]byte{[]byte("b"), []byte("b")}, FamilyOptions{Name: "f"})
	is(t, err, ErrInvalid)
	must(t, db.Close())
	_, err = table.Regions()
	is(t, err, ErrInvalid)
	is(t, table.Split([]byte("x")), ErrInvalid)
	is(t, table.Merge(1, 2), ErrInvalid)
}

// A region that has grown beyond the limit becomes two.
func TestMaxRegionBytes(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "db"), &Options{Create: true, MaxRegionBytes: 64 << 10})
	must(t, err)
	defer db.Close()
	table, err := db.CreateTable("t", FamilyOptions{Name: "f", BlockBytes: 4096, Compression: NoCompression})
	must(t, err)
	f, err := table.Family("f")
	must(t, err)
	for i := 0; i < 200; i++ {
		put(t, f, fmt.Sprintf("row%03d", i), strings.Repeat("v", 1000))
	}
	must(t, db.Flush())
	must(t, db.WaitIdle())
	if text, regions := ranges(t, table); len(regions) < 3 {
		t.Fatal(text)
	}
	_, err = Open(filepath.Join(t.TempDir(), "db"), &Options{Create: true, MaxRegionBytes: 1})
	is(t, err, ErrInvalid)
}
