package gitstore

import (
	"context"
	"fmt"
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

// reflogOfGit asks git: where reflogs are not files, and for the worktree's own.
func (s *Store) reflogOfGit(ctx context.Context, ref string) ([]refs.Logged, error) {
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
	if n := len(entries); n > 0 { // where it stood before the oldest entry is one more back
		if line, err := s.git.Line(ctx, "rev-parse", "-q", "--verify", fmt.Sprintf("%s@{%d}", ref, n)); err == nil {
			entries[n-1].Old = plumbing.NewHash(line)
		}
	}
	return entries, nil
}
