package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// DefaultMaxFile caps one untracked file, in bytes. What was named as an
// artifact, and what is tracked, has no cap of its own.
const DefaultMaxFile = 1 << 20

// A capture takes files of the worktree into a snapshot.
type capture struct {
	s       *Store
	ctx     context.Context
	k       *sink
	snap    *snapshot
	room    int64 // bytes left below the size limit
	maxFile int64
	dry     bool        // git must not store anything either
	late    func() bool // whether the time budget is spent
	skipped int         // of all, also where the record's list is cut
}

// captureMore adds what stands outside the staging area.
func (s *Store) captureMore(ctx context.Context, req *SaveRequest, snap *snapshot, k *sink) error {
	c := capture{
		s: s, ctx: ctx, k: k, snap: snap, room: req.MaxSize - snap.size, maxFile: req.MaxFile, dry: req.DryRun,
		late: func() bool { return false },
	}
	if req.MaxSize <= 0 {
		c.room = noLimit
	}
	if c.maxFile <= 0 {
		c.maxFile = DefaultMaxFile
	}
	snap.facts.Worktree, snap.facts.Untracked = req.Worktree, req.Untracked
	if err := c.artifacts(req.Artifacts, req.kept); err != nil {
		return err
	}
	defer c.spend(req.Budget)()
	if req.Worktree {
		if err := c.worktree(); c.failed(err) {
			return fmt.Errorf("read worktree: %w", err)
		}
	}
	if req.Untracked {
		if err := c.untracked(); c.failed(err) {
			return fmt.Errorf("read untracked files: %w", err)
		}
	}
	c.closeSkipped()
	return nil
}

// spend bounds the time that is left for files that nobody named.
func (c *capture) spend(budget time.Duration) (done func()) {
	if budget <= 0 {
		return func() {}
	}
	whole := c.ctx
	ctx, cancel := context.WithTimeout(whole, budget)
	c.ctx, c.late = ctx, func() bool { return ctx.Err() != nil && whole.Err() == nil }
	return cancel
}

// failed reports whether an error is one. When time is up, files are missing:
// the record says so, and the checkpoint is better than none.
func (c *capture) failed(err error) bool {
	if err != nil && c.late() {
		c.skip(".", 0, outOfTime)
		return false
	}
	return err != nil
}

const outOfTime = "not read within the time budget"

// worktree takes the tracked files that differ from the staging area, and
// names those that were deleted. Git decides what differs; its own index is
// not refreshed, so a file may be named whose content is the same. It looks
// where a submodule stands, not into it.
func (c *capture) worktree() error {
	out, err := c.git().Output(c.ctx, "diff-files", "-0", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return err
	}
	dirty, err := parseRaw(gitcmd.Fields(out))
	if err != nil {
		return err
	}
	wanted := make([]candidate, 0, len(dirty))
	for _, d := range dirty {
		if d.Old.Mode == trees.ModeGitlink {
			if d.New.Mode == trees.ModeGitlink {
				c.skip(d.Path, 0, "a submodule on another commit than the one that is staged")
			}
			continue
		}
		if d.New.Mode == 0 {
			c.snap.facts.Deleted = append(c.snap.facts.Deleted, d.Path)
			c.snap.addFile(d.Path, "deleted", false)
			continue
		}
		wanted = append(wanted, candidate{path: d.Path, mode: d.New.Mode, known: d.Old, status: d.status, maxSize: noLimit})
	}
	files, err := c.take(wanted)
	if err != nil {
		return err
	}
	c.add("worktree", files)
	return nil
}

// A rawChange is a line of `git diff-files --raw`.
type rawChange struct {
	trees.Change
	status string
}

