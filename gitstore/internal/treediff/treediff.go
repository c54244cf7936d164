// Package treediff compares the states of two checkpoints as git compares trees, and worktree
// files with a checkpoint.
package treediff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

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
	Added, Deleted   int    // lines
	Counted          bool   // the file has lines: it is not binary
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
}

// Diff compares the files of two sides.
type Diff struct {
	git      git.Git
	from, to plumbing.Hash // trees
	paths    []string
	Unmerged []string // paths with conflicts in the later checkpoint that differ from those in the earlier one
}

// New compares two sides. Optional paths are git pathspecs that limit the comparison.
func New(at Source, from, to Side, paths ...string) (*Diff, error) {
	b := &Diff{git: at.Git, paths: paths, from: orEmpty(from.Tree), to: orEmpty(to.Tree)}
	b.git.UserPathspecs = true
	// Git sets no limit to trees that name one object in many directories.
	if _, err := trees.Diff(at.Objects, b.from, b.to); errors.As(err, new(*trees.CorruptError)) {
		return nil, err
	}
	stages, err := trees.Diff(at.Objects, from.Conflicts, to.Conflicts)
	if err != nil {
		return nil, err
	}
	for _, c := range stages { // the path of a stage is "<stage>/<path>"
		if _, path, _ := strings.Cut(c.Path, "/"); !c.New.Hash.IsZero() {
			b.Unmerged = append(b.Unmerged, path)
		}
	}
	slices.Sort(b.Unmerged)
	b.Unmerged = slices.Compact(b.Unmerged)
	return b, nil
}

func orEmpty(tree plumbing.Hash) plumbing.Hash {
	if tree.IsZero() {
		return trees.Empty
	}
	return tree
}

// Same reports whether both sides have equal files.
func (b *Diff) Same() bool { return b.from == b.to && len(b.Unmerged) == 0 }

