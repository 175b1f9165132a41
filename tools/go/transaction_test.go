package petal

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestTransactionCommitsAllOrNothing(t *testing.T) {
	db, table, f := opened(t)
	m, err := db.KV("m")
	must(t, err)
	put(t, f, "r", "old")
	key := []byte("k")
	write := func(tx *Transaction) error {
		must(t, tx.Put(f, []byte("r"), []byte("q"), Latest, []byte("new"), 0))
		must(t, tx.Append(f, []byte("r"), []byte("q"), []byte("er")))
		must(t, tx.PutKey(m, key, []byte("v"), time.Hour))
		must(t, tx.PutKey(m, []byte("gone"), []byte("v"), 0))
		must(t, tx.DeleteKey(m, []byte("gone")))
		sum, err := tx.Increment(f, []byte("n"), []byte("q"), 3)
		if err != nil || sum != 3 {
			t.Fatal(sum, err)
		}
		cells, err := tx.Get(background, table, []byte("r"), nil)
		if err != nil || len(cells) != 1 || string(cells[0].Value) != "newer" {
			t.Fatal(cells, err)
		}
		rows, err := tx.MultiGet(background, table, [][]byte{[]byte("n"), []byte("r")}, nil)
		if err != nil || len(rows[0]) != 1 || string(rows[1][0].Value) != "newer" {
			t.Fatal(rows, err)
		}
		if value, found, err := tx.GetKey(background, m, key); err != nil || !found || string(value) != "v" {
			t.Fatal(value, found, err)
		}
		if _, found, err := tx.GetKey(background, m, []byte("gone")); err != nil || found {
			t.Fatal(found, err)
		}
		scan, err := tx.Scan(background, table, nil)
		must(t, err)
		defer scan.Close()
		n := 0
		for scan.Next() {
			n++
		}
		if scan.Err() != nil || n != 2 || value(t, table, nil) != "old" {
			t.Fatal(n, scan.Err())
		}
		return nil
	}
	failed := errors.New("failed")
	err = db.Transact(background, func(tx *Transaction) error {
		_ = write(tx)
		return failed
	})
	if err != failed || value(t, table, nil) != "old" {
		t.Fatal(err, value(t, table, nil))
	}
	must(t, db.Transact(background, write))
	if _, found, _ := m.Get(key); !found || value(t, table, nil) != "newer" {
		t.Fatal("not committed")
	}
	must(t, db.Transact(background, func(tx *Transaction) error {
		must(t, tx.Delete(f, []byte("r"), []byte("q"), Latest, TypeDeleteColumn))
		return tx.DeleteRow(table, []byte("n"), Latest)
	}))
	if value(t, table, nil) != "-" {
		t.Fatal("not deleted")
	}
}

