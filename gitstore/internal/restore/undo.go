package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Which selects the operation that an undo or a redo reverts. The zero value selects the last one
// of this worktree.
type Which struct {
	Issue  checkpoint.Issue // only operations of this issue
	Number int              // the operation with this number in this worktree
}

// An Undone is the result of an undo or a redo, or its preview.
type Undone struct {
	Number  int
	What    string             // command of the operation
	Issues  []checkpoint.Issue // of the operation
	At      time.Time          // time of the operation; for Redo, of its undo
	Brought []checkpoint.ID    // checkpoints that came back
	Removed []checkpoint.ID    // checkpoints that were removed
	Branch  string             // branch to which HEAD returns, "" if HEAD stays
	Deleted string             // branch that the operation has created and that an undo deletes, or ""

	Restored *Restored // set for an operation that restored files
	Commits  int       // commits since the operation, set in a preview
	Saves    int       // saves since the operation, set in a preview
	Lasting  []string  // parts that cannot be taken back, set in a preview

	entry plumbing.Hash
}

// IDs returns the checkpoints that came back, followed by those that were removed.
func (u *Undone) IDs() []checkpoint.ID {
	return append(append([]checkpoint.ID{}, u.Brought...), u.Removed...)
}

// next returns the operation to revert. An undo reverts the newest done operation. A redo reverts the
// last undo after which no operation began. If this worktree has no such operation of an
// issue, the operations of other worktrees that changed no files count too.
func (s *Restorer) next(ctx context.Context, way operation.Way, which Which) (*operation.Entry, error) {
	e, err := s.pick(ctx, s.log.Worktree(), way, which)
	if err == nil && e == nil && which.Issue != "" && which.Number == 0 {
		e, err = s.pick(ctx, "", way, which)
	}
	if err != nil || e != nil {
		return e, err
	}
	nothing := repo.ErrNothingToUndo
	if way == operation.Redo {
		nothing = repo.ErrNothingToRedo
	}
	switch {
	case which.Number != 0:
		return nil, fmt.Errorf("%s %d: %w", way, which.Number, nothing)
	case which.Issue != "":
		return nil, fmt.Errorf("%s for issue %s: %w", way, which.Issue, nothing)
	}
	return nil, fmt.Errorf("%s: %w", way, nothing)
}

// pick returns the operation of a worktree to revert, or nil. With "", it chooses from the other worktrees.
func (s *Restorer) pick(ctx context.Context, worktree string, way operation.Way, which Which) (found *operation.Entry, err error) {
	newest := map[string]int{} // number by worktree
	for e, err := range s.log.Entries(ctx, worktree) {
		if err != nil {
			return nil, err
		}
		isOther := worktree == "" && (e.Worktree == s.log.Worktree() || e.HasFiles())
		if isOther || !e.Concerns(which.Issue) || which.Number != 0 && which.Number != e.Number {
			continue
		}
		newest[e.Worktree] = max(newest[e.Worktree], e.Number)
		switch {
		case e.State == operation.Pending: // a running command
		case way == operation.Redo && (e.State == operation.Done || e.Last < newest[e.Worktree]):
		case way == operation.Redo && (found == nil || !e.UndoneAt.Before(found.UndoneAt)):
			found = e
		case way == operation.Undo && e.State == operation.Done:
			if e.HasFiles() || len(e.Moves) == 0 {
				return e, nil
			}
			if deltas, err := s.deltas(ctx, e, operation.Undo); err != nil || len(deltas) > 0 {
				return e, err
			}
		}
	}
	return found, nil
}

func undoneOf(e *operation.Entry, way operation.Way) *Undone {
	u := &Undone{Number: e.Number, What: e.Command, Issues: e.Issues, At: e.At, Brought: e.Brought, Removed: e.Removed, entry: e.Commit}
	if way == operation.Redo {
		u.At = e.UndoneAt
	}
	if from, to := headOf(e, way); from.Branch != to.Branch && to != (operation.Place{}) {
		u.Branch = cmp.Or(to.Branch, to.Commit)
	}
	return u
}

// headOf returns the states of HEAD before and after an undo or a redo.
func headOf(e *operation.Entry, way operation.Way) (from, to operation.Place) {
	if e.After == (operation.Place{}) {
		return e.Before, e.Before
	}
	return inOrder(way, e.Before, e.After)
}

// inOrder returns the values of an operation before and after an undo or a redo.
func inOrder[T any](way operation.Way, before, after T) (from, to T) {
	if way == operation.Undo {
		return after, before
	}
	return before, after
}

