package restore

import (
	"context"
	"errors"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// isComplete reports whether a restore gave the worktree all files of the checkpoint, in the
// index too: no part was selected, and no path was left as it is but those of other sessions.
func (req *RestoreRequest) isComplete(done *Restored) bool {
	return !req.DryRun && req.Since == nil && req.isWhole() && len(done.Skipped)+len(done.InTheWay) == 0
}

// isWhole reports whether a request selects all files of the checkpoint.
func (req *RestoreRequest) isWhole() bool {
	return len(req.Paths) == 0 && req.Staged == req.Worktree
}

// movesPoint reports whether a restore makes its checkpoint the point from which the work goes
// on: the user asked for all of its files.
func (req *RestoreRequest) movesPoint() bool {
	c := req.Checkpoint
	return req.goesBack() && req.Since == nil && req.isWhole() && c.ID != "" && c.Valid() && !c.Archived
}

// recordHere records the agreement of this worktree with checkpoints after a restore. A path that does
// not agree with the restored checkpoint keeps its former version and the checkpoint of that version.
// So the next restore compares the path as this one did.
func (s *Restorer) recordHere(ctx context.Context, req *RestoreRequest, st *snapshot.Stored, site *worktree, done *Restored) {
	issue, k := req.issue(), s.repo.NewObjectWriter()
	former := s.chain.Here(ctx, issue)
	h, isAll := *former, req.Since == nil && req.isWhole()
	hasChanged := len(done.Restored)+len(done.Merged) > 0
	switch {
	case req.isComplete(done):
		h.Heads = s.headsAfter(ctx, issue, done.ID, h.Heads, req.movesPoint())
	case hasChanged:
		others := slices.DeleteFunc(slices.Clone(h.Sources), func(id checkpoint.ID) bool { return id == done.ID })
		h.Sources = append([]checkpoint.ID{done.ID}, others...)
	}
	if commit, err := s.repo.ReadCommit(req.Checkpoint.Commit); err == nil && (isAll || h.Rest == nil) {
		h.Rest = chain.SignedBy(commit)
	}
	theirs := chain.StateCommit{Tree: st.State, Staged: st.Staged, Head: st.Head}
	var err error
	switch {
	case isAll:
		h.StateCommit, h.ID, h.Open = theirs, done.ID, map[string]checkpoint.ID{}
		err = mixHere(&h, former.StateCommit, site.open, former.OriginOf, k)
	case hasChanged && req.Since == nil && req.Staged == req.Worktree: // some paths
		if h.Open = maps.Clone(h.Open); h.Open == nil {
			h.Open = map[string]checkpoint.ID{}
		}
		open := chain.SetOf(site.open)
		agreed := slices.DeleteFunc(site.selected, func(path string) bool { return open[path] })
		err = mixHere(&h, theirs, agreed, func(string) checkpoint.ID { return done.ID }, k)
	}
	if err == nil {
		err = s.chain.SetHere(ctx, issue, &h, k)
	}
	if err != nil {
		s.repo.Notify("a later merge or save may compare this worktree with a former checkpoint: %v", err)
	}
}

// mixHere gives paths of h the version of other trees, with the checkpoint of that version.
func mixHere(h *chain.Here, other chain.StateCommit, paths []string, originOf func(string) checkpoint.ID, k *repo.ObjectWriter) (err error) {
	find := &trees.Finder{Reader: k}
	at := func(tree plumbing.Hash, path string) Side {
		f, _ := contents.At(find, tree, path)
		return f
	}
	var state, staged []trees.FileEntry
	for _, path := range paths {
		f, e, origin := at(other.Tree, path), at(other.Staged, path), originOf(path)
		if origin != "" && h.OriginOf(path) != "" && at(h.Tree, path) == f && at(h.Staged, path) == e {
			continue // both checkpoints have this version
		}
		h.Open[path] = origin
		state = append(state, trees.FileEntry{Path: path, Mode: f.Mode, Hash: f.Hash})
		staged = append(staged, trees.FileEntry{Path: path, Mode: e.Mode, Hash: e.Hash})
	}
	if h.Tree, err = trees.Replace(k, k, h.Tree, state); err == nil {
		h.Staged, err = trees.Replace(k, k, h.Staged, staged)
	}
	return err
}

// headsAfter returns the checkpoints that this worktree comes after, if it has all files of a
// checkpoint now and came after heads before. If the work goes back to this checkpoint, it also came
// after the newest of those that were left.
func (s *Restorer) headsAfter(ctx context.Context, i checkpoint.Issue, id checkpoint.ID, heads []checkpoint.ID, goesBack bool) []checkpoint.ID {
	heads = append([]checkpoint.ID{id}, heads...)
	c, err := s.chain.ReadChain(ctx, i, repo.LiveRef(i), chain.RetentionDepth)
	if err != nil {
		return heads
	}
	event := c.Restored
	isLeft := func(o chain.Checkpoint) bool {
		return o.ID != "" && o.ID != id && (goesBack || event.ID == id && o.Clock < event.Clock)
	}
	if list := c.Checkpoints(); slices.ContainsFunc(list, isLeft) {
		heads = append(heads, list[slices.IndexFunc(list, isLeft)].ID)
	}
	return c.Reduced(heads)
}

// A NotHere is a checkpoint with files that this worktree lacks: one that was saved in parallel, or before a
// stash or a reset.
type NotHere struct {
	chain.Checkpoint
	Files  []string // files that a restore with the choice merge would change or leave
	Reason string   // why such a restore is refused here, or ""
	Aside  bool     // a stash or a reset took the files away, and no commit has them
}

// maxNotHere limits the checkpoints that NotHere compares.
const maxNotHere = 5

// NotHere returns the checkpoints of the branch that were saved in parallel in another clone, and
// of which files are not in this worktree, newest first. If Here.Heads has no record of this worktree,
// the list is empty.
func (s *Restorer) NotHere(ctx context.Context, issue checkpoint.Issue) ([]NotHere, error) {
	heads := s.chain.Here(ctx, issue).Heads
	if len(heads) == 0 || s.repo.Info.Root == "" {
		return nil, nil
	}
	live, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 1)
	if err != nil || !s.chain.SeenElsewhere(ctx, live) { // parallel work comes from another clone
		return nil, err
	}
	if live, err = s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), chain.RetentionDepth); err != nil {
		return nil, err
	}
	here := live.Find(heads[0])
	head, err := s.repo.ReadHead(ctx)
	if err != nil || here == nil || head.Branch != "" && facts.RecordedBranch(head.Branch) != here.Branch {
		return nil, err
	}
	var list []NotHere
	for _, c := range live.Parallel(heads) {
		if c.Branch != here.Branch || !c.Valid() || len(list) == maxNotHere {
			continue
		}
		done, err := s.Restore(ctx, RestoreRequest{Checkpoint: &c, Request: Request{Asked: true, Changed: Merged, DryRun: true}})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if refused, ok := errors.AsType[*repo.RefusedError](err); ok && refused.Reason != "" {
			list = append(list, NotHere{Checkpoint: c, Reason: refused.Reason})
		}
		if err != nil { // verify reports a damaged checkpoint
			continue
		}
		files := slices.Concat(done.Restored, done.Skipped, done.InTheWay, done.Others)
		if slices.Sort(files); len(files) > 0 {
			list = append(list, NotHere{Checkpoint: c, Files: slices.Compact(files)})
		}
	}
	return list, nil
}
