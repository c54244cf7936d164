package odb

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"git-checkpoint/gitstore/fsutil"
)

// A temp is an object file under a temporary name. The name begins with tmp_obj_, so that
// git gc deletes leftovers of killed processes.
type temp struct {
	*added
	path  string // "" after the rename
	final string
	file  *os.File
}

// stage writes an object to a temporary file in its final directory.
func (f *flush) stage(o *added) (*temp, error) {
	t := &temp{added: o, final: f.store.loosePath(o.hash)}
	data, err := f.z.looseData(o)
	if err != nil {
		return nil, err
	}
	if err := t.create(f.store); err != nil {
		return nil, err
	}
	if _, err := t.file.Write(data); err != nil {
		t.discard()
		return nil, err
	}
	if err := f.store.share(t.file); err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

// create creates the temporary file, and its directory if necessary.
func (t *temp) create(s *Database) error {
	dir := filepath.Dir(t.final)
	for range 100 {
		path := filepath.Join(dir, "tmp_obj_"+strconv.FormatUint(rand.Uint64(), 36))
		file, err := fsutil.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
		switch {
		case err == nil:
			t.path, t.file = path, file
			return nil
		case gone(err):
			// A gc may delete an empty directory again, so retry.
			if err := s.makeDir(dir); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return errors.New("no temporary name is free")
}

// install renames the file to its final name. It replaces an existing file, which has the
// same content or is damaged.
func (t *temp) install() error {
	err := t.file.Close()
	t.file = nil
	if err != nil {
		return err
	}
	if err := os.Rename(t.path, t.final); err != nil {
		// Windows cannot replace a read-only or open file. In that case an intact
		// existing file suffices.
		if sameLoose(t.final, t.added) != nil {
			return err
		}
		t.discard()
	}
	t.path = ""
	return nil
}

// discard closes and deletes the temporary file.
func (t *temp) discard() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
	if t.path != "" {
		_ = os.Remove(t.path)
		t.path = ""
	}
}
