//go:build !petal_system && !petal_given

package petal

// The library that `make` built in this source tree.

// #cgo CFLAGS: -I${SRCDIR}/../../engine
// #cgo LDFLAGS: ${SRCDIR}/../../build/libpetal.a -llz4 -lxxhash -lpcre2-8 -lm -pthread
import "C"
