package snapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// An OutputReport lists the files that a record refers to and that are missing or changed.
type OutputReport struct {
	Missing []string // missing from the worktree and from the checkpoint's untracked files
	Changed []string // different from the recorded digest
}

// Outputs checks the files that a record refers to. Locations outside the worktree are
// not read and count as missing. A file that a restore of the checkpoint would create or
// update counts as neither missing nor changed. This is normal in a clone that has not
// restored the checkpoint.
func (s *Capturer) Outputs(ctx context.Context, c *chain.Checkpoint, r *checkpoint.Record) (OutputReport, error) {
	entries, err := s.entriesFor(c, r)
	if err != nil {
		return OutputReport{}, err
	}
	return s.checkOutputs(ctx, entries, r, s.restorePlan(c))
}

// PlanChanged reports whether the plan file differs from its digest, and a restore of the
// checkpoint would not correct this.
func (s *Capturer) PlanChanged(ctx context.Context, c *chain.Checkpoint, place, digest string) (bool, error) {
	back := s.restorePlan(c)
	now, err := s.Digests(ctx, []string{place})
	return err == nil && now[place] != digest && !back.Restores(place, now[place], digest), err
}

// MissingOutputs returns the files that a record refers to and that are neither in the
// worktree nor among the checkpoint's untracked files.
func (s *Capturer) MissingOutputs(c *chain.Checkpoint, r *checkpoint.Record) ([]string, error) {
	entries, err := s.entriesFor(c, r)
	if err != nil {
		return nil, err
	}
	return s.missingOutputs(entries, r)
}

// keptOutputs returns the files that the previous checkpoint contains because its record
// refers to them (carriedOver). If an error occurs, the save continues
// without these files.
func (s *Capturer) keptOutputs(ctx context.Context, issue checkpoint.Issue) []string {
	before, _ := s.chain.LastResumed(issue)
	if before == nil {
		c, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 1)
		if err != nil || c.Newest() == nil {
			return nil
		}
		before = c.Newest()
	}
	entries, err := trees.Read(s.repo.Objects, before.Tree)
	if err != nil {
		return nil
	}
	return s.carriedOver(entries, func() (*checkpoint.Record, error) { return s.chain.Record(before) })
}

// lookedBack limits the checkpoints in which hadUntracked looks for files.
const lookedBack = 100

// hadUntracked returns a function that reports whether one of the newest checkpoints has
// untracked files in a directory. It reads the checkpoints at the first call.
func (s *Capturer) hadUntracked(ctx context.Context, issue checkpoint.Issue) func(dir string) bool {
	find := &trees.Finder{Reader: s.repo.Objects}
	newest := sync.OnceValue(func() []chain.Checkpoint {
		c, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), lookedBack)
		if err != nil {
			return nil
		}
		return c.Checkpoints()
	})
	return func(dir string) bool {
		return slices.ContainsFunc(newest(), func(c chain.Checkpoint) bool {
			_, state, err := find.Lookup(c.Tree, "state/"+dir)
			_, staged, err2 := find.Lookup(c.Tree, "staged/"+dir)
			if err != nil || err2 != nil || state == staged {
				return false
			}
			changes, err := trees.Diff(s.repo.Objects, staged, state)
			return err == nil && slices.ContainsFunc(changes, func(ch trees.Change) bool { return ch.Old.Hash.IsZero() })
		})
	}
}

// FindRepository returns the repository inside the worktree that contains a path relative
// to the root, or the part of this repository that does.
func (s *Capturer) FindRepository(ctx context.Context, path string) repository.Foreign {
	return s.repo.Boundary(ctx).Find(path)
}

// FindGitDir returns the git directory or object directory that contains an absolute path,
// of this or of another repository.
func (s *Capturer) FindGitDir(ctx context.Context, path string) repository.Foreign {
	return s.repo.Boundary(ctx).FindPlace(path)
}

// CheckPlace fails if a checkpoint cannot contain a file at this path relative to the
// root, for example because git reserves the path.
func CheckPlace(place string) error { return trees.CheckPath(place, trees.ModeFile) }

// IsTracked reports whether git tracks a worktree file, or any file below a directory.
func (s *Capturer) IsTracked(ctx context.Context, place string) (bool, error) {
	out, err := s.repo.Git.Output(ctx, "--literal-pathspecs", "ls-files", "-z", "--", place)
	return len(out) > 0, err
}

// restorePlan returns the paths that a restore would write. It is empty if the snapshot
// is incomplete.
func (s *Capturer) restorePlan(c *chain.Checkpoint) RestorePlan {
	st, err := s.OpenSnapshot(c)
	if err != nil {
		return nil
	}
	targets, err := s.Targets(st)
	if err != nil {
		return nil
	}
	return NewRestorePlan(targets)
}

// entriesFor returns a checkpoint's tree entries, or nil if its record references no
// files.
func (s *Capturer) entriesFor(c *chain.Checkpoint, r *checkpoint.Record) ([]trees.Entry, error) {
	if len(r.Outputs()) == 0 {
		return nil, nil
	}
	return trees.Read(s.repo.Objects, c.Tree)
}

