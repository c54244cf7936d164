package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// revertRestore undoes a completed restore, or redoes it if an undo wrote the snapshot. It
// writes a snapshot for the opposite command, and deletes the old snapshot.
func (s *Restorer) revertRestore(ctx context.Context, sf *safety) (*Restored, error) {
	release, err := s.lockWorktree()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.finishPending(ctx); err != nil {
		return nil, err
	}
	k := s.repo.NewObjectWriter()
	done, err := s.takeBack(ctx, sf, k, func(ctx context.Context, steps []Step) error {
		return s.writeOpposite(ctx, sf, steps, k)
	})
	if err == nil || repo.IsDone(err) || errors.As(err, new(*repo.RefusedError)) {
		return done, err
	}
	return done, &repo.UnfinishedError{Err: err}
}

// takeBack reverts every path that still has the content from the restore, and deletes
// the snapshot.
func (s *Restorer) takeBack(ctx context.Context, sf *safety, k *repo.ObjectWriter, keep func(context.Context, []Step) error) (*Restored, error) {
	steps, err := sf.steps()
	if err != nil {
		return nil, err
	}
	site := s.siteSince(sf)
	site.Objects = k
	outcome, err := site.TakeBack(ctx, steps, keep)
	done := &Restored{ID: sf.plan.Checkpoint, Outcome: *outcome}
	if err != nil {
		return done, refusal(err)
	}
	issue := checkpoint.Issue(sf.plan.Issue)
	if len(done.Skipped) == 0 {
		s.recordHere(issue, sf.plan.Heads)
	}
	if sf.plan.To != "" {
		s.goBack(ctx, issue, sf.plan.To, sf.plan.From)
	}
	return done, repo.AfterMove(s.forget(ctx, sf, len(done.Skipped) > 0))
}

// siteSince returns the worktree, with HEAD at a snapshot.
func (s *Restorer) siteSince(sf *safety) *Worktree {
	site := s.site(s.repo.NewObjectWriter())
	if head := plumbing.NewHash(sf.plan.Head); !head.IsZero() {
		site.before, _ = s.repo.TreeOfCommit(head) // without it, all of HEAD counts as committed since
	}
	return site
}

// writeOpposite durably writes the snapshot that reverts the steps of an undo or a redo. If
// a killed command has written such a snapshot already, its remaining steps are added. If sf
// itself is the opposite of a snapshot that still exists, a killed command is reverted, and
// no snapshot is necessary.
func (s *Restorer) writeOpposite(ctx context.Context, sf *safety, steps []Step, k *repo.ObjectWriter) error {
	there, err := s.repo.Refs.List(ctx, repo.UndoRefs)
	if err != nil || sf.plan.Of != "" && !there[sf.plan.Of].IsZero() {
		return err
	}
	origin := sf.origin()
	plan := safetyPlan{Issue: sf.plan.Issue, Checkpoint: sf.plan.Checkpoint, From: sf.plan.To, To: sf.plan.From, Of: sf.ref, Origin: &origin}
	old := expired(there, s.repo.Now())
	expiring := map[string]bool{}
	for _, m := range old {
		expiring[m.Name] = true
	}
	for ref, commit := range there {
		former, err := s.readSafety(ref, commit)
		if err != nil || former.plan.Of != sf.ref || expiring[ref] || strings.HasSuffix(ref, repo.TakenBack) {
			continue
		}
		if steps, err = withSteps(former, steps); err != nil {
			return err
		}
		old = append(old, refs.Move{Name: ref, Old: commit})
	}
	opposite, err := s.newSafety(ctx, plan, steps, there)
	if err != nil {
		return err
	}
	message := fmt.Sprintf("before the redo of the restore of %s\n", plan.Checkpoint)
	if !isRedo(sf.ref) {
		opposite.ref += repo.ForRedo
		message = fmt.Sprintf("before the undo of the restore of %s\n", plan.Checkpoint)
	}
	return s.storeSafety(ctx, opposite, message, steps, k, old)
}

// withSteps adds the steps of a snapshot that a killed command has written. Its step of a path
// has the state before that command, so it replaces the remaining step of the path.
func withSteps(former *safety, steps []Step) ([]Step, error) {
	more, err := former.steps()
	if err != nil {
		return nil, err
	}
	byPath := map[string]Step{}
	for _, st := range append(slices.Clone(steps), more...) {
		byPath[st.path] = st
	}
	var all []Step
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		all = append(all, byPath[path])
	}
	return all, nil
}

// returnedTo returns the checkpoints that an undo brought back to chain and archive and that
// are still there, and the ledger from before the undo.
func (s *Restorer) returnedTo(ctx context.Context, c, archive *chain.Chain, e refs.Logged) (*removed, error) {
	before, err := s.chain.Walk(c.Issue, c.Ref, e.Old, 0)
	if err != nil {
		return nil, err
	}
	r := &removed{ledger: before.Ledger}
	if r.live, _, err = s.leftOut(c.Issue, c.Ref, e.New, e.Old); err != nil {
		return nil, err
	}
	moves, err := s.repo.Reflog(ctx, archive.Ref)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(moves, sameMove(e)); i >= 0 {
		if r.archived, _, err = s.leftOut(c.Issue, archive.Ref, moves[i].New, moves[i].Old); err != nil {
			return nil, err
		}
	}
	live, archived := c.Visible(), archive.Index()
	r.live = slices.DeleteFunc(r.live, func(l chain.ChainCommit) bool { return live[l.ID] == nil })
	r.archived = slices.DeleteFunc(r.archived, func(l chain.ChainCommit) bool { return archived[l.ID] == nil })
	return r, nil
}

// redoRemoval removes the checkpoints again that an undo brought back, with the entries of
// the ledger from before the undo.
func (s *Restorer) redoRemoval(ctx context.Context, issue checkpoint.Issue, o *operation) (ids []checkpoint.ID, err error) {
	err = s.chain.Alter(ctx, issue, func(c *chain.Chain, k *repo.ObjectWriter) (*chain.Change, error) {
		archive, err := s.chain.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		back, err := s.returnedTo(ctx, c, archive, o.move)
		if err != nil {
			return nil, err
		}
		if c.Cut || archive.Cut {
			return nil, c.ReadOnly()
		}
		ids = back.ids()
		if len(ids) == 0 {
			return nil, nil
		}
		gone, buried := chain.SetOf(idsOf(back.live)), chain.SetOf(idsOf(back.archived))
		links := slices.DeleteFunc(slices.Clone(archive.Commits), func(l chain.ChainCommit) bool { return buried[l.ID] })
		there := chain.SetOf(idsOf(links))
		for _, l := range c.Commits {
			if gone[l.ID] && !l.Ledger && !there[l.ID] && back.ledger.IsArchived(l.ID) {
				links = chain.Merge(links, []chain.ChainCommit{l})
			}
		}
		return &chain.Change{
			Verb: repo.RedoPrefix + o.what, Ids: ids, Remove: gone, Ledger: back.again,
			Also: s.chain.ArchiveMove(archive, links, k),
		}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("redo the %s of issue %s: %w", o.what, issue, err)
	}
	return ids, nil
}

// again copies the entries of the removed checkpoints from the ledger of the removal.
func (r *removed) again(l *ledger.Ledger) {
	for _, id := range r.ids() {
		l.Copy(r.ledger, id, ledger.Deleted, ledger.Archived, ledger.Reason, ledger.Pruned)
	}
}
