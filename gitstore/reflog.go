package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// An entry of a reflog: where the ref stood before and after a move.
type logEntry struct {
	old, new plumbing.Hash
	message  string
	at       time.Time
}

// reflog lists the moves of a ref, newest first. Git tells where a ref stood
// after each move alone. Where it stood before is in the file: it is not what
// the entry below says when a plain fetch made the ref, which leaves no entry,
// or when a gc expired the entry below.
func (s *Store) reflog(ctx context.Context, ref string) ([]logEntry, error) {
	if ref == "HEAD" { // a symbolic ref, which may lead nowhere yet
		now, err := s.readHead(ctx)
		if err != nil || now.commit.IsZero() {
			return nil, err
		}
		return s.reflogOfGit(ctx, ref)
	}
	if tip, err := s.readRef(ctx, ref); err != nil || tip.IsZero() {
		return nil, err
	}
	if s.repo.RefFormat == "files" && strings.HasPrefix(ref, "refs/") {
		return s.reflogFile(ref)
	}
	return s.reflogOfGit(ctx, ref)
}

// reflogFile reads the file in which git keeps the reflog of a ref that all
// worktrees share: lines of old hash, new hash, ident, time, zone, a tab and
// the message. A line that is none, as a loss of power leaves it, is passed
// over, which is what git does.
func (s *Store) reflogFile(ref string) ([]logEntry, error) {
	data, err := os.ReadFile(filepath.Join(s.repo.CommonDir, "logs", filepath.FromSlash(ref)))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	var entries []logEntry
	for line := range bytes.Lines(data) {
		if e, ok := parseLogLine(strings.TrimSuffix(string(line), "\n")); ok {
			entries = append(entries, e)
		}
	}
	slices.Reverse(entries)
	return entries, nil
}

func parseLogLine(line string) (logEntry, bool) {
	head, message, _ := strings.Cut(line, "\t")
	words := strings.Fields(head)
	if len(words) < 4 || !plumbing.IsHash(words[0]) || !plumbing.IsHash(words[1]) {
		return logEntry{}, false
	}
	seconds, err := strconv.ParseInt(words[len(words)-2], 10, 64)
	return logEntry{plumbing.NewHash(words[0]), plumbing.NewHash(words[1]), message, time.Unix(seconds, 0)}, err == nil
}

// reflogOfGit asks git: where reflogs are not files, and for the worktree's own.
func (s *Store) reflogOfGit(ctx context.Context, ref string) ([]logEntry, error) {
	out, err := s.git.Output(ctx, "log", "-g", "--no-show-signature", "--date=unix", "--format=%H%x00%gd%x00%gs%x00", ref, "--")
	if err != nil {
		return nil, fmt.Errorf("read the reflog of %s: %w", ref, err)
	}
	var entries []logEntry
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		_, date, _ := strings.Cut(strings.TrimSuffix(fields[i+1], "}"), "@{")
		seconds, _ := strconv.ParseInt(date, 10, 64)
		entries = append(entries, logEntry{
			new: plumbing.NewHash(strings.TrimSpace(fields[i])), message: fields[i+2], at: time.Unix(seconds, 0),
		})
	}
	for i := range entries {
		if i+1 < len(entries) {
			entries[i].old = entries[i+1].new
		}
	}
	if n := len(entries); n > 0 { // where it stood before the oldest entry is one more back
		if line, err := s.git.Line(ctx, "rev-parse", "-q", "--verify", fmt.Sprintf("%s@{%d}", ref, n)); err == nil {
			entries[n-1].old = plumbing.NewHash(line)
		}
	}
	return entries, nil
}
