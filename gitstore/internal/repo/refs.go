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

// CacheRefs is refs.Reader.Cache for the refs of all issues.
func (s *Repo) CacheRefs(ctx context.Context) bool {
	return s.Refs.Cache(ctx, BookRefs, LiveRefs, ArchiveRefs)
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
		return s.EveryEntry(ctx, ref)
	}
	tip, err := s.ReadRef(ctx, ref)
	if err != nil || tip.IsZero() {
		return nil, err
	}
	entries, err := s.EveryEntry(ctx, ref)
	return refs.Happened(entries, tip), err
}

// EveryEntry returns all reflog entries of a ref or of HEAD, including moves that did not happen.
func (s *Repo) EveryEntry(ctx context.Context, ref string) ([]refs.Logged, error) {
	switch {
	case s.Info.RefFormat != "files":
		return s.reflogOfGit(ctx, ref)
	case ref == "HEAD":
		return refs.ReadLog(s.Info.Dir, ref)
	}
	return refs.ReadLog(s.Info.CommonDir, ref)
}

// reflogOfGit reads a reflog with git. Git prints only new values: the old value of each entry is the
// new value of the next older entry. Git silently skips an entry whose commit it cannot read, for
// example if file descriptors run out. Then the reflog has more entries than git lists, and
// reflogOfGit retries once.
func (s *Repo) reflogOfGit(ctx context.Context, ref string) ([]refs.Logged, error) {
	for again := false; ; again = true {
		out, err := s.Git.Output(ctx, "log", "-g", "--no-show-signature", "--date=unix", "--format=%H%x00%gd%x00%gs%x00", ref, "--")
		if err != nil {
			return nil, fmt.Errorf("read the reflog of %s: %w", ref, err)
		}
		fields := strings.Split(string(out), "\x00")
		n := len(fields) / 3
		if n == 0 {
			return nil, nil
		}
		value := func(back int) string {
			hex, _ := s.Git.Line(ctx, "rev-parse", "-q", "--verify", fmt.Sprintf("%s@{%d}", ref, back))
			return hex
		}
		before := value(n) // the value before the oldest entry is one step further back
		if before != "" && before == strings.TrimSpace(fields[3*n-3]) || value(n+1) != "" {
			if again {
				return nil, fmt.Errorf("read the reflog of %s: git cannot read the commit of an entry", ref)
			}
			continue
		}
		entries := make([]refs.Logged, n)
		old := plumbing.NewHash(before)
		for i := n - 1; i >= 0; i-- {
			_, date, _ := strings.Cut(strings.TrimSuffix(fields[3*i+1], "}"), "@{")
			seconds, _ := strconv.ParseInt(date, 10, 64)
			entries[i] = refs.Logged{Old: old, New: plumbing.NewHash(strings.TrimSpace(fields[3*i])), Message: fields[3*i+2], At: time.Unix(seconds, 0)}
			old = entries[i].New
		}
		return entries, nil
	}
}
