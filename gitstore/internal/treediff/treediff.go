// Package treediff compares the states of two checkpoints as git compares trees, and worktree
// files with a checkpoint.
package treediff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Change is a file that differs between two checkpoints.
type Change struct {
	Path             string
	From             string // old path of a renamed file
	Status           string // added, modified, deleted, renamed, typechange, conflicted
	OldMode, NewMode uint32 // 0 if the file is missing
}

// A Side is one checkpoint of a comparison, or another tree, such as HEAD's.
type Side struct {
	Tree      plumbing.Hash // the state
	Conflicts plumbing.Hash // stages of unmerged paths, zero without one
}

// A Source reads the objects of both sides.
type Source struct {
	Git     git.Git
	Objects trees.Reader
	NoIndex string // path of a nonexistent file, used as GIT_INDEX_FILE
}

// Diff compares the files of two sides.
type Diff struct {
	git      git.Git
	noIndex  string
	from, to plumbing.Hash // trees
	paths    []string
	unmerged []string
}

// New compares two sides. Optional paths are git pathspecs that limit the comparison.
func New(at Source, from, to Side, paths ...string) (*Diff, error) {
	b := &Diff{git: at.Git, noIndex: at.NoIndex, paths: paths, from: orEmpty(from.Tree), to: orEmpty(to.Tree)}
	b.git.UserPathspecs = true
	// Git sets no limit to trees that name one object in many directories.
	if _, err := trees.Diff(at.Objects, b.from, b.to); errors.As(err, new(*trees.CorruptError)) {
		return nil, err
	}
	before, err := unmerged(at.Objects, from.Conflicts)
	if err != nil {
		return nil, err
	}
	after, err := unmerged(at.Objects, to.Conflicts)
	if err != nil {
		return nil, err
	}
	for path, st := range after {
		if before[path] != st {
			b.unmerged = append(b.unmerged, path)
		}
	}
	slices.Sort(b.unmerged)
	return b, nil
}

// unmerged returns the stages of unmerged paths.
func unmerged(r trees.Reader, conflicts plumbing.Hash) (map[string]contents.Stages, error) {
	stages, err := trees.Read(r, conflicts)
	if err != nil {
		return nil, err
	}
	paths := map[string]contents.Stages{}
	for stage := 1; stage <= 3; stage++ {
		files, err := trees.Diff(r, plumbing.ZeroHash, trees.HashOf(stages, strconv.Itoa(stage)))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			st := paths[f.Path]
			st[stage] = contents.Side{Mode: f.New.Mode, Hash: f.New.Hash}
			paths[f.Path] = st
		}
	}
	return paths, nil
}

func orEmpty(tree plumbing.Hash) plumbing.Hash {
	if tree.IsZero() {
		return trees.Empty
	}
	return tree
}

// Same reports whether both sides have equal files.
func (b *Diff) Same() bool { return b.from == b.to && len(b.unmerged) == 0 }

// Unmerged returns paths with conflicts in the later checkpoint that differ from
// conflicts in the earlier checkpoint.
func (b *Diff) Unmerged() []string { return b.unmerged }

// Files returns changes sorted by path, with git's default rename detection.
func (b *Diff) Files(ctx context.Context) ([]Change, error) {
	if b.Same() {
		return nil, nil
	}
	args := []string{"diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", b.from.String(), b.to.String(), "--"}
	out, err := b.plumbing().Output(ctx, append(args, b.paths...)...)
	if err != nil {
		return nil, fmt.Errorf("compare files: %w", err)
	}
	changes, err := parseChanges(git.Fields(out))
	if err != nil {
		return nil, err
	}
	return b.markUnmerged(changes), nil
}

