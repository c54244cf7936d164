package facts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
)

// OnceHad looks for traces of a branch in the configuration and the reflogs. It also
// returns the new name if the branch was renamed. Renames before since are ignored: they
// concern another branch of the same name. A checkout from an unborn HEAD is no trace: its
// branch, such as that of init.defaultBranch, never existed.
func (s *Facts) OnceHad(ctx context.Context, name string, since time.Time) (once bool, became string) {
	for _, e := range s.repo.Config {
		key, ok := strings.CutPrefix(e.Key, "branch."+name+".")
		once = once || ok && !strings.Contains(key, ".") // not a key of branch <name>.<more>
	}
	entries, err := s.repo.Reflog(ctx, "HEAD")
	if err != nil {
		return once, ""
	}
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Message, "checkout: moving from "); ok {
			from, to, ok := strings.Cut(rest, " to ")
			once = once || ok && (from == name && !e.Old.IsZero() || to == name)
		}
		if to, ok := strings.CutPrefix(e.Message, renamed(name)); ok {
			once = true
			if became == "" && !e.At.Before(since) && s.HasBranch(ctx, to) {
				became = to
			}
		}
	}
	if now := s.renamedTo(ctx, name, since); now != "" {
		became = now
	}
	return once || became != "", became
}

// renamed returns the start of git's reflog message for a rename of a branch.
func renamed(name string) string { return "Branch: renamed refs/heads/" + name + " to refs/heads/" }

// renamedTo returns the branch whose reflog records a rename from this name. A reflog
// moves with its branch at every rename, whereas the reflog of HEAD records only renames
// of the checked-out branch.
func (s *Facts) renamedTo(ctx context.Context, name string, since time.Time) string {
	if s.repo.Info.RefFormat != "files" {
		return "" // each reflog would need a git process
	}
	heads, err := s.repo.Refs.List(ctx, "refs/heads/")
	if err != nil {
		return ""
	}
	for _, ref := range slices.Sorted(maps.Keys(heads)) {
		entries, _ := refs.ReadLog(s.repo.Info.CommonDir, ref)
		for _, e := range entries {
			if strings.HasPrefix(e.Message, renamed(name)) && !e.At.Before(since) {
				return strings.TrimPrefix(ref, "refs/heads/")
			}
		}
	}
	return ""
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

// A BranchLocation is the branch and the worktree in which work on a checkpoint can
// continue.
type BranchLocation struct {
	Branch   string // set if the branch exists and contains the checkpoint's HEAD
	Worktree string // worktree that has Branch checked out, or ""
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
func (s *Facts) Ended(ctx context.Context, issue checkpoint.Issue) (chain.Filed, error) {
	c, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	if err != nil {
		return chain.Filed{}, fmt.Errorf("read the archived checkpoints of issue %s: %w", issue, err)
	}
	if c.Newest() != nil {
		return chain.Filed{}, nil
	}
	return chain.FiledOf(c.Ledger.LastArchival()), nil
}
