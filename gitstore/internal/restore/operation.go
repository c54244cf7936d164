package restore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// An operation is a restore or a removal to undo, or an undo to redo.
type operation struct {
	what     string // restore, prune, drop or archive
	at       time.Time
	snapshot *safety         // of a restore, else nil
	move     refs.Logged     // of a removal or of its undo
	ids      []checkpoint.ID // checkpoints of a removal
	newer    []refs.Logged   // later entries of the chain's reflog
}

// key identifies the operation.
func (o *operation) key() string {
	if o.snapshot != nil {
		return o.snapshot.ref + " " + o.snapshot.commit.String()
	}
	return o.move.Old.String() + " " + o.move.New.String() + " " + o.move.Message
}

// nextUndo returns the operation that an undo would revert: the newest operation of an issue
// that is not undone. Restores are those of this worktree. It fails with ErrNothingToUndo.
func (s *Restorer) nextUndo(ctx context.Context, issue checkpoint.Issue) (*operation, error) {
	entries, snapshot, err := s.history(ctx, issue, false)
	if err != nil {
		return nil, err
	}
	before := len(entries)
	if snapshot != nil {
		before = snapshot.plan.Chain.newer(entries, snapshot.at)
	}
	for _, i := range openRemovals(entries) {
		if i >= before {
			break
		}
		c, archive, err := s.chains(ctx, issue)
		if err != nil {
			return nil, err
		}
		lost, err := s.removedBy(ctx, c, archive, entries[i])
		if err != nil {
			return nil, err
		}
		if ids := lost.ids(); len(ids) > 0 {
			return &operation{what: removal(entries[i].Message), at: entries[i].At, move: entries[i], ids: ids, newer: entries[:i]}, nil
		}
	}
	if snapshot == nil {
		return nil, fmt.Errorf("undo for issue %s: %w", issue, repo.ErrNothingToUndo)
	}
	return &operation{what: "restore", at: snapshot.at, snapshot: snapshot, newer: entries[:before]}, nil
}

// nextRedo returns the undo that a redo would revert: the newest undo of an issue that was not
// redone. If another restore or removal is newer than the undo, nothing can be redone. It fails
// with ErrNothingToRedo.
func (s *Restorer) nextRedo(ctx context.Context, issue checkpoint.Issue) (*operation, error) {
	entries, snapshot, err := s.history(ctx, issue, true)
	if err != nil {
		return nil, err
	}
	undo, removed := openUndo(entries)
	if snapshot != nil {
		if at := snapshot.plan.Chain.newer(entries, snapshot.at); at <= min(undo, removed) {
			return &operation{what: "restore", at: snapshot.at, snapshot: snapshot, newer: entries[:at]}, nil
		}
	}
	nothing := fmt.Errorf("redo for issue %s: %w", issue, repo.ErrNothingToRedo)
	if undo == len(entries) {
		return nil, nothing
	}
	refs, err := s.repo.UndoRefs(ctx, issue)
	if err != nil {
		return nil, err
	}
	last, err := s.newestSafety(refs, false)
	if err != nil || last != nil && last.origin().newer(entries, last.at) <= undo {
		return nil, cmp.Or(err, nothing)
	}
	c, archive, err := s.chains(ctx, issue)
	if err != nil {
		return nil, err
	}
	back, err := s.returnedTo(ctx, c, archive, entries[undo])
	if err != nil || len(back.live)+len(back.archived) == 0 {
		return nil, cmp.Or(err, nothing)
	}
	return &operation{what: undone(entries[undo:]), at: entries[undo].At, move: entries[undo], ids: back.ids(), newer: entries[:undo]}, nil
}

// history returns the reflog of an issue's chain, newest first, and the newest snapshot of
// this worktree, for undo or for redo.
func (s *Restorer) history(ctx context.Context, issue checkpoint.Issue, redo bool) ([]refs.Logged, *safety, error) {
	entries, err := s.repo.Reflog(ctx, repo.LiveRef(issue))
	if err != nil {
		return nil, nil, err
	}
	refs, err := s.repo.UndoRefs(ctx, issue)
	if err != nil {
		return nil, nil, err
	}
	snapshot, err := s.newestSafety(refs, redo)
	return entries, snapshot, err
}

// origin returns the place of the restore that a snapshot belongs to.
func (sf *safety) origin() logPlace {
	if sf.plan.Origin != nil {
		return *sf.plan.Origin
	}
	return sf.plan.Chain
}

