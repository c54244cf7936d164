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

// maxFile bounds the file that is read.
const maxFile = 1 << 20

// files are where the settings may be, the first one that exists counts. The
// second name is another system's, and its keys always stand under a root.
var files = []struct {
	name string
	bare bool // the root key may be left out
}{
	{".checkpoint.yaml", true},
	{".claude/checkpoint-config.yaml", false},
}

// readFile reads the settings of the worktree at root. A name that leads out
// of it through a link is refused by os.Root.
func readFile(root string) ([]fileValue, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, &SettingError{File: shown(root), Msg: err.Error()}
	}
	defer dir.Close()
	for _, f := range files {
		data, err := readIn(dir, f.name)
		if absent(err) || err != nil && !exists(filepath.Join(root, f.name)) {
			continue // also where a link of a person's, as .claude to all its like, leads out
		}
		if err != nil {
			return nil, &SettingError{File: f.name, Msg: err.Error()}
		}
		return parseFile(f.name, data, f.bare)
	}
	return nil, nil
}

func readIn(dir *os.Root, name string) ([]byte, error) {
	// Opening a fifo would wait for its writer.
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

// absent reports an error that means there is no such file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// plainCause leaves out the system call and the path, which the message has.
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
