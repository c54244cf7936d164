package share

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// Purge is Store.Purge of package gitstore.
func (s *Sharer) Purge(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID) ([]string, error) {
	tracking, err := s.repo.TrackingRefs(ctx, issue)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(tracking))
	err = s.repo.WithIssueLocks(ctx, []checkpoint.Issue{issue}, func() error {
		if err := s.purgeRefs(ctx, issue, ids); err != nil {
			return err
		}
		return s.expireReflogs(ctx, append([]string{repo.LiveRef(issue), repo.OwnRef(issue), repo.ArchiveRef(issue), repo.FetchedRef(issue)}, names...))
	})
	if err != nil {
		return nil, fmt.Errorf("purge issue %s: %w", issue, err)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		c, err := s.chain.Walk(issue, name, tracking[name], 0)
		return err != nil || !c.Has(chain.SetOf(ids))
	}), nil
}

// purgeRefs deletes an issue's archive ref if the archive is empty, the ref of a chain
// that plain git fetched, what the worktrees agreed on, and operations.
func (s *Sharer) purgeRefs(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID) error {
	live, err := s.repo.ReadRef(ctx, repo.LiveRef(issue))
	if err != nil {
		return err
	}
	archive, err := s.chain.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
	if err != nil {
		return err
	}
	var moves []refs.Move
	if !archive.Tip.IsZero() && len(archive.Checkpoints()) == 0 {
		moves = append(moves, refs.Move{Name: archive.Ref, Old: archive.Tip})
	}
	if old, err := s.repo.ReadRef(ctx, repo.FetchedRef(issue)); err == nil && !old.IsZero() && old != live {
		moves = append(moves, refs.Move{Name: repo.FetchedRef(issue), Old: old})
	}
	here, err := s.repo.Refs.InFolders(ctx, repo.HereRefs, issue.RefName()) // of all worktrees
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(here)) {
		moves = append(moves, refs.Move{Name: name, Old: here[name]})
	}
	entries, err := s.toPurge(ctx, issue, ids)
	if err != nil {
		return err
	}
	for _, e := range entries {
		moves = append(moves, refs.Move{Name: e.Name(), Old: e.Commit})
	}
	if len(moves) > 0 {
		if err := s.repo.MoveRefs(ctx, "purge", moves...); err != nil {
			return err
		}
	}
	return s.log.SweepKept(ctx)
}

