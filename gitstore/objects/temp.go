package objects

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"git-checkpoint/gitstore/internal/fsutil"
)

// temp is an object on its way to the disk. Its name begins with tmp_obj_, so
// that git gc removes what a killed process has left.
type temp struct {
	*added
	path  string // "" once it has its final name
	final string
	file  *os.File
}

// stage writes an object under a temporary name beside its final one.
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

// create makes the temporary file, and its directory when that is missing.
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
			// A gc may remove an empty directory again: then once more.
			if err := s.makeDir(dir); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return errors.New("no temporary name is free")
}

// install gives the file its final name. A file that is there already has the
// same content or is damaged, and is replaced in both cases.
func (t *temp) install() error {
	err := t.file.Close()
	t.file = nil
	if err != nil {
		return err
	}
	if err := os.Rename(t.path, t.final); err != nil {
		// Windows does not replace a file that is read-only or in use. Then
		// the one that is there will do, if it is good.
		if sameLoose(t.final, t.added) != nil {
			return err
		}
		t.discard()
	}
	t.path = ""
	return nil
}

// discard removes the file if it has not got its final name.
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
