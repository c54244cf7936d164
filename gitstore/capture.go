package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// DefaultMaxFile caps one untracked file or artifact, in bytes.
const DefaultMaxFile = 1 << 20

// captureMore adds what stands outside the staging area.
func (s *Store) captureMore(ctx context.Context, req *SaveRequest, snap *snapshot, k *sink) error {
	c := capture{s: s, ctx: ctx, k: k, snap: snap, room: req.MaxSize - snap.size, maxFile: req.MaxFile}
	if req.MaxSize <= 0 {
		c.room = 1 << 62
	}
	if c.maxFile <= 0 {
		c.maxFile = DefaultMaxFile
	}
	snap.facts.Worktree, snap.facts.Untracked = req.Worktree, req.Untracked
	if req.Worktree {
		if err := c.worktree(); err != nil {
			return fmt.Errorf("read worktree: %w", err)
		}
	}
	if req.Untracked {
		if err := c.untracked(); err != nil {
			return fmt.Errorf("read untracked files: %w", err)
		}
	}
	return c.artifacts(req.Artifacts)
}

// A capture takes files of the worktree into a snapshot.
type capture struct {
	s       *Store
	ctx     context.Context
	k       *sink
	snap    *snapshot
	room    int64 // bytes left below the size limit
	maxFile int64
}

// worktree takes the tracked files that differ from the staging area, and
// names those that were deleted. Git decides what differs; its own index is
// not refreshed, so a file may be named whose content is the same.
func (c *capture) worktree() error {
	g := c.s.git
	g.Dir = c.s.repo.root
	out, err := g.Output(c.ctx, "diff-files", "-0", "-z", "--raw", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return err
	}
	var paths []string
	fields := gitcmd.Fields(out)
	staged := map[string]plumbing.Hash{}
	for i := 0; i+1 < len(fields); i += 2 {
		info := strings.Fields(fields[i])
		path := fields[i+1]
		if len(info) != 5 {
			return fmt.Errorf("git diff-files said %q", fields[i])
		}
		if info[4] == "D" {
			c.snap.facts.Deleted = append(c.snap.facts.Deleted, path)
			c.snap.addFile(path, "deleted", false)
			continue
		}
		staged[path] = plumbing.NewHash(info[2])
		paths = append(paths, path)
	}
	files, err := c.take(paths, 1<<62)
	if err != nil {
		return err
	}
	differ := files[:0]
	for _, f := range files {
		e, known := staged[f.path]
		if known && e == f.hash && !c.modeChanged(f) {
			continue
		}
		differ = append(differ, f)
		c.snap.addFile(f.path, "modified", false)
	}
	c.add("worktree", differ)
	return nil
}

// modeChanged reports whether the staged entry of a file has another mode.
func (c *capture) modeChanged(f file) bool {
	mode, _, err := lookupPath(c.k, c.snap.staged, f.path)
	return err != nil || mode != f.mode
}

