package restore

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A fileOnDisk is the raw content of a worktree file before git's filters: type and
// permissions as octal st_mode, and the blob hash of its bytes or symlink target. The
// zero value means a missing file.
type fileOnDisk struct {
	Side             // see unread for a file that is set aside
	info fs.FileInfo // for sameFile
}

// modeAside is a bit in the mode of a file that the operation sets aside (aside.go).
const modeAside = 1 << 20

func (d fileOnDisk) isAside() bool { return d.Mode&modeAside != 0 }

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

// readDisk reads a worktree file, and with keep returns its content. It returns ErrConcurrentChange if the
// file changes during the read.
func readDisk(pl place, keep bool) (d fileOnDisk, content []byte, err error) {
	if d.info, err = pl.dir.Lstat(pl.name); err != nil {
		return fileOnDisk{}, nil, err
	}
	d.Mode = diskMode(d.info)
	size, in := d.info.Size(), io.Reader(nil)
	switch d.Mode {
	case 0:
		return fileOnDisk{}, nil, errors.New("neither a file nor a symlink")
	case trees.ModeSymlink:
		target, err := pl.dir.Readlink(pl.name)
		if err != nil {
			return fileOnDisk{}, nil, err
		}
		size, in = int64(len(target)), strings.NewReader(target)
	default:
		f, err := pl.openFile()
		if err != nil {
			return fileOnDisk{}, nil, err
		}
		defer f.Close()
		in = f
	}
	hasher, copied := plumbing.NewHasher(plumbing.BlobObject, size), new(bytes.Buffer)
	out := io.Writer(hasher)
	if keep {
		out = io.MultiWriter(hasher, copied)
	}
	buf := make([]byte, min(size+1, 32<<10)) // io.Copy alone takes 32 KiB for each small file
	n, err := io.CopyBuffer(out, struct{ io.Reader }{in}, buf)
	if err != nil {
		return fileOnDisk{}, nil, err
	}
	if again, err := pl.dir.Lstat(pl.name); err != nil || n != size || !sameFile(d.info, again) {
		return fileOnDisk{}, nil, ErrConcurrentChange
	}
	d.Hash = hasher.Sum()
	return d, copied.Bytes(), nil
}

// sameFile reports whether a file was neither replaced nor modified.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Mode() == b.Mode() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// insideOf returns the files below a directory, whose path in the worktree is name. The last element is
// "" if a directory is unreadable.
func insideOf(dir, name string) (files []string) {
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, name+filepath.ToSlash(strings.TrimPrefix(at, dir)))
		}
		return err
	})
	if err != nil {
		files = append(files, "")
	}
	return files
}
