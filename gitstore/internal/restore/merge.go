package restore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// mergeAll replaces merge steps by steps that write the merge result, and lists files with
// conflicts. The step of a file that cannot be merged is removed, and its path is added to
// changed. The same holds for a file with conflicts that is merged only without conflicts. A merge
// that gives the present file needs no step.
func (s *worktree) mergeAll(ctx context.Context, plan *decision, area *lockedIndex) error {
	unmerged := area.list.paths("123") // also those that a step makes so
	for _, st := range plan.steps {
		if st.Index && st.After.Index != contents.Merged(st.After.Index[0]) {
			unmerged = append(unmerged, st.Path)
		}
	}
	var left []Step
	for _, st := range plan.steps {
		if !st.merge {
			left = append(left, st)
			continue
		}
		sides, clean, err := s.mergeFile(ctx, &st)
		if err != nil && !errors.Is(err, git.ErrNoMerge) {
			return fmt.Errorf("merge %q: %w", st.Path, err)
		}
		switch {
		case st.fitting && (err != nil || !clean):
			plan.Unsaved = append(plan.Unsaved, st.Path)
			continue
		case err != nil, !clean && st.onlyClean:
			plan.Skipped = append(plan.Skipped, st.Path)
			continue
		case !clean:
			plan.Merged = append(plan.Merged, st.Path)
			// Git would remove the entries of a path for those of its parent, and vice versa.
			meets := func(p string) bool {
				return p != st.Path && (checkpoint.IsWithin(st.Path, p) || checkpoint.IsWithin(p, st.Path))
			}
			if plan.unmerged && st.Before.Index[0] != (Side{}) && !slices.ContainsFunc(unmerged, meets) {
				st.Index, st.After.Index = true, sides
				unmerged = append(unmerged, st.Path)
			}
		case st.staged:
			st.Index, st.After.Index = true, contents.Merged(st.After.Work)
		}
		st.Index = st.Index && st.After.Index != st.Before.Index
		if st.Work = st.After.Work != st.Before.Work; st.Work || st.Index {
			left = append(left, st)
		}
	}
	plan.steps = left
	slices.Sort(plan.Skipped)
	return nil
}

// mergeFile merges the current file with the checkpoint's file. All three versions are blobs
// after git's clean filters. They are returned as the index entries of an unmerged path. Without
// a base, the result has both sides, as git merges files that both sides added.
func (s *worktree) mergeFile(ctx context.Context, st *Step) (sides Stages, clean bool, err error) {
	mine := st.Before.Work
	if !s.objects.Has(mine.Hash) {
		line, err := s.repo.RootGit().Line(ctx, "hash-object", "-w", "--", st.Path)
		if err == nil && line != mine.Hash.String() {
			err = ErrConcurrentChange
		}
		if err != nil {
			return sides, false, err
		}
		s.objects.Keep(mine.Hash)
	}
	sides = Stages{1: st.base, 2: mine, 3: st.After.Work}
	var data [4][]byte
	for i := 1; i < len(sides); i++ {
		if sides[i] != (Side{}) {
			if data[i], err = trees.ReadAs(s.objects, plumbing.BlobObject, sides[i].Hash); err != nil {
				return sides, false, err
			}
		}
	}
	out, clean, err := s.repo.Git.MergeFile(ctx, data[1], data[2], data[3])
	if err != nil {
		return sides, false, err
	}
	if st.After.Work.Mode == st.base.Mode { // the mode of the side that changed it
		st.After.Work.Mode = mine.Mode
	}
	st.After.Work.Hash = s.objects.Add(plumbing.BlobObject, out)
	return sides, clean, nil
}

// A delta is what an undo or a redo changes in the chain and the archive of an issue. It is the
// inverse of the moves of the operation by id: later changes of other checkpoints stay.
type delta struct {
	issue      checkpoint.Issue
	come, file []chain.ChainCommit             // enter the chain, and the archive
	leave, out []checkpoint.ID                 // leave the chain, and the archive
	ledger     *ledger.Ledger                  // of the chain afterwards
	again      map[checkpoint.ID]checkpoint.ID // new ids of dropped checkpoints whose drop is final
	lasting    []string                        // what other clones keep
}

