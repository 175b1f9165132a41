//go:build petal_system

package petal

// The library that `make install` put into the system.

// #cgo pkg-config: petal
import "C"
