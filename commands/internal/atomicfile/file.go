// Package atomicfile replaces files that belong to other programs or to the
// user, such as settings and hook files.
//
//   - A reader sees the old content or the new: the content is written to a
//     temporary file in the same directory, synced and renamed.
//   - A file that changed after it was read is not replaced. Another program
//     may still write it between that check and the rename, which takes some
//     microseconds; no file system of every platform can close that gap.
//   - A symlink stays a symlink: the file that it leads to is replaced. The
//     mode is kept. As with git config, other hard links keep the old content.
//   - Keep stores a copy of a file before it changes.
package atomicfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
)

// A Replacement holds a file's content at the time of Read, possibly of a missing file.
type Replacement struct {
	Path string // resolved path, without symlinks
	Name string // requested path
	Text string

	info fs.FileInfo // nil if the file does not exist
}

// ErrChanged means that the file changed after it was read.
var ErrChanged = failure.New(failure.Refused, "run the command again", "it was changed in the meantime")

// Read reads a file. It returns no error if the file does not exist.
func Read(name string) (Replacement, error) {
	path, err := Resolve(name)
	f := Replacement{Path: path, Name: name}
	if err != nil {
		return f, err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if !info.Mode().IsRegular() {
		return f, fmt.Errorf("read %s: not a plain file", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	f.Text, f.info = string(data), info
	return f, nil
}

// Exists reports whether the file existed when it was read.
func (f Replacement) Exists() bool { return f.info != nil }

// IsEqual reports whether another existing file has the same text and mode.
func (f Replacement) IsEqual(other Replacement) bool {
	return other.Exists() && f.Text == other.Text && f.info.Mode() == other.info.Mode()
}

// Remove removes the file, unless it changed after it was read.
func (f Replacement) Remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.Path); err != nil {
		return err
	}
	RemoveStale(f.Path)
	return syncDir(filepath.Dir(f.Path))
}

// Write replaces the content of the file. It creates a missing file and its directory.
func (f Replacement) Write(text string) error {
	return f.write(text, 0o666)
}

// Create creates the file with a mode, from which the umask is subtracted. It
// fails with ErrChanged if the file exists.
func (f Replacement) Create(text string, mode fs.FileMode) error {
	if f.Exists() {
		return fmt.Errorf("create %s: %w", f.Path, ErrChanged)
	}
	return f.write(text, mode)
}

// PlaceFile puts a new file at a path in one step, instead of the file or
// symlink that is there.
func PlaceFile(path, text string, mode fs.FileMode) error {
	RemoveStale(path)
	return Replacement{Path: path}.replace(text, mode, nil)
}

// PlaceSymlink puts a symlink at a path in one step, instead of the file or
// symlink that is there.
func PlaceSymlink(path, target string) error {
	RemoveStale(path)
	temp := filepath.Join(filepath.Dir(path), tempPrefix(path)+strconv.Itoa(os.Getpid())+"-0")
	if err := os.Symlink(target, temp); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	return syncDir(filepath.Dir(path))
}

// keptCopies limits copies per file.
const keptCopies = 5

// Keep copies the content of f to a directory and returns the copy's path. The newest
// copy has no number; older copies end in .1 to .4. Content equal to the newest copy is
// not stored again. A missing file is stored as an empty copy.
func Keep(dir string, f Replacement) (string, error) {
	newest := keptName(dir, f.Path)
	if data, err := os.ReadFile(newest); err == nil && string(data) == f.Text {
		return newest, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for n := keptCopies - 1; n > 0; n-- {
		_ = os.Rename(numbered(newest, n-1), numbered(newest, n)) // a missing copy is no error
	}
	to, err := Read(newest)
	if err != nil {
		return "", err
	}
	return newest, to.write(f.Text, 0o600) // settings may hold tokens
}

// Kept returns all copies of a file, newest first.
func Kept(dir, path string) []string {
	var texts []string
	for n := range keptCopies {
		if data, err := os.ReadFile(numbered(keptName(dir, path), n)); err == nil {
			texts = append(texts, string(data))
		}
	}
	return texts
}

// IsPassing reports whether err is a disk error or an exhausted limit of the process or
// system. Such an error is unrelated to the file and may be temporary.
func IsPassing(err error) bool {
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// Resolve returns a path without symlinks. The path, and the target of a symlink, need not exist.
func Resolve(name string) (string, error) {
	path, err := filepath.EvalSymlinks(name)
	dir, base := filepath.Split(filepath.Clean(name))
	if !errors.Is(err, fs.ErrNotExist) || base == "" || dir == "" {
		return cmp.Or(path, name), fsutil.IgnoreMissing(err)
	}
	if target, err := os.Readlink(name); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		return Resolve(target)
	}
	dir, err = Resolve(dir)
	return filepath.Join(dir, base), err
}

// unchanged returns ErrChanged if the file is not as it was read.
func (f Replacement) unchanged() error {
	now, err := Read(f.Name)
	if err != nil {
		return err
	}
	if now.Path != f.Path || now.Exists() != f.Exists() || now.Text != f.Text {
		return fmt.Errorf("replace %s: %w", f.Path, ErrChanged)
	}
	return nil
}

// staleAfter is the age limit of temporary files whose process id belongs to a running
// process.
const staleAfter = time.Hour

// RemoveStale removes temporary files that killed processes left beside a file.
func RemoveStale(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), tempPrefix(path))
		pid, number, dashed := strings.Cut(rest, "-")
		id, err := strconv.Atoi(pid)
		if _, numberErr := strconv.Atoi(number); !ours || !dashed || err != nil || numberErr != nil {
			continue
		}
		info, err := e.Info()
		if err == nil && id != os.Getpid() && (!fsutil.IsRunning(id) || time.Since(info.ModTime()) > staleAfter) {
			os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// tempPrefix returns the name prefix of temporary files for path. A process id and a
// number follow.
func tempPrefix(path string) string {
	return "." + filepath.Base(path) + ".git-checkpoint-"
}

// syncDir makes a rename or removal durable. It ignores a directory that is not readable or
// was removed.
func syncDir(dir string) error {
	err := fsutil.SyncDir(dir)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f Replacement) write(text string, mode fs.FileMode) error {
	RemoveStale(f.Path)
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
		return err
	}
	return f.replace(text, mode, func(temp, path string) error {
		if err := f.unchanged(); err != nil {
			return err
		}
		return os.Rename(temp, path)
	})
}

// replace writes a synced temporary file beside the file and installs it, with the mode of the
// replaced file.
func (f Replacement) replace(text string, mode fs.FileMode, install func(temp, path string) error) error {
	options := fsutil.ReplaceOptions{
		Temp:    tempPrefix(f.Path) + strconv.Itoa(os.Getpid()) + "-",
		Mode:    mode,
		Sync:    true,
		Install: install,
		SyncDir: syncDir,
	}
	if f.info != nil {
		options.Mode = 0o600
		options.Prepare = func(temp *os.File) error { return fsutil.IgnoreRefused(temp.Chmod(f.info.Mode().Perm())) }
	}
	return fsutil.ReplaceFile(f.Path, strings.NewReader(text), options)
}

// keptName returns a readable file name, unique per path.
func keptName(dir, path string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(path)))
	return filepath.Join(dir, filepath.Base(path)+"-"+hex.EncodeToString(sum[:4]))
}

func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	return name + "." + strconv.Itoa(n)
}
