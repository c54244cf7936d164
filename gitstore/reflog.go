package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// reflog lists the moves of a ref that happened, newest first. Git tells where a ref stood
// after each move alone. Where it stood before is in the file: it is not what
// the entry below says when a plain fetch made the ref, which leaves no entry,
// or when a gc expired the entry below.
func (s *Store) reflog(ctx context.Context, ref string) ([]refs.Logged, error) {
	if ref == "HEAD" { // a symbolic ref, which may lead nowhere yet
		now, err := s.readHead(ctx)
		if err != nil || now.commit.IsZero() {
			return nil, err
		}
		return s.reflogOfGit(ctx, ref)
	}
	tip, err := s.readRef(ctx, ref)
	if err != nil || tip.IsZero() {
		return nil, err
	}
	entries, err := s.everyEntry(ctx, ref)
	return refs.Happened(entries, tip), err
}

// everyEntry are the entries of a reflog, also of moves that did not happen.
func (s *Store) everyEntry(ctx context.Context, ref string) ([]refs.Logged, error) {
	if s.repo.RefFormat == "files" && strings.HasPrefix(ref, "refs/") {
		return refs.ReadLog(s.repo.CommonDir, ref)
	}
	return s.reflogOfGit(ctx, ref)
}

// reflogOfGit asks git: where reflogs are not files, and for the worktree's own. git
// passes over an entry whose commit it cannot read, for lack of descriptors too, so
// it is asked once more if there are more entries than it lists.
func (s *Store) reflogOfGit(ctx context.Context, ref string) ([]refs.Logged, error) {
	for again := false; ; again = true {
		entries, err := s.listedByGit(ctx, ref)
		n := len(entries)
		if err != nil || n == 0 {
			return nil, err
		}
		before, err := s.git.Line(ctx, "rev-parse", "-q", "--verify", fmt.Sprintf("%s@{%d}", ref, n))
		if err == nil { // where it stood before the oldest entry is one more back
			entries[n-1].Old = plumbing.NewHash(before)
		}
		listed := func(e refs.Logged) bool { return e.New == entries[n-1].Old } // so it is none before the oldest
		switch {
		case !slices.ContainsFunc(entries, listed):
			return entries, nil
		case again:
			return entries, s.former(ctx, ref, entries)
		}
	}
}

// listedByGit are the entries that git lists, each with the value of the next one as
// its former value.
func (s *Store) listedByGit(ctx context.Context, ref string) ([]refs.Logged, error) {
	out, err := s.git.Output(ctx, "log", "-g", "--no-show-signature", "--date=unix", "--format=%H%x00%gd%x00%gs%x00", ref, "--")
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

// former sets the former values of entries among which some are left out.
func (s *Store) former(ctx context.Context, ref string, entries []refs.Logged) error {
	var values []plumbing.Hash // of all entries, and the value before the oldest
	for {
		line, err := s.git.Line(ctx, "rev-parse", "-q", "--verify", fmt.Sprintf("%s@{%d}", ref, len(values)))
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

const undoPrefix = "undo: "