func (d *delta) brought() []checkpoint.ID {
	return moved(idsOf(d.come), idsOf(d.file), d.leave)
}

func (d *delta) removed() []checkpoint.ID {
	return moved(d.leave, d.out, idsOf(d.come))
}

// moved returns ids, and those of more that are neither in ids nor in but.
func moved(ids, more, but []checkpoint.ID) []checkpoint.ID {
	ids = slices.Clone(ids)
	seen := chain.SetOf(slices.Concat(ids, but))
	for _, id := range more {
		if !seen[id] {
			ids, seen[id] = append(ids, id), true
		}
	}
	return ids
}

func idsOf(links []chain.ChainCommit) []checkpoint.ID {
	ids := make([]checkpoint.ID, len(links))
	for i := range links {
		ids[i] = links[i].ID
	}
	return ids
}

func idsOfAll(deltas []*delta) (brought, removed []checkpoint.ID) {
	for _, d := range deltas {
		brought, removed = append(brought, d.brought()...), append(removed, d.removed()...)
	}
	return brought, removed
}

// deltas returns what an undo or a redo would change now, for each issue with a change.
func (s *Restorer) deltas(ctx context.Context, e *operation.Entry, way operation.Way) (deltas []*delta, err error) {
	for _, issue := range movedIssues(e) {
		c, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		archive, err := s.chain.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		d, err := s.deltaOf(ctx, e, way, c, archive, s.repo.NewObjectWriter())
		if err != nil {
			return nil, err
		}
		if d != nil {
			deltas = append(deltas, d)
		}
	}
	return deltas, nil
}

func movedIssues(e *operation.Entry) (issues []checkpoint.Issue) {
	for _, m := range e.Moves {
		if i, err := operation.IssueOf(m.Ref); err == nil && !slices.Contains(issues, i) {
			issues = append(issues, i)
		}
	}
	return issues
}