// parseRaw reads ":<old mode> <new mode> <old hash> <new hash> <letter>" and a
// path, in turns.
func parseRaw(fields []string) ([]rawChange, error) {
	words := map[string]string{"M": "modified", "A": "added", "T": "typechange", "D": "deleted"}
	var changes []rawChange
	for i := 0; i+1 < len(fields); i += 2 {
		info := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(info) != 5 {
			return nil, fmt.Errorf("git diff-files said %q", fields[i])
		}
		var modes [2]uint64
		for n := range modes {
			var err error
			if modes[n], err = strconv.ParseUint(info[n], 8, 32); err != nil {
				return nil, fmt.Errorf("git diff-files said %q", fields[i])
			}
		}
		changes = append(changes, rawChange{
			trees.Change{
				Path: fields[i+1],
				Old:  trees.Entry{Mode: uint32(modes[0]), Hash: plumbing.NewHash(info[2])},
				New:  trees.Entry{Mode: uint32(modes[1])},
			},
			words[info[4]], // none for "U": conflicts are listed already
		})
	}
	return changes, nil
}

// untracked takes files that git neither tracks nor ignores.
func (c *capture) untracked() error {
	out, err := c.git().Output(c.ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	var wanted []candidate
	for _, path := range gitcmd.Fields(out) {
		if strings.HasSuffix(path, "/") {
			c.skip(path, 0, "a repository of its own")
			continue
		}
		wanted = append(wanted, candidate{path: path, status: "untracked", maxSize: c.maxFile})
	}
	files, err := c.take(wanted)
	if err != nil {
		return err
	}
	c.add("untracked", files)
	return nil
}

// artifacts takes files that were named, git-ignored ones too, and those to
// keep that can be.
func (c *capture) artifacts(names, kept []string) error {
	if len(names)+len(kept) == 0 {
		return nil
	}
	root, err := os.OpenRoot(c.s.repo.root)
	if err != nil {
		return err
	}
	defer root.Close()
	var wanted []candidate
	known := map[string]bool{}
	for _, name := range names {
		clean, err := checkArtifact(root, name)
		if err != nil {
			return fmt.Errorf("artifact %q: %w", name, err)
		}
		if !known[clean] {
			wanted = append(wanted, candidate{path: clean, maxSize: noLimit, must: true})
		}
		known[clean] = true
	}
	for _, name := range kept {
		if clean, err := checkArtifact(root, name); err == nil && !known[clean] {
			wanted, known[clean] = append(wanted, candidate{path: clean, maxSize: noLimit}), true
		}
	}
	files, err := c.take(wanted)
	if err != nil {
		return err
	}
	c.add("artifacts", files)
	return nil
}

// checkArtifact returns the path below the root that a name stands for, if it
// is that of a file which a restore could put back.
func checkArtifact(root *os.Root, name string) (string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if path.IsAbs(clean) || filepath.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", errors.New("outside the worktree")
	}
	for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(filepath.FromSlash(dir)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return "", fmt.Errorf("%q is a symlink", dir)
		}
	}
	info, err := root.Lstat(filepath.FromSlash(clean))
	if err != nil {
		return "", errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	return clean, trees.CheckPath(clean, trees.ModeFile)
}

func (c *capture) add(name string, files []trees.File) {
	if tree := trees.Build(c.k, files); !tree.IsZero() {
		c.snap.entries = append(c.snap.entries, trees.Entry{Mode: trees.ModeTree, Name: name, Hash: tree})
	}
}

// skip names a path that is left out. Beyond maxListed they are counted: a
// record is no place for all of node_modules.
func (c *capture) skip(path string, size int64, reason string) {
	if c.skipped++; c.skipped <= maxListed {
		c.snap.facts.Skipped = append(c.snap.facts.Skipped, checkpoint.Skipped{Path: path, Size: size, Reason: reason})
	}
}

func (c *capture) closeSkipped() {
	if more := c.skipped - maxListed; more > 0 {
		c.snap.facts.Skipped = append(c.snap.facts.Skipped, checkpoint.Skipped{Path: ".", Reason: fmt.Sprintf("%d more", more)})
	}
}
