package petal

// #include <petal.h>
import "C"

import (
	"context"
	"sync"
)

// Status is the kind of a failure; its values are those of enum petal_status and never change.
type Status int

// Each status is an error of its own, for errors.Is.
const (
	ErrIO          Status = C.PETAL_IO
	ErrCorrupt     Status = C.PETAL_CORRUPT
	ErrNoMemory    Status = C.PETAL_NO_MEMORY
	ErrInvalid     Status = C.PETAL_INVALID
	ErrNotFound    Status = C.PETAL_NOT_FOUND
	ErrExists      Status = C.PETAL_EXISTS
	ErrBusy        Status = C.PETAL_BUSY
	ErrUnsupported Status = C.PETAL_UNSUPPORTED
	ErrReadOnly    Status = C.PETAL_READ_ONLY
	ErrNoSpace     Status = C.PETAL_NO_SPACE
	ErrTimeout     Status = C.PETAL_TIMEOUT
	ErrConflict    Status = C.PETAL_CONFLICT
)

// Error returns the fixed text of the status.
func (s Status) Error() string { return C.GoString(C.petal_status_text(C.enum_petal_status(s))) }

// Error has the details of a failed call. errors.Is finds its status; a passed deadline is also
// context.DeadlineExceeded.
type Error struct {
	Status  Status
	OSError int    // errno of the failed system call, 0 if none
	File    string // the file concerned, "" if none
	Offset  uint64 // in File, if that applies
	Text    string // one line for people
}

// Error returns the library's text.
func (e *Error) Error() string { return e.Text }

// Is reports whether the target is the error's status.
func (e *Error) Is(target error) bool {
	return target == e.Status || e.Status == ErrTimeout && target == context.DeadlineExceeded
}

// Details that calls write to; they have no pointers, so C may be given them.
var details = sync.Pool{New: func() any { return new(C.petal_error) }}

// call runs f with room for the details of a failure.
func call(f func(*C.petal_error) C.enum_petal_status) error {
	detail := details.Get().(*C.petal_error)
	defer details.Put(detail)
	// A failure of this package's own C code has a status only.
	detail.text[0], detail.file[0], detail.os_error, detail.offset = 0, 0, 0, 0
	status := f(detail)
	if status == C.PETAL_OK {
		return nil
	}
	return failure(status, detail)
}

func failure(status C.enum_petal_status, detail *C.petal_error) *Error {
	text := C.GoString(&detail.text[0])
	if text == "" {
		text = Status(status).Error()
	}
	return &Error{Status(status), int(detail.os_error), C.GoString(&detail.file[0]),
		uint64(detail.offset), text}
}

// refuse fails a call before it reaches the library.
func refuse(e *C.petal_error, text string) C.enum_petal_status {
	for i := 0; i < len(text); i++ {
		e.text[i] = C.char(text[i])
	}
	e.text[len(text)] = 0
	return C.PETAL_INVALID
}

func invalid(text string) error { return &Error{Status: ErrInvalid, Text: text} }
