// Package fsutil opens, replaces and syncs files. It is not internal to the store, because
// packages commands and freshness replace files too.
package fsutil

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Exists reports whether a path exists. It does not follow symlinks.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// IsSame reports whether two paths lead to the same file or directory.
func IsSame(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// IsYounger reports whether a path exists and was modified within the given time. It does
// not follow symlinks.
func IsYounger(path string, age time.Duration) bool {
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) < age
}

// BootID returns a text that changes when the system starts, or "" if it is unknown.
func BootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// IgnoreRefused returns nil for the error of a file system that does not let this user set the mode
// or the times of a file, otherwise err.
func IgnoreRefused(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// CopyWithTime replaces a file with a copy of another one, with its permissions and modification
// time: git compares the time of an index with the times of files. If the file system does not let
// this user set the time, the copy is a hard link, which git replaces when it writes. If the source
// is missing, no file is created.
func CopyWithTime(from, to string) error {
	if err := IgnoreMissing(os.Remove(to)); err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return IgnoreMissing(err)
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
		return err
	}
	err = os.Chtimes(to, info.ModTime(), info.ModTime())
	if err != nil && IgnoreRefused(err) == nil {
		return errors.Join(os.Remove(to), os.Link(from, to))
	}
	return err
}

// IgnoreMissing returns err, or nil if err means that a file does not exist.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ReplaceOptions are the options of ReplaceFile. A nil function is not called.
type ReplaceOptions struct {
	Temp    string                        // name of the temporary file without its last part, a random number
	Mode    fs.FileMode                   // mode of the temporary file, from which the umask is subtracted
	Prepare func(temp *os.File) error     // changes mode or owner of the written temporary file
	Sync    bool                          // make the content durable before the rename
	Install func(temp, path string) error // renames the temporary file, instead of os.Rename
	SyncDir func(dir string) error        // makes the rename durable
}

// ReplaceFile writes content to a temporary file in the directory of path and renames that
// file to path. Readers see either the old or the new content. If ReplaceFile fails before
// the rename, it removes the temporary file.
func ReplaceFile(path string, content io.Reader, o ReplaceOptions) error {
	dir := filepath.Dir(path)
	temp, err := CreateTemp(filepath.Join(dir, o.Temp), o.Mode)
	if err != nil {
		return err
	}
	err = o.fill(temp, content)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = o.install(temp.Name(), path)
	}
	if err != nil {
		os.Remove(temp.Name())
		return err
	}
	if o.SyncDir != nil {
		return o.SyncDir(dir)
	}
	return nil
}

// CreateTemp creates a file with a name that begins with prefix, and with the mode without the umask.
func CreateTemp(prefix string, mode fs.FileMode) (*os.File, error) {
	for try := 0; ; try++ {
		name := prefix + strconv.FormatUint(uint64(rand.Uint32()), 10)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || try > 1000 {
			return f, err
		}
	}
}

func (o *ReplaceOptions) fill(temp *os.File, content io.Reader) error {
	if _, err := io.Copy(temp, content); err != nil {
		return err
	}
	if o.Prepare != nil {
		if err := o.Prepare(temp); err != nil {
			return err
		}
	}
	if o.Sync {
		return Sync(temp)
	}
	return nil
}

func (o *ReplaceOptions) install(temp, path string) error {
	if o.Install != nil {
		return o.Install(temp, path)
	}
	return os.Rename(temp, path)
}
