package facts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Worktree is a worktree for the branch of a checkpoint.
type Worktree struct {
	Dir     string
	Created bool // FindOrAddWorktree has created it

	made *operation.Place // branch that FindOrAddWorktree created, with its commit, or nil
}

// FindOrAddWorktree returns the worktree at dir if it has the checkpoint's branch checked out. If
// the git that made it was killed, FindOrAddWorktree completes the files of HEAD first. It fails with
// a *RefusedError if another worktree has the branch, or if dir has other files. Otherwise it creates
// a worktree at dir. If the branch does not exist, FindOrAddWorktree creates it from the
// remote-tracking branch with the same name, or at the checkpoint's HEAD.
func (s *Facts) FindOrAddWorktree(ctx context.Context, c *chain.Checkpoint, dir string) (Worktree, error) {
	if admin := s.findHalfMade(dir); admin != "" {
		done, err := s.complete(ctx, c, dir, admin)
		switch {
		case err != nil:
			return Worktree{}, fmt.Errorf("worktree %s: %w", dir, err)
		case done:
			return Worktree{Dir: dir}, nil
		}
	}
	if c.Branch != "" {
		if at := repository.CheckedOut(ctx, s.repo.Git, c.Branch); at != "" {
			if fsutil.IsSame(at, dir) {
				return Worktree{Dir: at}, nil
			}
			return Worktree{}, checkedOutIn(at, c.Branch)
		}
	}
	if there, err := os.ReadDir(dir); err == nil && len(there) > 0 { // possibly of a killed git worktree add
		return Worktree{}, &repo.RefusedError{
			Reason: fmt.Sprintf("worktree %s: the directory exists and is not empty", dir),
			Hint:   "git checkpoint resume " + failure.IssueArg(string(c.Issue)) + " --worktree " + failure.QuoteStrict(dir+"-2"),
		}
	}
	args, upstream, err := s.worktreeArgs(ctx, c, dir)
	if err != nil {
		return Worktree{}, fmt.Errorf("worktree %s: %w", dir, err)
	}
	g := s.repo.Git
	g.Replacements = true
	_, err = g.Output(ctx, append([]string{"worktree", "add", "--quiet"}, args...)...)
	err = s.despiteHook(err, func() bool { return fsutil.Exists(filepath.Join(dir, ".git")) && s.findHalfMade(dir) == "" })
	if err != nil {
		return Worktree{}, fmt.Errorf("worktree %s: %w", dir, err)
	}
	p := Worktree{Dir: dir, Created: true}
	if slices.Contains(args, "-b") {
		if err := s.setUpstream(ctx, c.Branch, upstream); err != nil {
			return Worktree{}, err
		}
		tip, err := s.repo.ReadRef(ctx, "refs/heads/"+c.Branch)
		if err != nil {
			return Worktree{}, err
		}
		p.made = &operation.Place{Branch: c.Branch, Commit: tip.String()}
	}
	return p, nil
}

// despiteHook returns nil if git failed and has still done its work: the exit status of a
// post-checkout hook becomes that of git. The message of the hook becomes a warning.
func (s *Facts) despiteHook(err error, isDone func() bool) error {
	failed, ok := errors.AsType[*git.CommandError](err)
	if !ok || failed.Code <= 0 || !isDone() {
		return err
	}
	s.repo.Notify("the post-checkout hook failed: %s", cmp.Or(git.WithoutCredentials(failed.Stderr), "no message"))
	return nil
}

// RemoveWorktree removes a worktree and branch that FindOrAddWorktree created. If the worktree
// has changed since, git refuses and both stay.
func (s *Facts) RemoveWorktree(ctx context.Context, p Worktree) error {
	g := s.repo.Git
	g.Replacements = true
	g.Dir = s.repo.Info.CommonDir // the working directory must not be inside of the removed worktree
	if _, err := g.Output(ctx, "worktree", "remove", "--", p.Dir); err != nil {
		return err
	}
	return s.DeleteMade(ctx, p.made)
}

