package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

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

func (f Replacement) write(text string, mode fs.FileMode) error {
	removeStale(f.Path)
	if err := f.obstacle(); err != nil {
		return err
	}
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	temp, err := f.prepare(text, mode)
	if err == nil {
		err = f.rename(temp)
	}
	if err != nil {
		if temp != "" {
			os.Remove(temp)
		}
		return err
	}
	return syncDir(dir)
}

// obstacle returns an ObstacleError for a file that is read-only or has other
// hard links.
func (f Replacement) obstacle() error {
	if f.info == nil || f.Force {
		return nil
	}
	if f.info.Mode().Perm()&0o222 == 0 {
		return &ObstacleError{f.Path, "it is read-only"}
	}
	now, err := os.Lstat(f.Path) // removeStale may have removed a link
	if err != nil {
		return nil // unchanged reports it
	}
	if n := hardLinks(now); n > 1 {
		return &ObstacleError{f.Path, fmt.Sprintf("it has %d hard links, and the others would keep the old content", n)}
	}
	return nil
}

// prepare writes the content to a synced temporary file beside the file.
func (f Replacement) prepare(text string, mode fs.FileMode) (temp string, err error) {
	if f.info != nil {
		mode = 0o600 // until the owner is set
	}
	out, err := createTemp(f.Path, mode)
	if err != nil {
		return "", err
	}
	_, err = out.WriteString(text)
	if err == nil && f.info != nil {
		if err = keepOwner(out, f.info); err == nil || f.Force {
			err = out.Chmod(f.info.Mode().Perm())
		}
	}
	if err == nil {
		err = out.Sync()
	}
	return out.Name(), errors.Join(err, out.Close())
}

// rename moves the temporary file to the file's path.
func (f Replacement) rename(temp string) error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if f.info == nil {
		// os.Link fails if another process has created the file meanwhile.
		err := os.Link(temp, f.Path)
		if err == nil {
			return os.Remove(temp)
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("create %s: %w", f.Path, ErrChanged)
		}
	}
	return os.Rename(temp, f.Path)
}

// tempPrefix returns the name prefix of temporary files for path. A process id and a
// number follow.
func tempPrefix(path string) string {
	return "." + filepath.Base(path) + ".git-checkpoint-"
}

func createTemp(path string, mode fs.FileMode) (*os.File, error) {
	prefix := filepath.Join(filepath.Dir(path), tempPrefix(path)+strconv.Itoa(os.Getpid())+"-")
	for n := 0; ; n++ {
		f, err := os.OpenFile(prefix+strconv.Itoa(n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || n > 1000 {
			return f, err
		}
	}
}

// staleAfter is the age limit of temporary files whose process id belongs to a running
// process.
const staleAfter = time.Hour

// RemoveStale removes temporary files that killed processes left beside a file.
func RemoveStale(path string) { removeStale(path) }

// removeStale removes temporary files of killed processes.
func removeStale(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), tempPrefix(path))
		pid, number, dashed := strings.Cut(rest, "-")
		id, err := strconv.Atoi(pid)
		if _, numberErr := strconv.Atoi(number); !ours || !dashed || err != nil || numberErr != nil {
			continue
		}
		info, err := e.Info()
		if err == nil && id != os.Getpid() && (!IsRunning(id) || time.Since(info.ModTime()) > staleAfter) {
			os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// syncDir makes a rename or removal durable, if the file system supports this.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows cannot sync directories
	}
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil // directory is not readable, or was removed
	}
	if err != nil {
		return err
	}
	defer d.Close()
	if err = d.Sync(); errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