// toPurge returns the operations of an issue, and those of other issues that reach a file of the
// dropped checkpoints.
func (s *Sharer) toPurge(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID) (entries []*operation.Entry, err error) {
	var others []*operation.Entry
	var dropped []chain.Checkpoint
	for e, err := range s.log.Entries(ctx, "") {
		switch {
		case err != nil:
			return nil, err
		case !e.Concerns(issue):
			others = append(others, e)
			continue
		}
		entries = append(entries, e)
		for _, m := range e.Moves {
			if i, err := operation.IssueOf(m.Ref); err != nil || i != issue {
				continue
			}
			before, err := s.chain.Walk(issue, m.Ref, plumbing.NewHash(m.Old), 0)
			if err != nil {
				continue
			}
			for _, id := range ids {
				if c := before.Find(id); c != nil {
					dropped = append(dropped, *c)
				}
			}
		}
	}
	files, err := s.filesOfDropped(ctx, dropped)
	if err != nil || len(files) == 0 {
		return entries, err
	}
	for _, e := range others {
		found, err := s.reachable(ctx, files, e.Commit.String())
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// reflogsAtOnce limits the names in the arguments of one git.
const reflogsAtOnce = 500

// expireReflogs removes all entries from the reflogs of existing refs. Empty reflogs are
// skipped, because git rejects them.
func (s *Sharer) expireReflogs(ctx context.Context, names []string) error {
	var moves []refs.Move
	for _, name := range names {
		tip, err := s.repo.ReadRef(ctx, name)
		if err != nil || tip.IsZero() {
			continue
		}
		if entries, err := s.repo.EveryEntry(ctx, name); err != nil || len(entries) > 0 {
			moves = append(moves, refs.Move{Name: name, Old: tip, New: tip})
		}
	}
	for some := range slices.Chunk(moves, reflogsAtOnce) {
		args := []string{"reflog", "expire", "--expire=now", "--expire-unreachable=now"}
		for _, m := range some {
			args = append(args, m.Name)
		}
		s.repo.Refs.SetAsideLocks(some)
		g := s.repo.Git
		g.Apart, g.Hold = true, s.repo.IssueLock.Files()
		if _, err := g.Output(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// forgetTracked expires the reflogs of moved remote-tracking refs if the move dropped
// checkpoints from the remote chain. Otherwise such a reflog would protect their content
// from git gc, and no command reads it.
func (s *Sharer) forgetTracked(ctx context.Context, moves []refs.Move) {
	var names []string
	for _, m := range moves {
		issue, err := checkpoint.IssueFromRef(m.Name[strings.LastIndexByte(m.Name, '/')+1:])
		if err == nil && strings.HasPrefix(m.Name, repo.RemoteRefs) && !m.Old.IsZero() && !m.New.IsZero() && s.dropsFrom(issue, m) {
			names = append(names, m.Name)
		}
	}
	if err := s.expireReflogs(ctx, names); err != nil {
		s.repo.Notify("the reflogs of %s and %d other refs still contain dropped checkpoints: %v", names[0], len(names)-1, err)
	}
}

// dropsFrom reports whether a move deletes checkpoints from a chain: the new ledger marks
// them as deleted, and the old ledger does not.
func (s *Sharer) dropsFrom(issue checkpoint.Issue, m refs.Move) bool {
	before, err := s.chain.Walk(issue, m.Name, m.Old, 1)
	if err != nil {
		return false
	}
	now, err := s.chain.Walk(issue, m.Name, m.New, 1)
	if err != nil {
		return false
	}
	dropped := chain.SetOf(now.Ledger.IDs(ledger.Deleted))
	maps.DeleteFunc(dropped, func(id checkpoint.ID, _ bool) bool { return before.Ledger.HasDeleted(id) })
	return len(dropped) > 0
}

// Remains lists files of dropped checkpoints that git gc cannot delete.
type Remains struct {
	Index    []string // in an index
	Worktree []string // as files in this worktree
	Refs     []string // in branches, other checkpoints, stashes or reflogs; Purge reports remote-tracking refs
}

// Remaining is Store.Remaining of package gitstore.
func (s *Sharer) Remaining(ctx context.Context, dropped []chain.Checkpoint) (*Remains, error) {
	all, err := s.filesOfDropped(ctx, dropped)
	if err != nil {
		return nil, err
	}
	r := &Remains{}
	if len(all) == 0 {
		return r, nil
	}
	if r.Index, err = s.reachable(ctx, all, "--indexed-objects"); err != nil {
		return nil, err
	}
	if r.Refs, err = s.reachable(ctx, all, "--exclude="+repo.RemoteRefs+"*", "--all", "--reflog"); err != nil {
		return nil, err
	}
	for hash, path := range all {
		if s.isInWorktree(path, hash) {
			r.Worktree = append(r.Worktree, path)
		}
	}
	slices.Sort(r.Worktree)
	return r, nil
}

// filesOfDropped returns the blobs of dropped checkpoints with their paths in the worktree, without
// those that HEAD had at a save.
func (s *Sharer) filesOfDropped(ctx context.Context, dropped []chain.Checkpoint) (map[plumbing.Hash]string, error) {
	var in []string
	for i := range dropped {
		c, err := s.repo.ReadCommit(dropped[i].Commit)
		if err != nil || len(c.Parents) < 2 || !s.repo.Objects.Has(c.Tree) {
			continue
		}
		in = append(in, c.Tree.String())
		index, err := s.repo.ReadCommit(c.Parents[1])
		if err != nil || len(index.Parents) == 0 {
			continue
		}
		if head, err := s.repo.TreeOfCommit(index.Parents[0]); err == nil && s.repo.Objects.Has(head) {
			in = append(in, "^"+head.String())
		}
	}
	if len(in) == 0 {
		return nil, nil
	}
	out, err := s.repo.Git.Pipe(ctx, []byte(strings.Join(in, "\n")+"\n"), "rev-list", "--objects", "--filter=object:type=blob", "--missing=allow-any", "--stdin")
	if err != nil {
		return nil, err
	}
	files := map[plumbing.Hash]string{}
	for line := range strings.Lines(string(out)) {
		hash, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		dir, path, inside := strings.Cut(path, "/")
		if inside && dir != "conflicts" {
			files[plumbing.NewHash(hash)] = path
		}
	}
	return files, nil
}

// reachable returns the paths of the files that git can reach, sorted. Git
// lists all objects, since git's own difference between object sets is inexact.
func (s *Sharer) reachable(ctx context.Context, files map[plumbing.Hash]string, from ...string) ([]string, error) {
	pipe, out := io.Pipe()
	go func() {
		args := append([]string{"rev-list", "--objects", "--no-object-names", "--missing=allow-any"}, from...)
		out.CloseWithError(s.repo.Git.Filter(ctx, nil, out, args...))
	}()
	defer pipe.Close()
	var paths []string
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		if path, ok := files[plumbing.NewHash(lines.Text())]; ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths, lines.Err()
}

// isInWorktree reports whether a worktree file's content equals a blob.
func (s *Sharer) isInWorktree(path string, hash plumbing.Hash) bool {
	file := filepath.Join(s.repo.Info.Root, filepath.FromSlash(path))
	info, err := os.Lstat(file)
	if s.repo.Info.Root == "" || err != nil || !info.Mode().IsRegular() {
		return false
	}
	data, err := os.ReadFile(file)
	return err == nil && plumbing.ComputeHash(plumbing.BlobObject, data) == hash
}