// Preview returns what Revert would do now, and changes nothing. Restored then has the checkpoint of the
// restore, and the paths that Revert would write or leave.
func (s *Restorer) Preview(ctx context.Context, way operation.Way, which Which) (*Undone, error) {
	e, err := s.next(ctx, way, which)
	if err != nil {
		return nil, err
	}
	deltas, err := s.deltas(ctx, e, way)
	if err != nil {
		return nil, err
	}
	e.Brought, e.Removed = idsOfAll(deltas)
	p := undoneOf(e, way)
	for _, d := range deltas {
		p.Lasting = append(p.Lasting, d.lasting...)
	}
	if way == operation.Undo && e.Made != nil && p.Branch != "" {
		if at, err := s.repo.ReadRef(ctx, "refs/heads/"+e.Made.Branch); err == nil && at.String() == e.Made.Commit {
			p.Deleted = e.Made.Branch
		}
	}
	if p.Commits, err = s.commitsSince(ctx, e.Head()); err != nil {
		return nil, err
	}
	if p.Saves, err = s.savesSince(ctx, e); err != nil {
		return nil, err
	}
	steps, err := s.steps(e, way)
	if err != nil || len(steps) == 0 {
		return p, err
	}
	p.Restored = &Restored{ID: e.Checkpoint, Undo: e.Name()}
	if way == operation.Redo && p.Branch != "" {
		p.Restored.listSteps(steps) // after the switch of the branch, on which they were undone
		return p, nil
	}
	site := s.worktreeOf(e, e.Head())
	area, err := site.openLockedIndex(ctx, false)
	if err != nil {
		return nil, err
	}
	defer area.close()
	_, outcome, err := site.planSteps(ctx, steps, area)
	if err != nil {
		return nil, err
	}
	p.Restored.Outcome = *outcome
	return p, nil
}

// worktreeOf returns the worktree for the undo of an operation, with a former HEAD.
func (s *Restorer) worktreeOf(e *operation.Entry, head plumbing.Hash) *worktree {
	site := s.worktree()
	site.kept = s.log.Kept(e)
	if !head.IsZero() {
		site.before, _ = s.repo.TreeOfCommit(head) // without it, all of HEAD counts as committed since
	}
	return site
}

// Revert undoes or redoes the operation that which selects. Removed checkpoints return to their former
// place, added ones go, and later saves stay, with their pruning. Paths that have changed since a restore
// stay, also if a commit has changed them. If shown is not nil, Revert fails with a *RefusedError unless it
// would revert the operation of this preview. Revert fails with ErrNothingToUndo or ErrNothingToRedo. If an
// undo or a redo of that kind was killed, it is finished instead: the user does not know that it has begun,
// and repeats the command.
func (s *Restorer) Revert(ctx context.Context, way operation.Way, which Which, shown *Undone) (*Undone, error) {
	repairs := s.repo.Repairs
	defer func() { s.repo.Repairs = repairs }()
	s.repo.Repairs = true // chains are read before their issues are locked
	if s.repo.Info.Root != "" {
		release, err := s.lockWorktree()
		if err != nil {
			return nil, err
		}
		defer release()
		if done, err := s.actKilled(ctx, way, which); err != nil || done != nil {
			return done, err
		}
	}
	e, err := s.next(ctx, way, which)
	if err != nil {
		return nil, err
	}
	if shown != nil && shown.entry != e.Commit {
		return nil, &repo.RefusedError{Reason: "another process has restored or removed checkpoints meanwhile", Hint: "run the command again"}
	}
	done, err := s.revert(ctx, e, way)
	if err == nil || repo.IsDone(err) || errors.As(err, new(*repo.RefusedError)) || e.State != operation.Pending {
		return done, err
	}
	return done, fmt.Errorf("%w: %w", repo.ErrUnfinished, err)
}

// actKilled settles a killed operation. If the user asks for this undo or redo, it returns the
// result, otherwise nil.
func (s *Restorer) actKilled(ctx context.Context, way operation.Way, which Which) (*Undone, error) {
	killed, err := s.settle(ctx)
	if err != nil || killed == nil || !killed.Concerns(which.Issue) || which.Number != 0 && which.Number != killed.Number {
		return nil, err
	}
	reverted := killed.Way == operation.Do && killed.State != operation.Done
	if killed.Way != way && (way != operation.Undo || !reverted) {
		return nil, nil
	}
	done := undoneOf(killed, way)
	steps, err := s.steps(killed, way)
	if len(steps) > 0 {
		done.Restored = &Restored{ID: killed.Checkpoint}
		done.Restored.listSteps(steps)
	}
	return done, err
}

// revert undoes or redoes an operation. The worktree is locked.
func (s *Restorer) revert(ctx context.Context, e *operation.Entry, way operation.Way) (*Undone, error) {
	steps, err := s.steps(e, way)
	if err != nil {
		return nil, err
	}
	deltas, err := s.deltas(ctx, e, way)
	if err != nil {
		return nil, err
	}
	former := *e
	e.Brought, e.Removed = idsOfAll(deltas)
	e.State, e.Way = operation.Pending, way
	if way == operation.Undo {
		e.UndoneAt = s.repo.Now().UTC()
		e.Remove(indexAfter) // of the last undo
	} else {
		e.Remove(indexBefore)
	}
	done := undoneOf(e, way)
	if len(deltas) > 0 || done.Branch != "" {
		if err := s.log.Write(ctx, e, s.repo.NewObjectWriter()); err != nil {
			*e = former
			return nil, err
		}
	}
	outcome, err := s.finish(ctx, e)
	if len(steps) > 0 {
		done.Restored = &Restored{ID: e.Checkpoint, Outcome: *outcome}
	}
	if err != nil && e.Commit == former.Commit {
		*e = former // nothing is stored
	}
	return done, err
}