// untracked takes files that git neither tracks nor ignores.
func (c *capture) untracked() error {
	g := c.s.git
	g.Dir = c.s.repo.root
	out, err := g.Output(c.ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	var paths []string
	for _, path := range gitcmd.Fields(out) {
		if strings.HasSuffix(path, "/") {
			c.skip(path, 0, "a repository of its own")
			continue
		}
		paths = append(paths, path)
	}
	files, err := c.take(paths, c.maxFile)
	if err != nil {
		return err
	}
	for _, f := range files {
		c.snap.addFile(f.path, "untracked", false)
	}
	c.add("untracked", files)
	return nil
}

// artifacts takes files that were named, git-ignored ones too.
func (c *capture) artifacts(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	for _, path := range paths {
		info, err := os.Lstat(filepath.Join(c.s.repo.root, filepath.FromSlash(path)))
		if err != nil {
			return fmt.Errorf("artifact %q: %w", path, errors.Unwrap(err))
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("artifact %q: not a regular file", path)
		}
	}
	files, err := c.take(paths, 1<<62)
	if err != nil {
		return err
	}
	if len(files) != len(paths) {
		last := c.snap.facts.Skipped[len(c.snap.facts.Skipped)-1]
		return fmt.Errorf("artifact %q: %s", last.Path, last.Reason)
	}
	c.add("artifacts", files)
	return nil
}

func (c *capture) add(name string, files []file) {
	if tree := c.k.buildTree(files); !tree.IsZero() {
		c.snap.entries = append(c.snap.entries, treeEntry{modeTree, name, tree})
	}
}

func (c *capture) skip(path string, size int64, reason string) {
	c.snap.facts.Skipped = append(c.snap.facts.Skipped, checkpoint.Skipped{Path: path, Size: size, Reason: reason})
}

// take reads files as git would add them, and names those it leaves out.
func (c *capture) take(paths []string, maxFile int64) ([]file, error) {
	root, err := os.OpenRoot(c.s.repo.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []file
	var regular []file
	for _, path := range paths {
		info, err := root.Lstat(filepath.FromSlash(path))
		if err != nil {
			c.skip(path, 0, "gone or not readable")
			continue
		}
		mode := modeOf(info)
		switch err := checkPath(path, mode); {
		case mode == 0:
			c.skip(path, 0, "neither a file nor a symlink")
		case err != nil:
			c.skip(path, info.Size(), "a name that git refuses")
		case info.Size() > maxFile:
			c.skip(path, info.Size(), fmt.Sprintf("larger than %d bytes", maxFile))
		case info.Size() > c.room:
			c.skip(path, info.Size(), "over the size limit of the checkpoint")
		case mode == modeSymlink:
			target, err := root.Readlink(filepath.FromSlash(path))
			if err != nil {
				c.skip(path, 0, "not readable")
				continue
			}
			files = append(files, file{path, mode, c.k.Add(plumbing.BlobObject, []byte(target))})
		default:
			c.room -= info.Size()
			c.snap.size += info.Size()
			regular = append(regular, file{path: path, mode: mode})
		}
	}
	taken, err := c.hash(root, regular)
	return append(files, taken...), err
}

func modeOf(info fs.FileInfo) uint32 {
	switch m := info.Mode(); {
	case m.IsRegular() && m&0o100 != 0:
		return modeExec
	case m.IsRegular():
		return modeFile
	case m&fs.ModeSymlink != 0:
		return modeSymlink
	}
	return 0
}

// hash stores regular files. Git says what each would be after its filters;
// where that is the file as it stands, the file itself goes into the save's
// own batch, else git stores it.
func (c *capture) hash(root *os.Root, files []file) ([]file, error) {
	hashes, err := c.hashAll(files)
	if err != nil {
		return nil, err
	}
	taken := files[:0]
	for i, f := range files {
		data, err := root.ReadFile(filepath.FromSlash(f.path))
		if err != nil {
			c.skip(f.path, 0, "not readable")
			continue
		}
		f.hash = hashes[i]
		if plumbing.ComputeHash(plumbing.BlobObject, data) == f.hash {
			c.k.Add(plumbing.BlobObject, data)
		} else if f.hash, err = c.filtered(f.path); err != nil {
			c.skip(f.path, int64(len(data)), "not readable through its filter")
			continue
		}
		taken = append(taken, f)
	}
	return taken, nil
}

// hashAll asks git for the hashes of files. Names with a line break cannot be
// asked for in one go: they get the zero hash, which matches nothing.
func (c *capture) hashAll(files []file) ([]plumbing.Hash, error) {
	hashes := make([]plumbing.Hash, len(files))
	var in bytes.Buffer
	var asked []int
	for i, f := range files {
		if !strings.ContainsAny(f.path, "\n\r\"") {
			in.WriteString(f.path + "\n")
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return hashes, nil
	}
	g := c.s.git
	g.Dir = c.s.repo.root
	out, err := g.Pipe(c.ctx, in.Bytes(), "hash-object", "--stdin-paths")
	lines := strings.Fields(string(out))
	if err != nil && len(lines) < len(asked) {
		return hashes, nil // one vanished: each is asked for alone
	}
	for n, i := range asked {
		hashes[i] = plumbing.NewHash(lines[n])
	}
	return hashes, nil
}

// filtered lets git store a file through its filters.
func (c *capture) filtered(path string) (plumbing.Hash, error) {
	g := c.s.git
	g.Dir = c.s.repo.root
	line, err := g.Line(c.ctx, "-c", "core.fsync=loose-object", "hash-object", "-w", "--", path)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	hash := plumbing.NewHash(line)
	c.k.keep(hash)
	return hash, nil
}

// lookupPath finds a path below a tree; a zero hash means that it is not
// there.
func lookupPath(r reader, tree plumbing.Hash, path string) (uint32, plumbing.Hash, error) {
	for {
		name, rest, deeper := strings.Cut(path, "/")
		entries, err := readTree(r, tree)
		if err != nil {
			return 0, plumbing.ZeroHash, err
		}
		e, ok := entry(entries, name)
		switch {
		case !ok, deeper && !e.isTree():
			return 0, plumbing.ZeroHash, nil
		case !deeper:
			return e.mode, e.hash, nil
		}
		tree, path = e.hash, rest
	}
}

