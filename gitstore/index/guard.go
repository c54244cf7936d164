package index

import (
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// guard runs f, which reads the mapping, and turns the fault of a file that
// was cut short meanwhile into ErrChanged, as it does with a file that was
// rewritten in place.
func (x *Index) guard(f func() error) (err error) {
	if x.mapping == nil {
		return f()
	}
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			if !x.faulted(r) {
				panic(r)
			}
			err = ErrChanged
		}
	}()
	err = f()
	if x.rewritten() {
		return ErrChanged
	}
	return err
}

// faulted says whether a panic is a fault inside the mapping.
func (x *Index) faulted(r any) bool {
	e, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		return false
	}
	base := uintptr(unsafe.Pointer(unsafe.SliceData(x.mapping)))
	return e.Addr() >= base && e.Addr()-base < uintptr(len(x.mapping))
}

// rewritten says whether the mapped file has another size or date than when
// it was opened. A file that git replaced is still the old one here.
func (x *Index) rewritten() bool {
	if x.file == nil {
		return false
	}
	now, err := x.file.Stat()
	return err != nil || changed(x.stat, now)
}

func changed(a, b os.FileInfo) bool {
	return a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime())
}