// take takes the steps of an entry. With Undo it inverts them, and with Do it finishes a killed operation. An
// undo or a redo first stores the present files in the steps, so that it can be reverted. It drops the steps of
// the paths that it leaves.
func (s *Restorer) take(ctx context.Context, e *operation.Entry, way operation.Way) (*Outcome, error) {
	steps, err := s.steps(e, way)
	if err != nil || len(steps) == 0 {
		return &Outcome{}, err
	}
	head := e.Head()
	if e.Way == operation.Do {
		head = plumbing.NewHash(e.Before.Commit)
	} else if _, to := headOf(e, e.Way); e.Way == operation.Redo {
		if now, err := s.repo.ReadHead(ctx); err == nil && now.Branch == to.Branch {
			head = plumbing.NewHash(to.Commit) // the branch was switched for the redo
		}
	}
	from, to := inOrder(way, indexBefore, indexAfter)
	site := s.worktreeOf(e, head)
	if index := trees.HashOf(e.Content, to); !index.IsZero() {
		data, err := trees.ReadAs(s.repo.Objects, plumbing.BlobObject, index)
		if err != nil {
			return &Outcome{}, err
		}
		site.former = formerIndex{data, e.IndexTimes[to]}
	}
	var note func([]Step) error
	if e.Way != operation.Do {
		note = func(taken []Step) error {
			for _, st := range taken {
				if st.Work {
					st.of.Before.Disk = st.Before.Disk
				}
			}
			all := slices.DeleteFunc(slices.Clone(steps), func(st Step) bool { return st.left })
			if way == operation.Undo {
				all = inverted(all)
			}
			return site.note(ctx, e, all, from)
		}
	}
	return site.takeSteps(ctx, steps, note)
}

// complete does the part of an undo or a redo that follows the files: chains, HEAD and the state
// files. With keepsHere, the files of the worktree come after other checkpoints than before.
func (s *Restorer) complete(ctx context.Context, e *operation.Entry, keepsHere bool) error {
	if err := s.revertChains(ctx, e); err != nil {
		return err
	}
	if e.Way == operation.Undo {
		s.moveHead(ctx, e)
		if err := s.facts.DeleteMade(ctx, e.Made); err != nil {
			s.repo.Notify("branch %s stays: %v", e.Made.Branch, err)
		}
	}
	for _, note := range e.Notes {
		from, to := inOrder(e.Way, note.Before, note.After)
		if s.log.ReadState(note.Name) != from {
			continue // a save has followed
		}
		if err := s.log.WriteState(note.Name, to); err != nil {
			s.repo.Notify("the state of this worktree is not as before: %v", err)
		}
	}
	if e.Here != nil && !keepsHere {
		from, to := inOrder(e.Way, plumbing.NewHash(e.Here.Old), plumbing.NewHash(e.Here.New))
		if now, err := s.repo.ReadRef(ctx, e.Here.Ref); err == nil && now == from && from != to {
			move := func() error {
				return s.repo.MoveRefs(ctx, string(e.Way), refs.Move{Name: e.Here.Ref, Old: from, New: to})
			}
			if err := s.repo.WithIssueLocks(ctx, e.Issues[:1], move); err != nil {
				s.repo.Notify("the state of this worktree is not as before: %v", err)
			}
		}
	}
	return s.log.Finish(ctx, e)
}

// moveHead switches HEAD back to the branch from before the operation, or for a redo to that after
// it. If HEAD has moved to another branch since, or git refuses, HEAD stays.
func (s *Restorer) moveHead(ctx context.Context, e *operation.Entry) {
	from, to := headOf(e, e.Way)
	now, err := s.repo.ReadHead(ctx)
	if err != nil || from.Branch == to.Branch || now.Branch != from.Branch {
		return
	}
	if err := s.facts.SwitchTo(ctx, to); err != nil {
		s.repo.Notify("HEAD stays on branch %s: %v", now.Branch, err)
	}
}

const mostCommits = 1000

// commitsSince counts the commits of HEAD that a former HEAD did not have. If the number is
// unknown, it returns 1.
func (s *Restorer) commitsSince(ctx context.Context, then plumbing.Hash) (int, error) {
	now, err := s.repo.ReadHead(ctx)
	if err != nil || now.Commit.IsZero() || then == now.Commit {
		return 0, err
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

// savesSince counts the checkpoints of the issues of an operation that came after it.
func (s *Restorer) savesSince(ctx context.Context, e *operation.Entry) (n int, err error) {
	for _, tip := range e.Tips {
		issue, err := operation.IssueOf(tip.Ref)
		if err != nil {
			return 0, err
		}
		then, err := s.chain.Walk(issue, tip.Ref, plumbing.NewHash(tip.New), 0)
		if err != nil {
			continue // its commits are gone, and the number is unknown
		}
		now, err := s.chain.ReadChain(ctx, issue, tip.Ref, 0)
		if err != nil {
			return 0, err
		}
		was := then.Index()
		for id := range now.Visible() {
			if was[id] == nil {
				n++
			}
		}
	}
	return n, nil
}
