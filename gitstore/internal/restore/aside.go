package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A restore does not copy large, unreadable and git-lfs files into the entry of its operation. It
// sets such a file aside: it renames the file into the folder of the entry (operation.Log.Kept). The
// undo renames it back, and sets aside what it replaces by the same rules. A kill never leaves the path
// without a file.

// errNotAside reports that a file could not be set aside, for example because it is on another file
// system than the git directory.
var errNotAside = errors.New("cannot be set aside")

// aside marks an error of a rename that sets a file aside.
func aside(err error) error {
	if err == nil || errors.Is(err, ErrConcurrentChange) {
		return err
	}
	return fmt.Errorf("%w: %w", errNotAside, err)
}

// unread returns a file to be set aside. Size and modification time, which a rename keeps, stand for
// its content.
func unread(d fileOnDisk) fileOnDisk {
	if !d.isAside() {
		text := fmt.Appendf(nil, "%d %d", d.info.Size(), d.info.ModTime().UnixNano())
		d.Hash, d.Mode = plumbing.ComputeHash(plumbing.BlobObject, text), d.Mode|modeAside
	}
	return d
}

// findLFS returns the paths of steps whose files have the attribute of git-lfs.
func (s *worktree) findLFS(ctx context.Context, steps []Step) (map[string]bool, error) {
	if !slices.ContainsFunc(s.repo.Config, func(e git.ConfigEntry) bool { return strings.HasPrefix(e.Key, "filter.lfs.") }) {
		return nil, nil
	}
	var paths bytes.Buffer
	for _, st := range steps {
		if st.Work && st.Before.Disk.Mode != 0 && st.Before.Disk.Mode != trees.ModeSymlink {
			paths.WriteString(st.Path + "\x00")
		}
	}
	if paths.Len() == 0 {
		return nil, nil
	}
	out, err := s.repo.RootGit().Pipe(ctx, paths.Bytes(), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, fmt.Errorf("find git-lfs files: %w", err)
	}
	found := map[string]bool{}
	for fields := git.Fields(out); len(fields) >= 3; fields = fields[3:] {
		found[fields[0]] = fields[2] == "lfs"
	}
	return found, nil
}

// keptPlace returns the place in the folder of the entry for a file of a path that is set aside.
func (w *staging) keptPlace(path string, d fileOnDisk) (place, error) {
	if w.kept == nil {
		if err := w.s.repo.Objects.MakeDirs(w.s.kept); err != nil {
			return place{}, aside(err)
		}
		kept, err := openFolder(w.s.kept)
		if err != nil {
			return place{}, aside(err)
		}
		w.kept = kept
	}
	return place{w.kept, plumbing.ComputeHash(plumbing.BlobObject, []byte(d.Hash.String()+path)).String()}, nil
}

// findKept returns the place of the file that was set aside for the path of a step. If a command was killed
// while it exchanged this file for another one to be set aside, the file has the place of the other one.
func (w *staging) findKept(st Step) (place, error) {
	pl, err := w.keptPlace(st.Path, st.After.Disk)
	places := []place{pl}
	if err == nil && st.Before.Disk.isAside() {
		pl, err = w.keptPlace(st.Path, st.Before.Disk)
		places = append(places, pl, pl.next())
	}
	if err != nil {
		return place{}, err
	}
	for _, pl := range places {
		if info, err := pl.dir.Lstat(pl.name); err == nil && info.Mode().IsRegular() && unread(fileOnDisk{info: info}).Hash == st.After.Disk.Hash {
			return pl, nil
		}
	}
	return place{}, trees.Corrupt("operation", "path %q: its file is not in %s", st.Path, w.s.kept)
}

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
