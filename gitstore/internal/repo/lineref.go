package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// SetLineRef stores the objects of k, and sets the ref of a line to tip if the chains that the line
// was made from still have their tips. The ref gets no reflog, so that git gc can delete the states of
// dropped checkpoints. It fails if another process has moved one of the refs.
func (s *Repo) SetLineRef(ctx context.Context, k *ObjectWriter, issue checkpoint.Issue, tip plumbing.Hash, from map[string]plumbing.Hash) error {
	if err := k.Flush(ctx); err != nil {
		return err
	}
	in := fmt.Appendf(nil, "update %s\x00%s\x00\x00", LineRef(issue), tip)
	for _, name := range slices.Sorted(maps.Keys(from)) {
		in = fmt.Appendf(in, "verify %s\x00%s\x00", name, from[name])
	}
	_, err := s.Git.Pipe(ctx, in, "-c", "core.logAllRefUpdates=false", "update-ref", "--no-deref", "--stdin", "-z")
	return err
}

// addStaleLines adds the deletion of each line that can have states which a chain loses: those of its
// issue, and of the issue's source and forks. A chain that only grows loses none.
func (t *transaction) addStaleLines(ctx context.Context) error {
	roots := map[checkpoint.Issue]bool{}
	for _, m := range t.moves {
		name, isChain := strings.CutPrefix(m.Name, LiveRefs)
		if !isChain {
			name, isChain = strings.CutPrefix(m.Name, ArchiveRefs)
		}
		if issue, err := checkpoint.IssueFromRef(name); isChain && err == nil && !m.Old.IsZero() && m.Old != m.New && !t.grows(m) {
			roots[issue.Root()] = true
		}
	}
	if len(roots) == 0 {
		return nil
	}
	names, err := t.s.Refs.Names(ctx, LineRefs)
	if err != nil {
		return err
	}
	for _, name := range names {
		issue, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, LineRefs))
		if err != nil || !roots[issue.Root()] {
			continue
		}
		if tip, err := t.s.ReadRef(ctx, name); err == nil && !tip.IsZero() { // a broken ref keeps nothing
			t.moves = append(t.moves, refs.Move{Name: name, Old: tip})
		}
	}
	return nil
}

// grows reports whether a move adds one checkpoint to a chain. A ledger commit can hide others.
func (t *transaction) grows(m refs.Move) bool {
	kind, data, err := t.k.Read(m.New)
	if err != nil || kind != plumbing.CommitObject {
		return false
	}
	c, err := ParseCommit(m.New, data)
	return err == nil && len(c.Parents) == 2 && c.Parents[0] == m.Old
}
