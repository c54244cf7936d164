package gitstore

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/gitcmd"
)

// HasIssue reports whether an issue has a chain or an archive.
func (s *Store) HasIssue(ctx context.Context, i checkpoint.Issue) bool {
	for _, ref := range []string{LiveRef(i), ArchiveRef(i)} {
		if hash, err := s.readRef(ctx, ref); err != nil || !hash.IsZero() {
			return true
		}
	}
	return false
}

// Branch is the branch that HEAD is on, "" when it is detached.
func (s *Store) Branch(ctx context.Context) (string, error) {
	h, err := s.readHead(ctx)
	return h.branch, err
}

// A BranchReport is what this clone knows of a branch.
type BranchReport struct {
	Exists bool
	Once   bool     // this clone has had it
	Remote []string // remote-tracking branches of that name
}

// FindBranch looks for a branch. That this clone has had one shows in its
// configuration, or in a reflog of HEAD, which names what was switched to and
// from.
func (s *Store) FindBranch(ctx context.Context, name string) (BranchReport, error) {
	hash, err := s.readRef(ctx, "refs/heads/"+name)
	if err != nil {
		return BranchReport{}, err
	}
	if !hash.IsZero() {
		return BranchReport{Exists: true}, nil
	}
	head, err := s.readHead(ctx)
	if err != nil {
		return BranchReport{}, err
	}
	if head.branch == name {
		return BranchReport{Exists: true}, nil // unborn
	}
	r := BranchReport{Once: s.onceHad(ctx, name)}
	refs, err := s.refs(ctx, "refs/remotes/")
	if err != nil {
		return r, err
	}
	for ref := range refs {
		remote := strings.TrimPrefix(ref, "refs/remotes/")
		if _, branch, _ := strings.Cut(remote, "/"); branch == name {
			r.Remote = append(r.Remote, remote)
		}
	}
	return r, nil
}

func (s *Store) onceHad(ctx context.Context, name string) bool {
	for _, e := range s.config {
		if strings.HasPrefix(e.Key, "branch."+name+".") {
			return true
		}
	}
	entries, err := s.reflog(ctx, "HEAD")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.message, "checkout: moving from "); ok {
			if from, to, ok := strings.Cut(rest, " to "); ok && (from == name || to == name) {
				return true
			}
		}
		if strings.Contains(e.message, "renamed refs/heads/"+name+" to ") {
			return true
		}
	}
	return false
}

// SavedHere reports whether this clone saved the checkpoint, as far as that is
// known: its reflog says so, or, where git has expired that, what this clone
// wrote last has it and what plain git brought has not.
func (s *Store) SavedHere(ctx context.Context, c *Checkpoint) bool {
	entries, err := s.reflog(ctx, LiveRef(c.Issue))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if id, _, _ := strings.Cut(strings.TrimPrefix(e.message, "save: "), ";"); id == string(c.ID) {
			return true
		}
	}
	return s.inChain(ctx, c, ownRef(c.Issue)) && !s.inChain(ctx, c, fetchedRef(c.Issue))
}

// inChain reports whether a checkpoint is among the newest of the chain at ref.
func (s *Store) inChain(ctx context.Context, c *Checkpoint, ref string) bool {
	chain, err := s.readChain(ctx, c.Issue, ref, retentionDepth)
	return err == nil && slices.ContainsFunc(chain.links, func(l link) bool { return l.ID == c.ID })
}

// A HeadReport relates HEAD to where it was when a checkpoint was saved.
type HeadReport struct {
	Saved, Now string // commits, "" for an unborn branch
	Contains   bool   // HEAD now is Saved or descends from it
	Ahead      int    // commits since, where it descends
}

// CompareHead compares HEAD with the checkpoint's.
func (s *Store) CompareHead(ctx context.Context, c *Checkpoint) (HeadReport, error) {
	st, err := s.openSnapshot(c)
	if err != nil {
		return HeadReport{}, err
	}
	now, err := s.readHead(ctx)
	if err != nil {
		return HeadReport{}, err
	}
	var r HeadReport
	if !st.head.IsZero() {
		r.Saved = st.head.String()
	}
	if !now.commit.IsZero() {
		r.Now = now.commit.String()
	}
	switch {
	case r.Saved == r.Now:
		r.Contains = true
	case r.Saved == "" || r.Now == "":
		r.Contains = r.Saved == ""
	default:
		return r, s.countAhead(ctx, &r)
	}
	return r, nil
}

func (s *Store) countAhead(ctx context.Context, r *HeadReport) error {
	out, err := s.git.Line(ctx, "rev-list", "--left-right", "--count", r.Saved+"..."+r.Now)
	if err != nil {
		return err
	}
	behind, ahead, _ := strings.Cut(out, "\t")
	r.Contains = behind == "0"
	r.Ahead, err = strconv.Atoi(ahead)
	return err
}

// ChangedSince lists the files of a checkpoint that are now neither what they
// were at its HEAD nor what it has.
func (s *Store) ChangedSince(ctx context.Context, c *Checkpoint) ([]string, error) {
	st, err := s.openSnapshot(c)
	if err != nil {
		return nil, err
	}
	targets, err := s.targets(st)
	if err != nil || len(targets) == 0 {
		return nil, err
	}
	now, err := s.observe(ctx, targets)
	if err != nil {
		return nil, err
	}
	plan := planRestore(targets, now, Mine, false)
	return append(plan.changed, plan.inTheWay...), nil
}

// MissingOutputs lists the files that a record refers to and that are neither
// in the worktree nor among the checkpoint's artifacts. Locations outside the
// worktree are not looked at: they are missing.
func (s *Store) MissingOutputs(c *Checkpoint, r *checkpoint.Record) ([]string, error) {
	outputs := r.Outputs()
	if len(outputs) == 0 {
		return nil, nil
	}
	entries, err := readTree(s.objects, c.Tree)
	if err != nil {
		return nil, err
	}
	artifacts, _ := entry(entries, "artifacts")
	root, err := os.OpenRoot(s.repo.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var missing []string
	for _, o := range outputs {
		name := path.Clean(o.Location)
		if _, err := root.Stat(filepath.FromSlash(name)); err == nil {
			continue
		}
		if _, hash, err := lookupPath(s.objects, artifacts.hash, name); err != nil || hash.IsZero() {
			missing = append(missing, o.Location)
		}
	}
	return missing, nil
}

// Partial reports whether the clone is shallow or partial, and so may not have
// what others do.
func (s *Store) Partial() bool {
	_, partial := gitcmd.Last(s.config, "extensions.partialclone")
	return s.repo.shallow || partial
}