func TestConflict(t *testing.T) {
	db, table, f := opened(t)
	m, err := db.KV("m")
	must(t, err)
	row := []byte("r")
	for i, read := range []func(tx *Transaction) error{
		func(tx *Transaction) error { _, err := tx.Get(background, table, row, nil); return err },
		func(tx *Transaction) error { _, err := tx.MultiGet(background, table, [][]byte{row}, nil); return err },
		func(tx *Transaction) error { _, _, err := tx.GetKey(background, m, row); return err },
		func(tx *Transaction) error { return tx.Put(f, row, nil, Latest, nil, 0) },
		func(tx *Transaction) error {
			scan, err := tx.Scan(background, table, nil)
			for err == nil && scan.Next() {
			}
			return err
		},
	} {
		tx, err := db.Begin(background, FsyncWAL)
		must(t, err)
		must(t, read(tx))
		must(t, tx.Put(f, []byte("mine"), []byte("q"), Latest, nil, 0))
		put(t, f, "r", fmt.Sprint(i))
		must(t, m.Put(row, nil))
		is(t, tx.Commit(), ErrConflict)
		is(t, tx.Commit(), ErrInvalid)
		runtime.GC()
	}
	if cells, err := table.Get(background, []byte("mine"), nil); err != nil || len(cells) > 0 {
		t.Fatal(cells, err)
	}
	// A transaction that only reads always commits, and ends with its context.
	must(t, db.Transact(background, func(tx *Transaction) error {
		_, err := tx.Get(background, table, row, nil)
		put(t, f, "r", "other")
		return err
	}))
	ctx, cancel := context.WithCancel(background)
	runs := 0
	err = db.Transact(ctx, func(tx *Transaction) error {
		if runs++; runs == 3 {
			cancel()
		}
		put(t, f, "r", fmt.Sprint(runs))
		return tx.Put(f, row, []byte("q"), Latest, nil, 0)
	})
	if !errors.Is(err, ErrConflict) || runs != 3 {
		t.Fatal(err, runs)
	}
	_, err = db.Begin(ctx, 0)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestTransactionsOfManyGoroutines(t *testing.T) {
	db, _, _ := opened(t)
	m, err := db.KV("m")
	must(t, err)
	key := []byte("n")
	must(t, m.Put(key, []byte("0")))
	var group sync.WaitGroup
	for g := 0; g < 4; g++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 50; i++ {
				err := db.Transact(background, func(tx *Transaction) error {
					value, _, err := tx.GetKey(background, m, key)
					if err != nil {
						return err
					}
					n, _ := strconv.Atoi(string(value))
					return tx.PutKey(m, key, []byte(strconv.Itoa(n+1)), 0)
				})
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
	if value, _, _ := m.Get(key); string(value) != "200" {
		t.Fatal(string(value))
	}
}

func TestTransactionAfterItsEnd(t *testing.T) {
	db, table, f := opened(t)
	other, otherTable, _ := opened(t)
	put(t, f, "r", "v")
	tx, err := db.Begin(background, 0)
	must(t, err)
	is(t, db.Close(), ErrBusy)
	_, err = tx.Get(background, otherTable, []byte("r"), nil)
	is(t, err, ErrInvalid)
	scan, err := tx.Scan(background, table, nil)
	must(t, err)
	tx.Abort()
	tx.Abort()
	// Its scans go on.
	if !scan.Next() || string(scan.Cell().Row) != "r" || scan.Next() || scan.Err() != nil {
		t.Fatal(scan.Err())
	}
	must(t, scan.Close())
	_, err = tx.Get(background, table, []byte("r"), nil)
	is(t, err, ErrInvalid)
	_, err = tx.Scan(background, table, nil)
	is(t, err, ErrInvalid)
	is(t, tx.Put(f, []byte("r"), nil, Latest, nil, 0), ErrInvalid)
	_, err = tx.Increment(f, []byte("r"), nil, 1)
	is(t, err, ErrInvalid)
	is(t, tx.Commit(), ErrInvalid)
	// The collector aborts what was forgotten.
	func() {
		for i := 0; i < 10; i++ {
			left, err := db.Begin(background, 0)
			must(t, err)
			must(t, left.Put(f, []byte("left"), nil, Latest, nil, 0))
			_, err = left.Scan(background, table, nil)
			must(t, err)
		}
	}()
	for i := 0; ; i++ {
		runtime.GC()
		if err := db.Close(); err == nil {
			break
		} else if i == 1000 {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	is(t, tx.Commit(), ErrInvalid)
	must(t, other.Close())
}

// Goroutines that share one take turns, those that use its scans, too.
func TestSharedTransaction(t *testing.T) {
	db, table, f := opened(t)
	for i := 0; i < 500; i++ {
		put(t, f, fmt.Sprintf("%04d", i), "v")
	}
	tx, err := db.Begin(background, 0)
	must(t, err)
	var group sync.WaitGroup
	for g := 0; g < 4; g++ {
		group.Add(1)
		go func(g int) {
			defer group.Done()
			for i := 0; i < 300; i++ {
				row := []byte(fmt.Sprintf("%04d", i))
				scan, err := tx.Scan(background, table, &ScanOptions{Start: row, Rows: 3})
				for err == nil && scan.Next() {
				}
				if err == nil {
					err = scan.Close()
				}
				if err == nil {
					err = tx.Put(f, []byte(fmt.Sprint("new", g, i)), nil, Latest, row, 0)
				}
				if err != nil {
					t.Error(err)
				}
			}
		}(g)
	}
	group.Wait()
	must(t, tx.Commit())
	n := 0
	scan, err := table.Scan(background, &ScanOptions{Prefix: []byte("new")})
	must(t, err)
	defer scan.Close()
	for scan.Next() {
		n++
	}
	if n != 1200 {
		t.Fatal(n)
	}
}
