package snapshot

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

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
func (s *Capturer) Outputs(ctx context.Context, c *chain.Checkpoint, r *checkpoint.Record) (report OutputReport, err error) {
	missing, err := s.MissingOutputs(r)
	if err != nil || len(r.Outputs()) == 0 {
		return report, err
	}
	entries, err := trees.Read(s.repo.Objects, c.Tree)
	if err != nil {
		return report, err
	}
	isUntracked, back := s.untrackedIn(entries), s.restored(c)
	for _, place := range missing {
		if !isUntracked(place) && !back(place, "", "") {
			report.Missing = append(report.Missing, place)
		}
	}
	digests := map[string]string{}
	for _, o := range r.Outputs() {
		if o.Digest != "" {
			digests[o.Location] = o.Digest
		}
	}
	places := slices.Sorted(maps.Keys(digests))
	now, err := s.Digests(ctx, places)
	for _, place := range places {
		if is := now[place]; is != "" && is != digests[place] && !back(place, is, digests[place]) {
			report.Changed = append(report.Changed, place)
		}
	}
	return report, err
}

// PlanChanged reports whether the plan file differs from its digest, and a restore of the
// checkpoint would not correct this.
func (s *Capturer) PlanChanged(ctx context.Context, c *chain.Checkpoint, place, digest string) (bool, error) {
	now, err := s.Digests(ctx, []string{place})
	return err == nil && now[place] != digest && !s.restored(c)(place, now[place], digest), err
}

// MissingOutputs returns the files that a record refers to and that are not in the worktree.
func (s *Capturer) MissingOutputs(r *checkpoint.Record) (missing []string, err error) {
	if len(r.Outputs()) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(s.repo.Info.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, o := range r.Outputs() {
		if _, err := root.Stat(filepath.FromSlash(path.Clean(o.Location))); err != nil {
			missing = append(missing, o.Location)
		}
	}
	return missing, nil
}

// untrackedBefore returns what the checkpoint before a save says about untracked files: whether it has
// some in a directory, and the files that it contains because its record refers to them (carriedOver).
// If an error occurs, the save continues without these files.
func (s *Capturer) untrackedBefore(ctx context.Context, issue checkpoint.Issue) (had func(dir string) bool, kept []string) {
	before, _ := s.chain.LastResumed(issue)
	if before == nil {
		c, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 1)
		if err != nil || c.Newest() == nil {
			return nil, nil
		}
		before = c.Newest()
	}
	entries, err := trees.Read(s.repo.Objects, before.Tree)
	if err != nil {
		return nil, nil
	}
	had = func(dir string) bool {
		changes, err := trees.Diff(s.repo.Objects, trees.HashOf(entries, "staged"), trees.HashOf(entries, "state"))
		return err == nil && slices.ContainsFunc(changes, func(c trees.Change) bool {
			return c.Old.Hash.IsZero() && checkpoint.IsWithin(c.Path, dir+"/")
		})
	}
	return had, s.carriedOver(entries, func() (*checkpoint.Record, error) { return s.chain.Record(before) })
}

// untrackedIn returns a function that reports whether a checkpoint has an untracked file, by the
// entries of its tree. A restore leaves a tracked file that was removed.
func (s *Capturer) untrackedIn(entries []trees.Entry) func(place string) bool {
	find := &trees.Finder{Reader: s.repo.Objects}
	has := func(tree, place string) bool {
		_, hash, err := find.Lookup(trees.HashOf(entries, tree), path.Clean(place))
		return err == nil && !hash.IsZero()
	}
	return func(place string) bool { return has("state", place) && !has("staged", place) }
}

// Boundary returns the boundary of the repository.
func (s *Capturer) Boundary(ctx context.Context) *repository.Boundary { return s.repo.Boundary(ctx) }

// IsTracked reports whether git tracks a worktree file, or any file below a directory.
func (s *Capturer) IsTracked(ctx context.Context, place string) (bool, error) {
	return s.repo.IsTracked(ctx, place)
}

// restored returns a function that reports whether a restore of a checkpoint replaces a file that is as
// in HEAD at the save. now is the file's digest, "" for a missing file; want is the digest after the
// restore, "" for any. A restore of an incomplete snapshot replaces none.
func (s *Capturer) restored(c *chain.Checkpoint) func(place, now, want string) bool {
	st, err := s.TreesOf(c)
	if err != nil {
		return func(place, now, want string) bool { return false }
	}
	find := &trees.Finder{Reader: s.repo.Objects}
	return func(place, now, want string) bool {
		base, errBase := contents.At(find, st.Base, path.Clean(place))
		state, errState := contents.At(find, st.State, path.Clean(place))
		return errBase == nil && errState == nil && base != state && state.IsBlob() &&
			digestOf(base) == now && (want == "" || digestOf(state) == want)
	}
}

func digestOf(f contents.Side) string {
	if f == (contents.Side{}) {
		return ""
	}
	return digest(f.Hash)
}

func digest(blob plumbing.Hash) string { return "blob:" + blob.String() }

// carriedOver returns the untracked files of a checkpoint that its record refers to. The next
// checkpoint stores the current content of those that still exist, so that the newest checkpoint
// contains all of them. Git often ignores these files, so other machines receive them only
// through checkpoints. The record is read only if the state has files beside the index.
func (s *Capturer) carriedOver(entries []trees.Entry, record func() (*checkpoint.Record, error)) []string {
	if trees.HashOf(entries, "state") == trees.HashOf(entries, "staged") {
		return nil
	}
	r, err := record()
	if err != nil {
		return nil
	}
	places := r.PhaseArtifacts()
	for _, o := range r.Outputs() {
		places = append(places, o.Location)
	}
	isUntracked := s.untrackedIn(entries)
	return slices.DeleteFunc(places, func(place string) bool { return !isUntracked(place) })
}

// maxDigested limits the size of files with a digest, in bytes.
const maxDigested = 64 << 20

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
	var names []string
	for _, place := range places {
		name := path.Clean(place)
		info, err := root.Stat(filepath.FromSlash(name))
		if err == nil && info.Mode().IsRegular() && info.Size() <= maxDigested {
			names = append(names, name)
		}
	}
	hashes, err := s.repo.RootGit().HashFiles(ctx, names, false)
	if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for _, place := range places {
		if hash := hashes[path.Clean(place)]; !hash.IsZero() {
			digests[place] = digest(hash)
		}
	}
	return digests, nil
}