// checkedOutIn returns the error about a branch that the worktree in a directory has. Git also
// lists a worktree that was moved or removed without git.
func checkedOutIn(dir, branch string) error {
	switch _, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return &repo.RefusedError{
			Reason: fmt.Sprintf("worktree %s: it has branch %s, and is not there", dir, branch),
			Hint:   "git worktree prune",
		}
	case err != nil:
		return err
	}
	return &repo.RefusedError{
		Reason: fmt.Sprintf("branch %s is checked out in %s", branch, dir),
		Hint:   "cd " + failure.QuoteStrict(dir),
	}
}

// worktreeArgs returns the arguments of `git worktree add`, and the upstream of a new branch.
func (s *Facts) worktreeArgs(ctx context.Context, c *chain.Checkpoint, dir string) (args []string, upstream string, err error) {
	if c.Branch == "" {
		st, err := s.snapshot.OpenSnapshot(c)
		if err != nil {
			return nil, "", err
		}
		return []string{"--detach", "--", dir, st.Head.String()}, "", nil
	}
	start, upstream, err := s.startOf(ctx, c, c.Branch)
	if err != nil || start == "" {
		return []string{"--", dir, c.Branch}, "", err
	}
	return []string{"--no-track", "-b", c.Branch, "--", dir, start}, upstream, nil
}

// startOf returns the commit at which a branch is created, and its upstream: nothing if the branch
// exists, otherwise those of the remote-tracking branch with the same name, or the checkpoint's HEAD.
// If HEAD has all commits of the remote-tracking branch, the branch starts at HEAD.
// It fails for a name that git would not read as a branch.
func (s *Facts) startOf(ctx context.Context, c *chain.Checkpoint, branch string) (start, upstream string, err error) {
	if strings.HasPrefix(branch, "-") || strings.Contains(branch, "@{") {
		return "", "", repo.Corrupt(string(c.ID), "branch %q", branch)
	}
	if s.HasBranch(ctx, branch) {
		return "", "", nil
	}
	b, err := s.FindBranch(ctx, branch, time.Time{})
	if err != nil {
		return "", "", err
	}
	st, err := s.snapshot.OpenSnapshot(c)
	if len(b.Remote) > 0 {
		upstream = slices.Min(b.Remote)
		remotes, _ := s.chain.Remotes(ctx, c.Issue)
		for _, name := range slices.Backward(remotes) { // that of pushes comes first
			if name += "/" + branch; slices.Contains(b.Remote, name) {
				upstream = name
			}
		}
		start = "refs/remotes/" + upstream
		if err == nil && !st.Head.IsZero() {
			if has, _ := s.History().Contains(ctx, st.Head.String(), start); has {
				start = st.Head.String()
			}
		}
		return start, upstream, nil
	}
	if err == nil && st.Head.IsZero() {
		err = &repo.RefusedError{Reason: "the checkpoint was saved before the first commit"}
	}
	if err != nil {
		return "", "", err
	}
	return st.Head.String(), "", nil
}

// setUpstream sets the upstream of a new branch, unless it is "". In a clone of one branch, git knows
// no remote-tracking branch of others: then the settings of git push --set-upstream are enough.
func (s *Facts) setUpstream(ctx context.Context, branch, upstream string) error {
	if upstream == "" {
		return nil
	}
	_, err := s.repo.Git.Output(ctx, "branch", "--quiet", "--set-upstream-to="+upstream, "--", branch)
	if err == nil {
		return nil
	}
	_, err = s.repo.Git.Output(ctx, "config", "branch."+branch+".remote", strings.TrimSuffix(upstream, "/"+branch))
	if err == nil {
		_, err = s.repo.Git.Output(ctx, "config", "branch."+branch+".merge", "refs/heads/"+branch)
	}
	return err
}