// Files returns changes sorted by path, with git's default rename detection. Unmerged paths have the
// status "conflicted", also those with unchanged files.
func (b *Diff) Files(ctx context.Context) ([]Change, error) {
	if b.Same() {
		return nil, nil
	}
	out, err := b.git.Output(ctx, b.diffTree("-z", "--raw", "--numstat", "--no-abbrev")...)
	if err != nil {
		return nil, fmt.Errorf("compare files: %w", err)
	}
	changes, err := parseChanges(out)
	if err != nil {
		return nil, err
	}
	for _, path := range b.Unmerged {
		i := slices.IndexFunc(changes, func(c Change) bool { return c.Path == path })
		if i >= 0 {
			changes[i].Status = "conflicted"
		} else if len(b.paths) == 0 {
			changes = append(changes, Change{Path: path, Status: "conflicted"})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// diffTree returns the arguments of git diff-tree for the trees and paths.
func (b *Diff) diffTree(how ...string) []string {
	args := append([]string{"-c", "core.bigFileThreshold=" + MaxPatched, "diff-tree", "-r", "-M"}, how...)
	return append(append(args, b.from.String(), b.to.String(), "--"), b.paths...)
}

// parseChanges parses raw changes, and the line counts of all files after them, as records of parseCount.
func parseChanges(out []byte) (changes []Change, err error) {
	words := map[byte]string{'M': "modified", 'A': "added", 'T': "typechange", 'D': "deleted", 'R': "renamed", 'C': "added"}
	raw, fields, err := git.ParseRaw(out)
	if err != nil {
		return nil, fmt.Errorf("compare files: %w", err)
	}
	for _, c := range raw {
		if words[c.Status] == "" {
			return nil, fmt.Errorf("compare files: git diff-tree said %q", c.Status)
		}
		changes = append(changes, Change{Path: c.Path, From: c.From, Status: words[c.Status], OldMode: c.OldMode, NewMode: c.NewMode})
	}
	counts := map[string]Change{}
	for len(fields) > 0 {
		c, rest, err := parseCount(fields)
		if err != nil {
			return nil, err
		}
		counts[c.Path], fields = c, rest
	}
	for i := range changes {
		n := counts[changes[i].Path]
		changes[i].Added, changes[i].Deleted, changes[i].Counted = n.Added, n.Deleted, n.Counted
	}
	return changes, nil
}

// Patch writes a git diff with the user's diff settings. The output contains unescaped
// file content, so it is unsafe for terminals.
func (b *Diff) Patch(ctx context.Context, w io.Writer) error {
	return b.diff(ctx, w, "--patch")
}

// MaxPatched is the file size above which git reports only that files differ, to save
// memory.
const MaxPatched = "64m"

// Stat writes git diff --stat in lines of at most width columns.
func (b *Diff) Stat(ctx context.Context, w io.Writer, width int) error {
	return b.diff(ctx, w, "--stat="+strconv.Itoa(width), "--compact-summary")
}

func (b *Diff) diff(ctx context.Context, w io.Writer, how ...string) error {
	if b.from == b.to {
		return nil
	}
	args := append([]string{"-c", "core.bigFileThreshold=" + MaxPatched, "diff", "--no-color", "--no-ext-diff"}, how...)
	args = append(args, b.from.String(), b.to.String(), "--")
	if err := b.git.Filter(ctx, nil, w, append(args, b.paths...)...); err != nil {
		return fmt.Errorf("compare files: %w", err)
	}
	return nil
}

// Changes returns Files together with all patches in the same order, independent of user
// settings. A file with only a conflict has no patch, and a type change has two. Patches
// are truncated to limit bytes; whole reports whether they are complete.
func (b *Diff) Changes(ctx context.Context, limit int) (changes []Change, patch []byte, whole bool, err error) {
	if changes, err = b.Files(ctx); err != nil || b.from == b.to {
		return changes, nil, true, err
	}
	run, err := b.git.Talk(ctx, b.diffTree("-p", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/")...)
	if err == nil {
		if patch, err = io.ReadAll(io.LimitReader(run, int64(limit)+1)); len(patch) > limit {
			_ = run.Kill() // the rest is not read
			return changes, patch[:limit], false, nil
		}
		_, failed := run.Finish(nil)
		err = cmp.Or(err, failed)
	}
	if err != nil {
		return nil, nil, false, fmt.Errorf("compare files: %w", err)
	}
	return changes, patch, true, nil
}

// Totals has the numbers of changed files and lines. Binary files have no lines.
type Totals struct{ Files, Added, Deleted int }

// A Pair is the old and the new tree of a comparison. Zero is the empty tree.
type Pair struct{ From, To plumbing.Hash }

// TotalsOf counts the changed files and lines of pairs. One git process reads all pairs,
// because a process for each takes longer than its comparison.
func TotalsOf(ctx context.Context, at Source, pairs []Pair) ([]Totals, error) {
	totals := make([]Totals, len(pairs))
	var asked []*Totals
	var heads []string
	for i, p := range pairs {
		if from, to := orEmpty(p.From), orEmpty(p.To); from != to {
			asked = append(asked, &totals[i])
			heads = append(heads, from.String()+" "+to.String()+"\n")
		}
	}
	if len(asked) == 0 {
		return totals, nil
	}
	out, err := at.Git.Pipe(ctx, []byte(strings.Join(heads, "")),
		"-c", "core.bigFileThreshold="+MaxPatched, "diff-tree", "--stdin", "-r", "-M", "--numstat")
	if err != nil {
		return nil, fmt.Errorf("count lines: %w", err)
	}
	return totals, parseTotals(string(out), heads, asked)
}

// parseTotals parses the output for pairs: the line of the pair in the input, then a line for each file.
func parseTotals(out string, heads []string, totals []*Totals) error {
	next := 0
	for line := range strings.Lines(out) {
		if next < len(heads) && line == heads[next] {
			next++
			continue
		}
		c, _, err := parseCount([]string{line})
		if err != nil || next == 0 {
			return fmt.Errorf("count lines: git diff-tree said %.80q", line)
		}
		t := totals[next-1]
		t.Files, t.Added, t.Deleted = t.Files+1, t.Added+c.Added, t.Deleted+c.Deleted
	}
	if next != len(heads) {
		return fmt.Errorf("count lines: git diff-tree compared %d of %d pairs", next, len(heads))
	}
	return nil
}

// parseCount parses "<added> TAB <deleted> TAB <path>", a record of git's --numstat, and returns the
// fields after it. If the path is empty, the two paths of a rename follow. Binary files have "-" as
// numbers.
func parseCount(fields []string) (c Change, rest []string, err error) {
	parts := strings.SplitN(fields[0], "\t", 3)
	isRename := len(parts) == 3 && parts[2] == ""
	if len(parts) < 3 || isRename && len(fields) < 3 {
		return c, nil, fmt.Errorf("count lines: git diff-tree said %.80q", fields[0])
	}
	c.Path, rest = parts[2], fields[1:]
	if isRename {
		c.Path, rest = fields[2], fields[3:]
	}
	if c.Counted = parts[0] != "-"; !c.Counted {
		return c, rest, nil
	}
	for i, n := range []*int{&c.Added, &c.Deleted} {
		if *n, err = strconv.Atoi(parts[i]); err != nil {
			return c, nil, fmt.Errorf("count lines: git diff-tree said %.80q", fields[0])
		}
	}
	return c, rest, nil
}