// markUnmerged sets status "conflicted" for unmerged paths, and adds paths with unchanged
// files.
func (b *Diff) markUnmerged(changes []Change) []Change {
	for _, path := range b.unmerged {
		i := slices.IndexFunc(changes, func(c Change) bool { return c.Path == path })
		if i >= 0 {
			changes[i].Status = "conflicted"
		} else if len(b.paths) == 0 {
			changes = append(changes, Change{Path: path, Status: "conflicted"})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// parseChanges parses ":<old mode> <new mode> <old hash> <new hash> <letter>" followed by
// one path. Renames and copies have a score after the letter and two paths.
func parseChanges(fields []string) ([]Change, error) {
	words := map[byte]string{'M': "modified", 'A': "added", 'T': "typechange", 'D': "deleted", 'R': "renamed", 'C': "added"}
	var changes []Change
	for len(fields) > 1 {
		info := strings.Fields(strings.TrimPrefix(fields[0], ":"))
		if len(info) != 5 || words[info[4][0]] == "" {
			return nil, fmt.Errorf("compare files: git diff-tree said %q", fields[0])
		}
		c := Change{Path: fields[1], Status: words[info[4][0]]}
		fields = fields[2:]
		if two := info[4][0]; (two == 'R' || two == 'C') && len(fields) > 0 {
			c.From, c.Path, fields = c.Path, fields[0], fields[1:]
		}
		for i, mode := range []*uint32{&c.OldMode, &c.NewMode} {
			n, err := strconv.ParseUint(info[i], 8, 32)
			if err != nil {
				return nil, fmt.Errorf("compare files: git diff-tree said %q", info)
			}
			*mode = uint32(n)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// Patch writes a git diff with the user's diff settings. The output contains unescaped
// file content, so it is unsafe for terminals.
func (b *Diff) Patch(ctx context.Context, w io.Writer) error {
	return b.diff(ctx, w, "--patch")
}

// plumbing returns a git command without an index. git diff-tree reads the whole index
// first, although it needs no entry.
func (b *Diff) plumbing() git.Git {
	return b.git.With("GIT_INDEX_FILE=" + b.noIndex)
}

// maxPatched is the file size above which git reports only that files differ, to save
// memory.
const maxPatched = "64m"

// Stat writes git diff --stat in lines of at most width columns.
func (b *Diff) Stat(ctx context.Context, w io.Writer, width int) error {
	return b.diff(ctx, w, "--stat="+strconv.Itoa(width), "--compact-summary")
}

func (b *Diff) diff(ctx context.Context, w io.Writer, how ...string) error {
	if b.from == b.to {
		return nil
	}
	args := append([]string{"-c", "core.bigFileThreshold=" + maxPatched, "diff", "--no-color", "--no-ext-diff"}, how...)
	args = append(args, b.from.String(), b.to.String(), "--")
	if err := b.git.Copy(ctx, w, append(args, b.paths...)...); err != nil {
		return fmt.Errorf("compare files: %w", err)
	}
	return nil
}

// Changes returns Files together with all patches in the same order, independent of user
// settings. A file with only a conflict has no patch, and a type change has two. Patches
// are truncated to limit bytes; whole reports whether they are complete.
func (b *Diff) Changes(ctx context.Context, limit int) (changes []Change, patch []byte, whole bool, err error) {
	p := &parted{left: limit}
	if b.from != b.to {
		args := []string{
			"-c", "core.bigFileThreshold=" + maxPatched, "diff-tree", "-r", "-z", "-M", "--raw", "-p", "--no-abbrev", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short",
			"--src-prefix=a/", "--dst-prefix=b/", b.from.String(), b.to.String(), "--",
		}
		if err := b.plumbing().Copy(ctx, p, append(args, b.paths...)...); err != nil && !p.full {
			return nil, nil, false, fmt.Errorf("compare files: %w", err)
		}
	}
	if changes, err = parseChanges(git.Fields(p.list)); err != nil {
		return nil, nil, false, err
	}
	return b.markUnmerged(changes), p.patch, !p.full, nil
}

// A parted writer splits git output of -z --raw -p: a list of NUL-terminated fields, a
// NUL, and patches. It returns an error after the limit of patch bytes.
type parted struct {
	list, patch []byte
	past        bool // end of list reached
	left        int
	full        bool
}

var errEnough = errors.New("enough")

// Write splits the next part of the output.
func (p *parted) Write(data []byte) (int, error) {
	n := len(data)
	if !p.past {
		from := max(len(p.list)-1, 0) // the previous NUL may be the last byte of an earlier write
		p.list = append(p.list, data...)
		end := bytes.Index(p.list[from:], []byte("\x00\x00"))
		if end < 0 {
			return n, nil
		}
		end += from + 1
		p.past, p.list, data = true, p.list[:end], p.list[end+1:]
	}
	take := min(len(data), p.left)
	p.patch = append(p.patch, data[:take]...)
	p.left -= take
	if take < len(data) {
		p.full = true
		return n, errEnough
	}
	return n, nil
}

// Lines counts added and deleted lines of a file.
type Lines struct {
	Added, Deleted int
}

// Lines returns line counts by path, as git diff --numstat does. Binary files are
// omitted.
func (b *Diff) Lines(ctx context.Context) (map[string]Lines, error) {
	if b.from == b.to {
		return nil, nil
	}
	args := []string{"-c", "core.bigFileThreshold=" + maxPatched, "diff-tree", "-r", "-z", "-M", "--numstat", b.from.String(), b.to.String(), "--"}
	out, err := b.plumbing().Output(ctx, append(args, b.paths...)...)
	if err != nil {
		return nil, fmt.Errorf("count lines: %w", err)
	}
	counts := map[string]Lines{}
	for len(out) > 0 {
		var c count
		if c, out, err = nextCount(out); err != nil {
			return nil, err
		}
		if !c.binary {
			counts[c.path] = c.Lines
		}
	}
	return counts, nil
}