// deltaOf returns the change of an issue, or nil. It adds the objects of new checkpoints to k.
func (s *Restorer) deltaOf(ctx context.Context, e *operation.Entry, way operation.Way, c, archive *chain.Chain, k *repo.ObjectWriter) (*delta, error) {
	d := &delta{issue: c.Issue, ledger: c.Ledger.Clone(), again: map[checkpoint.ID]checkpoint.ID{}}
	moves := slices.Clone(e.Moves)
	if way == operation.Undo {
		slices.Reverse(moves)
	}
	live, archived := c.Visible(), archive.Index()
	var pairs [][2]*ledger.Ledger
	for _, m := range moves {
		if m.Ref != c.Ref && m.Ref != archive.Ref {
			continue
		}
		from, to := inOrder(way, m.Old, m.New)
		before, err := s.chain.Walk(c.Issue, m.Ref, plumbing.NewHash(from), 0)
		after, err2 := s.chain.Walk(c.Issue, m.Ref, plumbing.NewHash(to), 0)
		if err := cmp.Or(err, err2); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		for _, l := range before.Commits {
			if isMember(l) && live[l.ID] == nil { // see renew
				d.again[l.ID] = newID(e, &l, c.Ledger)
			}
		}
		if m.Ref == archive.Ref {
			d.file, d.out = change(d.file, d.out, before, after)
			continue
		}
		d.come, d.leave = change(d.come, d.leave, before, after)
		pairs = append(pairs, [2]*ledger.Ledger{before.Ledger, after.Ledger})
	}
	d.come = slices.DeleteFunc(d.come, func(l chain.ChainCommit) bool { return live[l.ID] != nil })
	d.leave, d.out = d.within(d.leave, live), d.within(d.out, archived)
	d.file = slices.DeleteFunc(d.file, func(l chain.ChainCommit) bool { return archived[l.ID] != nil })
	remotes := s.log.PushedTo(e, d.issue)
	end := ledger.New()
	for _, m := range e.Tips {
		if m.Ref != c.Ref {
			continue
		}
		if last, err := s.chain.Walk(c.Issue, m.Ref, plumbing.NewHash(m.New), 1); err == nil {
			end = last.Ledger
		}
	}
	for _, p := range pairs {
		d.ledger.Revert(p[0], p[1], end, len(remotes) > 0, s.repo.Now())
	}
	var renewed []checkpoint.ID
	if len(remotes) > 0 {
		for _, list := range [][]chain.ChainCommit{d.come, d.file} {
			for i := range list {
				former := list[i].ID
				if err := s.renew(e, d, way, &list[i], pairs, k); err != nil {
					return nil, err
				}
				if list[i].ID != former {
					renewed = append(renewed, former)
				}
			}
		}
		d.come = slices.DeleteFunc(d.come, func(l chain.ChainCommit) bool { return live[l.ID] != nil })
		d.file = slices.DeleteFunc(d.file, func(l chain.ChainCommit) bool { return archived[l.ID] != nil })
	}
	// Checkpoints that a later operation has dropped or archived do not come back.
	d.come = slices.DeleteFunc(d.come, func(l chain.ChainCommit) bool { return d.ledger.Deletes(l.ID, l.Content) || d.ledger.IsArchived(l.ID) })
	d.file = slices.DeleteFunc(d.file, func(l chain.ChainCommit) bool { return d.ledger.Deletes(l.ID, l.Content) })
	d.out = slices.DeleteFunc(d.out, d.ledger.IsArchived) // what does not come back stays in the archive
	if len(remotes) > 0 {
		// The ledger of the operation has those that a redo removes, except for those under new ids.
		filed, renewed := chain.SetOf(idsOf(d.file)), chain.SetOf(slices.Collect(maps.Values(d.again)))
		chain.Bury(d.ledger, slices.DeleteFunc(d.removed(), func(id checkpoint.ID) bool {
			return filed[id] || way == operation.Redo && !renewed[id]
		}), c)
	}
	if len(d.come)+len(d.file)+len(d.leave)+len(d.out) == 0 && d.ledger.Equal(c.Ledger) {
		return nil, nil
	}
	if _, fork := c.Issue.ForkSource(); e.Command == "fork" && way == operation.Undo && fork != "" {
		for _, id := range d.leave {
			branch := live[id].Branch
			if at := s.facts.CheckedOut(ctx, branch); at != "" && strings.HasSuffix(branch, "-"+fork) {
				d.lasting = append(d.lasting, fmt.Sprintf("the worktree %s and its branch %s stay: git worktree remove %s", at, branch, failure.Quote(at)))
			}
		}
	}
	for _, remote := range remotes {
		for _, id := range renewed {
			d.lasting = append(d.lasting, fmt.Sprintf("%s stays dropped at %s: it comes back as %s", id, remote, d.again[id]))
		}
		for _, id := range d.removed() {
			d.lasting = append(d.lasting, fmt.Sprintf("%s was pushed to %s: other clones have it until their next sync", id, remote))
		}
	}
	return d, nil
}

// within returns the ids of a list that a chain contains. Ids of renewed checkpoints become new ids.
func (d *delta) within(ids []checkpoint.ID, there map[checkpoint.ID]*chain.ChainCommit) (list []checkpoint.ID) {
	for _, id := range ids {
		if there[id] == nil {
			id = d.again[id]
		}
		if there[id] != nil {
			list = append(list, id)
		}
	}
	return list
}

// renew gives a checkpoint that an operation has dropped a new id, because the drop is final for other
// clones. So does a redo with a checkpoint that the undo has dropped. Its record names the former id in
// restored_from.
func (s *Restorer) renew(e *operation.Entry, d *delta, way operation.Way, l *chain.ChainCommit, pairs [][2]*ledger.Ledger, k *repo.ObjectWriter) error {
	at := slices.IndexFunc(pairs, func(p [2]*ledger.Ledger) bool {
		wasDropped := p[0].Deletes(l.ID, l.Content) || way == operation.Redo && d.ledger.Deletes(l.ID, l.Content)
		return wasDropped && !p[1].Deletes(l.ID, l.Content)
	})
	if at < 0 {
		return nil
	}
	r, err := s.chain.ValidRecord(&l.Checkpoint)
	if err != nil {
		return err
	}
	former, r := l.ID, r.Clone()
	r.SetID(newID(e, l, d.ledger))
	r.SetRestoredFrom([]checkpoint.ID{former})
	after, _ := l.CameAfter()
	commit, err := s.chain.Derive(&l.Checkpoint, r, d.issue, after, l.Raw.Parents[0], l.Raw.Rest, k)
	if err != nil {
		return err
	}
	*l = chain.ChainCommit{Raw: commit, Checkpoint: chain.CheckpointOf(commit, d.issue)}
	d.again[former] = l.ID
	if before := pairs[at][1]; before.IsArchived(former) {
		d.ledger.File(l.ID, before.Archival(former))
	} else if before.Pinned(former) && !d.ledger.Pinned(l.ID) {
		d.ledger.SetPin(l.ID, true, s.repo.Now())
	}
	return nil
}

