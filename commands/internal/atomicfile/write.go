package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
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
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
		return err
	}
	return f.replace(text, mode, f.rename)
}

// replace writes a synced temporary file beside the file and installs it. It gives the
// temporary file owner and mode of the replaced file.
func (f Replacement) replace(text string, mode fs.FileMode, install func(temp, path string) error) error {
	options := fsutil.ReplaceOptions{
		Temp:    tempPrefix(f.Path) + strconv.Itoa(os.Getpid()) + "-",
		Mode:    mode,
		Sync:    true,
		Install: install,
		SyncDir: syncDir,
	}
	if f.info != nil {
		options.Mode = 0o600 // until the owner is set
		options.Prepare = f.keepOwnerAndMode
	}
	return fsutil.ReplaceFile(f.Path, strings.NewReader(text), options)
}

func (f Replacement) keepOwnerAndMode(temp *os.File) error {
	if err := keepOwner(temp, f.info); err != nil && !f.Force {
		return err
	}
	return temp.Chmod(f.info.Mode().Perm())
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

// rename moves the temporary file to the file's path.
func (f Replacement) rename(temp, _ string) error {
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

// syncDir makes a rename or removal durable. It ignores a directory that is not readable or
// was removed.
func syncDir(dir string) error {
	err := fsutil.SyncDir(dir)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
