package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// Namespaces of the stored form.
const (
	LiveRefs      = "refs/checkpoints/"
	ArchiveRefs   = "refs/checkpoints-archive/"
	BookRefs      = "refs/git-checkpoint/"
	OwnRefs       = "refs/git-checkpoint/own/"
	fetchedRefs   = "refs/git-checkpoint/fetched/"
	RemoteRefs    = "refs/git-checkpoint/remote/"
	LineRefs      = "refs/git-checkpoint/line/"
	OperationRefs = "refs/git-checkpoint/operations/" // entries of operations
	HereRefs      = "refs/git-checkpoint/here/"       // files that worktrees last agreed on with checkpoints
)

// LiveRef returns the ref of an issue's chain.
func LiveRef(i checkpoint.Issue) string { return LiveRefs + i.RefName() }

// ArchiveRef returns the ref of an issue's archive.
func ArchiveRef(i checkpoint.Issue) string { return ArchiveRefs + i.RefName() }

func OwnRef(i checkpoint.Issue) string { return OwnRefs + i.RefName() }

func FetchedRef(i checkpoint.Issue) string { return fetchedRefs + i.RefName() }

// LineRef returns the ref of an issue's states as commits (gitstore.Line).
func LineRef(i checkpoint.Issue) string { return LineRefs + i.RefName() }

// HereRef returns the ref with the files that this worktree last agreed on with a checkpoint
// (chain.Here).
func (s *Repo) HereRef(i checkpoint.Issue) string {
	return HereRefs + s.WorktreeName() + "/" + i.RefName()
}

// OwnsWorktree reports whether the refs with the name of this worktree are its own, and not those of a
// removed worktree with the same name. Git deletes the file that proves it with the worktree.
func (s *Repo) OwnsWorktree() bool {
	return s.Info.Dir == s.Info.CommonDir || fsutil.Exists(filepath.Join(s.StateDir(), ownsRefs))
}

const ownsRefs = "owns-refs"

// ClaimWorktree makes the refs with the name of this worktree its own. The first call in a linked
// worktree returns the moves that delete those of a removed worktree with the same name, except for one
// name, and the agreements of all removed worktrees.
func (s *Repo) ClaimWorktree(ctx context.Context, except string) (moves []refs.Move, err error) {
	if s.OwnsWorktree() {
		return nil, nil
	}
	if err := s.WriteUnsynced(filepath.Join(s.StateDir(), ownsRefs), nil); err != nil {
		return nil, err
	}
	for _, prefix := range []string{HereRefs, OperationRefs} {
		there, err := s.Refs.Values(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(there)) {
			folder, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "/")
			dir := s.WorktreeDir(folder)
			isGone := prefix == HereRefs && dir != "" && !fsutil.Exists(dir)
			if (isGone || folder == s.WorktreeName()) && name != except {
				moves = append(moves, refs.Move{Name: name, Old: there[name]})
			}
		}
	}
	return moves, nil
}

// ReadRef returns a ref's value, or zero if missing. It fails with *CorruptError if the
// ref is broken.
func (s *Repo) ReadRef(ctx context.Context, name string) (plumbing.Hash, error) {
	hash, err := s.Refs.Read(ctx, name)
	if broken, ok := errors.AsType[*refs.BrokenError](err); ok {
		err = Corrupt(broken.Name, "broken ref: %q is not an object name", broken.Text)
	}
	return hash, err
}

// CacheRefs reads the refs of all issues once (refs.Reader.Cache). It reports whether the cache
// is new, so that the caller has to release it.
func (s *Repo) CacheRefs(ctx context.Context) bool {
	// own/ is read first: a chain that a save moves meanwhile must not lack the commit at own/.
	prefixes := []string{BookRefs, LiveRefs, ArchiveRefs}
	return !s.Refs.IsCached(prefixes...) && s.Refs.Cache(ctx, prefixes...) == nil
}

// TrackingRefs returns the remote-tracking refs of an issue's chain, of all remotes.
func (s *Repo) TrackingRefs(ctx context.Context, issue checkpoint.Issue) (map[string]plumbing.Hash, error) {
	return s.Refs.InFolders(ctx, RemoteRefs, issue.RefName())
}

