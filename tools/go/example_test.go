package petal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"petal"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func Example() {
	directory, err := os.MkdirTemp("", "petal")
	check(err)
	defer os.RemoveAll(directory)
	db, err := petal.Open(filepath.Join(directory, "shop"), &petal.Options{Create: true})
	check(err)
	defer db.Close()
	ctx := context.Background()

	users, err := db.CreateTable("users", petal.FamilyOptions{Name: "info", Versions: 3})
	check(err)
	info, err := users.Family("info")
	check(err)
	check(info.Put(ctx, []byte("ann"), []byte("town"), 1, []byte("Ulm"), nil))
	check(info.Put(ctx, []byte("ann"), []byte("town"), 2, []byte("Bonn"), nil))
	check(info.Put(ctx, []byte("bob"), []byte("town"), 1, []byte("Kiel"), nil))

	scan, err := users.Scan(ctx, &petal.ScanOptions{
		ReadOptions: petal.ReadOptions{Versions: petal.AllVersions}})
	check(err)
	for scan.Next() {
		c := scan.Cell()
		fmt.Printf("%s %s:%s @%d = %s\n", c.Row, c.Family, c.Qualifier, c.Timestamp, c.Value)
	}
	check(scan.Err())
	check(scan.Close())

	_, err = db.Table("none")
	fmt.Println(errors.Is(err, petal.ErrNotFound))
	// Output:
	// ann info:town @2 = Bonn
	// ann info:town @1 = Ulm
	// bob info:town @1 = Kiel
	// true
}

func ExampleDB_KV() {
	directory, err := os.MkdirTemp("", "petal")
	check(err)
	defer os.RemoveAll(directory)
	db, err := petal.Open(filepath.Join(directory, "colours"), &petal.Options{Create: true})
	check(err)
	defer db.Close()
	colours, err := db.KV("colours")
	check(err)
	check(colours.Put([]byte("sky"), []byte("blue")))
	value, found, err := colours.Get([]byte("sky"))
	check(err)
	fmt.Println(string(value), found)
	// Output: blue true
}

func ExampleDB_Transact() {
	directory, err := os.MkdirTemp("", "petal")
	check(err)
	defer os.RemoveAll(directory)
	db, err := petal.Open(filepath.Join(directory, "bank"), &petal.Options{Create: true})
	check(err)
	defer db.Close()
	ctx := context.Background()
	seats, err := db.KV("seats")
	check(err)
	book := func(seat, name string) error {
		return db.Transact(ctx, func(tx *petal.Transaction) error {
			owner, taken, err := tx.GetKey(ctx, seats, []byte(seat))
			if err == nil && taken {
				err = fmt.Errorf("%s is %s's", seat, owner)
			}
			if err != nil {
				return err
			}
			return tx.PutKey(seats, []byte(seat), []byte(name), 0)
		})
	}
	fmt.Println(book("12a", "ann"), book("12b", "bob"), book("12a", "bob"))
	// Output: <nil> <nil> 12a is ann's
}
