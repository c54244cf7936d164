package index

import (
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// guard runs f, which reads the mapping. It returns ErrChanged if the file was truncated,
// which causes a fault, or rewritten in place.
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

// faulted reports whether a panic is a memory fault within the mapping.
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

// rewritten reports whether the mapped file has changed its size or date since it was
// opened. If git replaced the path, the open file is unchanged.
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