// Reflog returns the moves of a ref that happened, newest first. Git prints only new
// values, so old values come from the reflog file. The previous entry's new value is no
// substitute: a ref that was created by a plain fetch has no entry, and a gc may have
// expired the entry.
func (s *Repo) Reflog(ctx context.Context, ref string) ([]refs.Logged, error) {
	if ref == "HEAD" { // a symbolic ref, possibly of an unborn branch
		now, err := s.ReadHead(ctx)
		if err != nil || now.Commit.IsZero() {
			return nil, err
		}
		return s.ReflogOfGit(ctx, ref)
	}
	tip, err := s.ReadRef(ctx, ref)
	if err != nil || tip.IsZero() {
		return nil, err
	}
	entries, err := s.EveryEntry(ctx, ref)
	return refs.Happened(entries, tip), err
}

// EveryEntry returns all reflog entries, including moves that did not happen.
func (s *Repo) EveryEntry(ctx context.Context, ref string) ([]refs.Logged, error) {
	if s.Info.RefFormat == "files" && strings.HasPrefix(ref, "refs/") {
		return refs.ReadLog(s.Info.CommonDir, ref)
	}
	return s.ReflogOfGit(ctx, ref)
}

// ReflogOfGit reads reflogs with git if they are not files, or for refs of the worktree.
// Git silently skips an entry whose commit it cannot read, for example if file
// descriptors run out. If git lists fewer entries than the reflog has, ReflogOfGit
// retries once.
func (s *Repo) ReflogOfGit(ctx context.Context, ref string) ([]refs.Logged, error) {
	for again := false; ; again = true {
		entries, err := s.listedByGit(ctx, ref)
		n := len(entries)
		if err != nil || n == 0 {
			return nil, err
		}
		before, err := s.Git.Line(ctx, "rev-parse", "-q", "--verify", fmt.Sprintf("%s@{%d}", ref, n))
		if err == nil { // the value before the oldest entry is one step further back
			entries[n-1].Old = plumbing.NewHash(before)
		}
		listed := func(e refs.Logged) bool { return e.New == entries[n-1].Old } // so git has skipped an entry
		switch {
		case !slices.ContainsFunc(entries, listed):
			return entries, nil
		case again:
			return entries, s.former(ctx, ref, entries)
		}
	}
}

// listedByGit returns the entries that git lists. The old value of each entry is the new
// value of the next older entry.
func (s *Repo) listedByGit(ctx context.Context, ref string) ([]refs.Logged, error) {
	out, err := s.Git.Output(ctx, "log", "-g", "--no-show-signature", "--date=unix", "--format=%H%x00%gd%x00%gs%x00", ref, "--")
	if err != nil {
		return nil, fmt.Errorf("read the reflog of %s: %w", ref, err)
	}
	var entries []refs.Logged
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		_, date, _ := strings.Cut(strings.TrimSuffix(fields[i+1], "}"), "@{")
		seconds, _ := strconv.ParseInt(date, 10, 64)
		entries = append(entries, refs.Logged{
			New: plumbing.NewHash(strings.TrimSpace(fields[i])), Message: fields[i+2], At: time.Unix(seconds, 0),
		})
	}
	for i := range entries {
		if i+1 < len(entries) {
			entries[i].Old = entries[i+1].New
		}
	}
	return entries, nil
}

// former sets old values in an incomplete list of entries.
func (s *Repo) former(ctx context.Context, ref string, entries []refs.Logged) error {
	var values []plumbing.Hash // of all entries, and the value before the oldest
	for {
		line, err := s.Git.Line(ctx, "rev-parse", "-q", "--verify", fmt.Sprintf("%s@{%d}", ref, len(values)))
		if err != nil {
			break
		}
		values = append(values, plumbing.NewHash(line))
	}
	values = append(values, plumbing.ZeroHash)
	for i := range entries {
		at := slices.Index(values[:len(values)-1], entries[i].New)
		if at < 0 {
			return fmt.Errorf("read the reflog of %s: git lists an entry that it does not find", ref)
		}
		entries[i].Old, values = values[at+1], values[at+1:]
	}
	return nil
}