// newer returns the number of entries that are newer than a place. Times in reflogs have
// only seconds, so the place has the number of entries. It is invalid if git has expired
// entries since. If they do not have the tip, the time decides.
func (p logPlace) newer(entries []refs.Logged, at time.Time) int {
	isTip := func(e refs.Logged) bool { return e.New.String() == p.Tip }
	n := len(entries) - p.Entries
	if n >= 0 && n < len(entries) && isTip(entries[n]) || n == len(entries) && p.Tip == plumbing.ZeroHash.String() {
		return n
	}
	if n := slices.IndexFunc(entries, isTip); n >= 0 {
		return n
	}
	for i, e := range entries {
		if at.After(e.At) {
			return i
		}
	}
	return len(entries)
}

// openRemovals returns the indexes of removals that were not undone, newest first. Every
// undo reverts the newest removal below it, so undos pair with removals like brackets.
func openRemovals(entries []refs.Logged) []int {
	var open []int
	undone := 0
	for i, e := range entries {
		switch {
		case strings.HasPrefix(e.Message, repo.UndoPrefix):
			undone++
		case removal(e.Message) == "":
		case undone > 0:
			undone--
		default:
			open = append(open, i)
		}
	}
	return open
}

// openUndo returns the indexes of the newest undo that was not redone, and of the newest
// removal that is no redo. If no such entry exists, its index is len(entries). An undo below
// the removal does not count.
func openUndo(entries []refs.Logged) (undo, removed int) {
	redone := 0
	for i, e := range entries {
		switch {
		case strings.HasPrefix(e.Message, repo.RedoPrefix):
			redone++
		case strings.HasPrefix(e.Message, repo.UndoPrefix) && redone > 0:
			redone--
		case strings.HasPrefix(e.Message, repo.UndoPrefix):
			return i, len(entries)
		case removal(e.Message) != "":
			return len(entries), i
		}
	}
	return len(entries), len(entries)
}

// undone returns the kind of removal that the newest undo entry has reverted.
func undone(entries []refs.Logged) string {
	open := 0
	for _, e := range entries {
		what := removal(e.Message)
		switch {
		case strings.HasPrefix(e.Message, repo.UndoPrefix):
			open++
		case what == "":
		case open == 1:
			return what
		default:
			open--
		}
	}
	return "removal"
}

// removal returns the kind of removal of a reflog message, also of a redo, or "" for other
// moves. Undo does not revert a save, so the pruning of a save is none.
func removal(message string) string {
	message = strings.TrimPrefix(message, repo.RedoPrefix)
	for _, verb := range []string{"prune", "drop", "archive"} {
		if strings.HasPrefix(message, verb+": ") {
			return verb
		}
	}
	return ""
}

// chains returns the chain and the archive of an issue.
func (s *Restorer) chains(ctx context.Context, issue checkpoint.Issue) (c, archive *chain.Chain, err error) {
	if c, err = s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 0); err != nil {
		return nil, nil, err
	}
	archive, err = s.chain.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
	return c, archive, err
}

// since counts the commits and the saves since an operation. For a removal, commits are
// those of the reflog of HEAD.
func (s *Restorer) since(ctx context.Context, o *operation) (commits, saves int, err error) {
	for _, e := range o.newer {
		if strings.HasPrefix(e.Message, "save: ") {
			saves++
		}
	}
	if o.snapshot != nil {
		commits, err = s.commitsSince(ctx, o.snapshot)
		return commits, saves, err
	}
	entries, err := s.repo.Reflog(ctx, "HEAD")
	for _, e := range entries {
		if e.At.After(o.at) && strings.HasPrefix(e.Message, "commit") {
			commits++
		}
	}
	return commits, saves, err
}

// mostCommits limits the number of counted commits.
const mostCommits = 1000

// commitsSince counts the commits of HEAD that HEAD did not have at a snapshot. If the
// number is unknown, it returns 1.
func (s *Restorer) commitsSince(ctx context.Context, sf *safety) (int, error) {
	now, err := s.repo.ReadHead(ctx)
	if err != nil || now.Commit.IsZero() {
		return 0, err
	}
	then := plumbing.NewHash(sf.plan.Head)
	if then == now.Commit {
		return 0, nil
	}
	if then.IsZero() {
		return 1, nil
	}
	n, err := s.facts.History().Behind(ctx, then.String(), now.Commit.String(), mostCommits)
	if err != nil && ctx.Err() == nil { // a gc has deleted the commit
		return 1, nil
	}
	return n, err
}