// checkOutputs is Outputs with the entries of the checkpoint's tree and the files that a restore
// would write.
func (s *Capturer) checkOutputs(ctx context.Context, entries []trees.Entry, r *checkpoint.Record, back RestorePlan) (OutputReport, error) {
	var report OutputReport
	missing, err := s.missingOutputs(entries, r)
	if err != nil {
		return report, err
	}
	for _, place := range missing {
		if !back.Restores(place, "", "") {
			report.Missing = append(report.Missing, place)
		}
	}
	digests := map[string]string{}
	for _, o := range r.Outputs() {
		digests[o.Location] = o.Digest
	}
	places := slices.Sorted(maps.Keys(digests))
	now, err := s.Digests(ctx, slices.DeleteFunc(slices.Clone(places), func(p string) bool { return digests[p] == "" }))
	if err != nil {
		return report, err
	}
	for _, place := range places {
		if is := now[place]; is != "" && is != digests[place] && !back.Restores(place, is, digests[place]) {
			report.Changed = append(report.Changed, place)
		}
	}
	return report, nil
}

// missingOutputs is MissingOutputs with the entries of the checkpoint's tree. A restore leaves a
// tracked file that was removed.
func (s *Capturer) missingOutputs(entries []trees.Entry, r *checkpoint.Record) ([]string, error) {
	outputs := r.Outputs()
	if len(outputs) == 0 {
		return nil, nil
	}
	state, _ := trees.Find(entries, "state")
	staged, _ := trees.Find(entries, "staged")
	root, err := os.OpenRoot(s.repo.Info.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var missing []string
	find := &trees.Finder{Reader: s.repo.Objects}
	for _, o := range outputs {
		name := path.Clean(o.Location)
		if _, err := root.Stat(filepath.FromSlash(name)); err == nil {
			continue
		}
		if !has(find, state, name) || has(find, staged, name) {
			missing = append(missing, o.Location)
		}
	}
	return missing, nil
}

// has reports whether a tree entry contains a path.
func has(find *trees.Finder, tree trees.Entry, path string) bool {
	_, hash, err := find.Lookup(tree.Hash, path)
	return err == nil && !hash.IsZero()
}

// RestorePlan maps paths to restore targets.
type RestorePlan map[string]contents.Target

// NewRestorePlan returns a plan with the given targets.
func NewRestorePlan(targets []contents.Target) RestorePlan {
	back := make(RestorePlan, len(targets))
	for _, t := range targets {
		back[t.Path] = t
	}
	return back
}

// Restores reports whether a restore replaces a file unchanged since HEAD. now is the
// file's digest, "" for a missing file; want is the digest after the restore, "" for any.
func (c RestorePlan) Restores(place, now, want string) bool {
	t, ok := c[path.Clean(place)]
	return ok && t.Work && t.WorkWant != (contents.Side{}) && digestOf(t.WorkBase) == now &&
		(want == "" || digestOf(t.WorkWant) == want)
}

func digestOf(f contents.Side) string {
	if f == (contents.Side{}) {
		return ""
	}
	return digest(f.Hash)
}

func digest(blob plumbing.Hash) string { return "blob:" + blob.String() }

// carriedOver returns the files of a checkpoint that its record refers to, if they exist and are
// untracked. The next checkpoint stores their current content, so that the newest checkpoint
// contains all of them. Git often ignores these files, so other machines receive them only
// through checkpoints. The record is read only if the state has files beside the index.
func (s *Capturer) carriedOver(entries []trees.Entry, record func() (*checkpoint.Record, error)) []string {
	state, ok := trees.Find(entries, "state")
	staged, _ := trees.Find(entries, "staged")
	if !ok || state.Hash == staged.Hash {
		return nil
	}
	r, err := record()
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(s.repo.Info.Root)
	if err != nil {
		return nil
	}
	defer root.Close()
	places := r.PhaseArtifacts()
	for _, o := range r.Outputs() {
		places = append(places, o.Location)
	}
	var kept []string
	find := &trees.Finder{Reader: s.repo.Objects}
	for _, place := range places {
		place = path.Clean(place)
		if !has(find, state, place) || has(find, staged, place) {
			continue
		}
		if info, err := root.Lstat(filepath.FromSlash(place)); err == nil && info.Mode().IsRegular() {
			kept = append(kept, place)
		}
	}
	return kept
}

// checkArtifact returns the clean path of an artifact below the root. It returns an error
// if a restore could not write a file to that path.
func checkArtifact(root *os.Root, name string) (string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if path.IsAbs(clean) || filepath.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", errors.New("outside the worktree")
	}
	for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(filepath.FromSlash(dir)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return "", fmt.Errorf("%q is a symlink", dir)
		}
	}
	info, err := root.Lstat(filepath.FromSlash(clean))
	if err != nil {
		return "", errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	return clean, trees.CheckPath(clean, trees.ModeFile)
}

// MaxDigested limits the size of files with a digest, in bytes.
const MaxDigested = 64 << 20

// Digests returns current digests of worktree files: "blob:" and the blob hash after
// git's clean filters. Line endings and filters of another machine therefore do not
// change a digest. Files outside the worktree, irregular files, and files over the limit
// have no digest.
func (s *Capturer) Digests(ctx context.Context, places []string) (map[string]string, error) {
	if len(places) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(s.repo.Info.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var names, asked []string
	for _, place := range places {
		name := path.Clean(place)
		info, err := root.Stat(filepath.FromSlash(name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > MaxDigested {
			continue
		}
		names, asked = append(names, name), append(asked, place)
	}
	hashes, err := s.git().HashFiles(ctx, names, false)
	if err != nil {
		return nil, err
	}
	digests := make(map[string]string, len(asked))
	for n, place := range asked {
		if hash := hashes[names[n]]; !hash.IsZero() {
			digests[place] = digest(hash)
		}
	}
	return digests, nil
}
