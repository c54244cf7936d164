package facts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
)

// OnceHad looks for traces of a branch in the configuration and in the reflogs of HEAD and all branches. It
// also returns the new name if the branch was renamed. Renames before since are ignored: they concern another
// branch of the same name. A checkout from an unborn HEAD is no trace: its branch, such as that of
// init.defaultBranch, never existed.
func (s *Facts) OnceHad(ctx context.Context, name string, since time.Time) (once bool, became string) {
	for _, e := range s.repo.Config {
		key, ok := strings.CutPrefix(e.Key, "branch."+name+".")
		once = once || ok && !strings.Contains(key, ".") // not a key of branch <name>.<more>
	}
	out, err := s.repo.Git.Output(ctx, "log", "-g", "--ignore-missing", "--no-show-signature", "--encoding=UTF-8", "--date=unix", "--format=%gD%x09%gs", "HEAD", "--branches")
	if err != nil {
		return once, ""
	}
	lines := strings.Split(string(out), "\n")
	for i, line := range lines[:len(lines)-1] {
		at, message, _ := strings.Cut(line, "\t")
		ref, seconds, _ := strings.Cut(strings.TrimSuffix(at, "}"), "@{")
		if rest, ok := strings.CutPrefix(message, "checkout: moving from "); ok {
			from, to, _ := strings.Cut(rest, " to ")
			isUnborn := !strings.HasPrefix(lines[i+1], "HEAD@{") // the first entry
			once = once || from == name && !isUnborn || to == name
		}
		to, ok := strings.CutPrefix(message, "Branch: renamed refs/heads/"+name+" to refs/heads/")
		if once = once || ok; !ok {
			continue
		}
		if unix, err := strconv.ParseInt(seconds, 10, 64); err != nil || time.Unix(unix, 0).Before(since) {
			continue
		}
		// A reflog moves with its branch at every rename. That of HEAD has only the renames of its branch.
		if ref != "HEAD" {
			became = strings.TrimPrefix(ref, "refs/heads/")
		} else if became == "" && s.HasBranch(ctx, to) {
			became = to
		}
	}
	return once, became
}

// A FormerName is an earlier name of a branch, until a rename at the time Until.
type FormerName struct {
	Name  string
	Until time.Time
}

// FormerNames returns the earlier names of a branch from its reflog, the last name first.
// Names of a branch from which this branch was copied are left out.
func (s *Facts) FormerNames(ctx context.Context, branch string) (names []FormerName) {
	if branch == "" {
		return nil
	}
	entries, err := s.repo.EveryEntry(ctx, "refs/heads/"+branch)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		rest, isRename := strings.CutPrefix(e.Message, "Branch: renamed refs/heads/")
		former, isThis := strings.CutSuffix(rest, " to refs/heads/"+branch)
		switch {
		case isRename && isThis:
			names = append(names, FormerName{Name: former, Until: e.At})
			branch = former
		case strings.HasPrefix(e.Message, "Branch: copied "):
			return names
		}
	}
	return names
}

// OperationBranch returns the branch to which a rebase or a bisection in progress will
// return, or "" if the branch does not exist.
func (s *Facts) OperationBranch(ctx context.Context) string {
	branch := s.repo.Info.OperationBranch()
	if branch == "" || !s.HasBranch(ctx, branch) {
		return ""
	}
	return branch
}

// RecordedBranch returns the name of a branch as stored in records. A name that is not
// valid UTF-8 is quoted.
func RecordedBranch(name string) string {
	if !utf8.ValidString(name) {
		return checkpoint.QuotePath(name)
	}
	return name
}

func (s *Facts) HasBranch(ctx context.Context, name string) bool {
	hash, err := s.repo.ReadRef(ctx, "refs/heads/"+name)
	return err == nil && !hash.IsZero()
}

// tracking returns the remote-tracking branches with the name of a branch.
func (s *Facts) tracking(ctx context.Context, branch string) (found []string, err error) {
	values, err := s.repo.Refs.Values(ctx, "refs/remotes/")
	names := remote.Names(s.repo.Config)
	for ref := range values {
		shown := strings.TrimPrefix(ref, "refs/remotes/")
		of, _, _ := strings.Cut(shown, "/")
		if shown == cmp.Or(remote.TrackedBy(names, ref), of)+"/"+branch {
			found = append(found, shown)
		}
	}
	return found, err
}

// IsLocal reports whether this clone has a branch that no remote is known to have.
func (s *Facts) IsLocal(ctx context.Context, branch string) bool {
	found, err := s.tracking(ctx, branch)
	return err == nil && len(found) == 0 && s.HasBranch(ctx, branch)
}

// HasSaved reports whether this clone saved a checkpoint of an issue on a branch, or on any for "", as the
// reflog of the issue shows. The chain itself cannot prove it: other clones add to it.
func (s *Facts) HasSaved(ctx context.Context, i checkpoint.Issue, branch string) bool {
	entries, err := s.repo.Reflog(ctx, repo.LiveRef(i))
	return err == nil && slices.ContainsFunc(entries, func(e refs.Logged) bool {
		if !isSave(e) || branch == "" {
			return isSave(e)
		}
		c, err := s.repo.ReadCommit(e.New)
		return err == nil && chain.CheckpointOf(c, i).Branch == RecordedBranch(branch)
	})
}

func isSave(e refs.Logged) bool { return strings.HasPrefix(e.Message, "save: ") }

// CameLater reports whether a fetch brought the first checkpoints of an issue after a time, and this
// clone has saved none.
func (s *Facts) CameLater(ctx context.Context, i checkpoint.Issue, at time.Time) bool {
	entries, err := s.repo.Reflog(ctx, repo.LiveRef(i))
	return err == nil && len(entries) > 0 && entries[len(entries)-1].At.After(at) && !slices.ContainsFunc(entries, isSave)
}

// CheckedOut returns the worktree in which a branch is checked out, or "".
func (s *Facts) CheckedOut(ctx context.Context, branch string) string {
	return repository.CheckedOut(ctx, s.repo.Git, branch)
}

// Deleted returns the ids of an issue's dropped checkpoints, sorted.
func (s *Facts) Deleted(ctx context.Context, issue checkpoint.Issue) ([]checkpoint.ID, error) {
	c, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	if err != nil {
		return nil, fmt.Errorf("read dropped checkpoints of issue %s: %w", issue, err)
	}
	return slices.Compact(c.Ledger.IDs(ledger.Deleted)), nil
}

// Ended is Store.Ended of package gitstore. The ledger has reason and time, so the archive itself
// need not be in this clone.
func (s *Facts) Ended(ctx context.Context, issue checkpoint.Issue) (ledger.Archival, error) {
	c, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	if err != nil {
		return ledger.Archival{}, fmt.Errorf("read the archived checkpoints of issue %s: %w", issue, err)
	}
	if c.Newest() != nil {
		return ledger.Archival{}, nil
	}
	return c.Ledger.LastArchival(), nil
}