// newID returns the id under which an undo brings a dropped checkpoint back. If the ledger has deleted
// that id too, newID returns the next id.
func newID(e *operation.Entry, l *chain.ChainCommit, known *ledger.Ledger) checkpoint.ID {
	for n := 1; ; n++ {
		digest := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %d", e.Name(), l.ID, l.Content, n))
		if id := checkpoint.NewID(l.Phase, l.Created, digest[:]); !known.HasDeleted(id) {
			return id
		}
	}
}

// change adds the difference of two chains to the checkpoints that come and go.
func change(come []chain.ChainCommit, leave []checkpoint.ID, before, after *chain.Chain) ([]chain.ChainCommit, []checkpoint.ID) {
	had, has := before.Visible(), after.Visible()
	comes, leaves := map[checkpoint.ID]bool{}, map[checkpoint.ID]bool{}
	for _, l := range after.Commits {
		if isMember(l) && had[l.ID] == nil {
			come, comes[l.ID] = append(come, l), true
		}
	}
	leave = slices.DeleteFunc(leave, func(id checkpoint.ID) bool { return comes[id] })
	for _, l := range before.Commits {
		if isMember(l) && has[l.ID] == nil {
			leave, leaves[l.ID] = append(leave, l.ID), true
		}
	}
	return slices.DeleteFunc(come, func(l chain.ChainCommit) bool { return leaves[l.ID] }), leave
}

func isMember(l chain.ChainCommit) bool { return !l.Ledger && l.ID != "" && !l.Gone }

// revertChains moves the chains and archives of an operation back, or forward for a redo. It skips
// checkpoints that are there already, so that it can be repeated after a kill.
func (s *Restorer) revertChains(ctx context.Context, e *operation.Entry) error {
	for _, issue := range movedIssues(e) {
		err := s.chain.Alter(ctx, issue, func(c *chain.Chain, k *repo.ObjectWriter) (*chain.Change, error) {
			archive, err := s.chain.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
			if err != nil {
				return nil, err
			}
			d, err := s.deltaOf(ctx, e, e.Way, c, archive, k)
			if err != nil || d == nil {
				return nil, err
			}
			return s.changeOf(e, d, c, archive, k)
		})
		if err != nil {
			return fmt.Errorf("%s the %s of issue %s: %w", e.Way, e.Command, issue, err)
		}
	}
	return nil
}

func (s *Restorer) changeOf(e *operation.Entry, d *delta, c, archive *chain.Chain, k *repo.ObjectWriter) (*chain.Change, error) {
	there := c.Index() // of a shallow chain nothing was removed
	ch := &chain.Change{
		Verb: string(e.Way), Ids: append(d.brought(), d.removed()...), Remove: chain.SetOf(d.leave),
		Insert: slices.DeleteFunc(slices.Clone(d.come), func(l chain.ChainCommit) bool { return there[l.ID] != nil }),
		Ledger: func(l *ledger.Ledger) { *l = *d.ledger },
	}
	if len(d.file)+len(d.out) == 0 {
		return ch, nil
	}
	if archive.Cut {
		return nil, archive.ReadOnly()
	}
	out := chain.SetOf(d.out)
	links := slices.DeleteFunc(slices.Clone(archive.Commits), func(l chain.ChainCommit) bool { return out[l.ID] })
	moves := s.chain.ArchiveMove(archive, chain.Merge(links, d.file), k)
	if len(d.come) > 0 { // a checkpoint is always in the chain or in the archive
		ch.Then = moves
	} else {
		ch.Also = moves
	}
	return ch, nil
}
