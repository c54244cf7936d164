package restore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A fileOnDisk is the raw content of a worktree file before git's filters: type and
// permissions as octal st_mode, and the blob hash of its bytes or symlink target. The
// zero value means a missing file.
type fileOnDisk struct {
	mode uint32
	hash plumbing.Hash // of a file that is set aside: see unread
	info fs.FileInfo   // for sameFile
	kept bool          // the operation sets the file aside (aside.go)
}

// diskMode returns file type and permissions, or 0 if the file is neither regular nor a
// symlink.
func diskMode(info fs.FileInfo) uint32 {
	switch m := info.Mode(); {
	case m.IsRegular():
		return 0o100000 | uint32(m.Perm())
	case m&fs.ModeSymlink != 0:
		return trees.ModeSymlink
	}
	return 0
}

// side returns mode and hash.
func (d fileOnDisk) side() Side { return Side{Mode: d.mode, Hash: d.hash} }

// readDisk reads content and stat data of a worktree file. It returns ErrConcurrentChange
// if the file changes during the read.
func readDisk(pl place) (fileOnDisk, []byte, error) {
	info, err := pl.dir.Lstat(pl.name)
	if err != nil {
		return fileOnDisk{}, nil, err
	}
	d := fileOnDisk{mode: diskMode(info), info: info}
	var data []byte
	switch d.mode {
	case 0:
		return fileOnDisk{}, nil, fmt.Errorf("neither a file nor a symlink")
	case trees.ModeSymlink:
		target, err := pl.dir.Readlink(pl.name)
		if err != nil {
			return fileOnDisk{}, nil, err
		}
		data = []byte(target)
	default:
		f, err := pl.openFile()
		if err != nil {
			return fileOnDisk{}, nil, err
		}
		data = make([]byte, info.Size())
		_, err = io.ReadFull(f, data)
		if err = errors.Join(err, f.Close()); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // the file became shorter
				err = ErrConcurrentChange
			}
			return fileOnDisk{}, nil, err
		}
	}
	again, err := pl.dir.Lstat(pl.name)
	if err != nil || !sameFile(info, again) {
		return fileOnDisk{}, nil, ErrConcurrentChange
	}
	d.hash = plumbing.ComputeHash(plumbing.BlobObject, data)
	return d, data, nil
}

// hashDisk is like readDisk, but returns only the hash.
func hashDisk(pl place, info fs.FileInfo) (fileOnDisk, error) {
	if diskMode(info) == trees.ModeSymlink {
		d, _, err := readDisk(pl)
		return d, err
	}
	f, err := pl.openFile()
	if err != nil {
		return fileOnDisk{}, err
	}
	defer f.Close()
	h := plumbing.NewHasher(plumbing.BlobObject, info.Size())
	buf := make([]byte, min(info.Size()+1, 32<<10)) // io.Copy alone takes 32 KiB for each small file
	if n, err := io.CopyBuffer(h, struct{ io.Reader }{f}, buf); err != nil || n != info.Size() {
		return fileOnDisk{}, ErrConcurrentChange
	}
	return fileOnDisk{mode: diskMode(info), hash: h.Sum(), info: info}, nil
}

// sameFile reports whether a file was neither replaced nor modified.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Mode() == b.Mode() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// insideOf returns the files below a directory. The last element is "" if a directory is
// unreadable or the number of files exceeds limit.
func insideOf(dir *os.Root, name string, limit int) (files []string) {
	d, _, err := openDir(dir, path.Base(name), false)
	if err != nil {
		return []string{""}
	}
	defer d.Close()
	entries, err := readDir(d)
	if err != nil {
		return []string{""}
	}
	for _, e := range entries {
		switch below := name + "/" + e.Name(); {
		case len(files) > limit:
			return append(files, "")
		case e.IsDir():
			files = append(files, insideOf(d, below, limit-len(files))...)
		default:
			files = append(files, below)
		}
	}
	return files
}

func readDir(d *os.Root) ([]os.DirEntry, error) {
	f, err := d.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}
