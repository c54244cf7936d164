package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile limits the size of a settings file in bytes.
const maxFile = 1 << 20

// files lists the names of settings files; only the first existing file is read. The
// second name belongs to another system and requires the root key.
var files = []struct {
	name string
	bare bool // root key is optional
}{
	{".checkpoint.yaml", true},
	{".claude/checkpoint-config.yaml", false},
}

// readFile reads the settings file of the worktree at root. os.Root rejects symlinks that
// lead out of the worktree.
func readFile(root string) ([]fileValue, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, &SettingError{File: shown(root), Msg: err.Error()}
	}
	defer dir.Close()
	for _, f := range files {
		data, err := readIn(dir, f.name)
		if absent(err) || err != nil && !exists(filepath.Join(root, f.name)) {
			continue // os.Root also rejects a symlinked .claude directory outside the worktree that has no settings file
		}
		if err != nil {
			return nil, &SettingError{File: f.name, Msg: err.Error()}
		}
		return parseFile(f.name, data, f.bare)
	}
	return nil, nil
}

func readIn(dir *os.Root, name string) ([]byte, error) {
	// Opening a FIFO would block until a writer opens it.
	info, err := dir.Stat(name)
	if err != nil {
		return nil, plainCause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, plainCause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, plainCause(err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d bytes", maxFile)
	}
	return data, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !absent(err)
}

// absent reports whether err means a missing file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// plainCause strips the system call and the path, which the message already contains.
func plainCause(err error) error {
	var e *fs.PathError
	if !errors.As(err, &e) {
		return err
	}
	if _, system := e.Err.(syscall.Errno); system {
		return e.Err
	}
	return fmt.Errorf("leads out of the worktree: %w", e.Err)
}