// EnterWorktree is the function of package gitstore.
func EnterWorktree(dir string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX"} {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}

// A Switch is a switch of this worktree to another branch.
type Switch struct {
	From *operation.Place // HEAD before the switch, nil for the zero Switch
	Made *operation.Place // the branch that the switch created with its commit, nil if the branch existed
	to   string
}

// DeleteMade deletes a branch that a switch created, if it has no commit since and no worktree has it
// checked out. made can be nil.
func (s *Facts) DeleteMade(ctx context.Context, made *operation.Place) error {
	if made == nil || s.CheckedOut(ctx, made.Branch) != "" {
		return nil
	}
	at, err := s.repo.ReadRef(ctx, "refs/heads/"+made.Branch)
	if err == nil && at.String() == made.Commit {
		g := s.repo.Git
		g.Dir = s.repo.Info.CommonDir // the working directory may be removed
		_, err = g.Output(ctx, "branch", "-q", "-D", "--", made.Branch)
	}
	return err
}

// SwitchBranch switches this worktree to a branch with git switch, so uncommitted changes
// stay, and git refuses to overwrite them. If the branch of the checkpoint does not exist,
// SwitchBranch creates it from the remote-tracking branch with the same name, or at the
// checkpoint's HEAD. If another worktree has the branch checked out, it fails with a
// RefusedError.
func (s *Facts) SwitchBranch(ctx context.Context, c *chain.Checkpoint, name string) (Switch, error) {
	if at := s.CheckedOut(ctx, name); at != "" {
		return Switch{}, checkedOutIn(at, name)
	}
	start, upstream, err := s.startOf(ctx, c, name)
	if err != nil {
		return Switch{}, fmt.Errorf("switch to branch %s: %w", name, err)
	}
	args := []string{"--no-guess", name}
	if start != "" {
		args = []string{"--no-track", "--create", name, start}
	}
	before, err := s.repo.ReadHead(ctx)
	if err != nil {
		return Switch{}, err
	}
	done := Switch{to: name, From: &operation.Place{Branch: before.Branch, Commit: before.Commit.String()}}
	if err := s.gitSwitch(ctx, name, args...); err != nil {
		return Switch{}, err
	}
	if now, err := s.repo.ReadHead(ctx); err == nil && start != "" && !now.Commit.IsZero() {
		done.Made = &operation.Place{Branch: name, Commit: now.Commit.String()}
	}
	return done, s.setUpstream(ctx, name, upstream)
}

// SwitchBack is Worktrees.SwitchBack of package gitstore.
func (s *Facts) SwitchBack(ctx context.Context, done Switch) (string, error) {
	now, err := s.repo.ReadHead(ctx)
	if err != nil || done.From == nil || now.Branch != done.to || plumbing.NewHash(done.From.Commit).IsZero() {
		return "", err
	}
	if err := s.SwitchTo(ctx, *done.From); err != nil {
		return "", err
	}
	return cmp.Or(done.From.Branch, done.From.Commit), s.DeleteMade(ctx, done.Made)
}

// SwitchTo switches this worktree to a former state of HEAD. If the branch is gone, SwitchTo creates it.
func (s *Facts) SwitchTo(ctx context.Context, to operation.Place) error {
	args := []string{"--detach", to.Commit}
	switch {
	case to.Branch != "" && s.HasBranch(ctx, to.Branch):
		args = []string{"--no-guess", to.Branch}
	case to.Branch != "":
		args = []string{"--create", to.Branch, to.Commit}
	}
	return s.gitSwitch(ctx, to.Branch, args...)
}

// gitSwitch runs git switch. name is the branch after it, or "" for a detached HEAD. A post-checkout
// hook that fails is a warning.
func (s *Facts) gitSwitch(ctx context.Context, name string, args ...string) error {
	g := s.repo.Git
	g.Dir, g.Replacements = s.repo.Info.Root, true
	_, err := g.Output(ctx, append([]string{"switch", "--quiet"}, args...)...)
	err = s.despiteHook(err, func() bool {
		now, err := s.repo.ReadHead(ctx)
		return err == nil && now.Branch == name
	})
	var failed *git.CommandError
	if errors.As(err, &failed) && failed.Code > 0 {
		return &repo.RefusedError{Reason: failed.Error(), Hint: "git status"}
	}
	return err
}
