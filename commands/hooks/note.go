package hooks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
)

// openSession opens the repository and worktree of a session: those of its record,
// otherwise those of the current directory. If the current directory is in another
// repository than the agent's project, such as a nested one, the project counts.
func openSession(c *invoke.Invocation, in sessionInput) (s sessions.Session, known bool, err error) {
	first, gone := os.Getwd()
	var projects []string // in which agents were started; they run hooks where they have changed to
	for _, variable := range []string{"CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"} {
		if dir := c.Env.Getenv(variable); filepath.IsAbs(dir) {
			projects = append(projects, dir)
		}
	}
	projects = append(projects, in.Projects...)
	openErr := c.OpenOwnFormat()
	if isOtherFormat(openErr) {
		// The program for the other format cannot open a project of this format.
		if i := slices.IndexFunc(projects, func(dir string) bool {
			store, err := gitstore.Open(c.Ctx, gitstore.Options{Dir: dir})
			if err == nil {
				store.Close()
			}
			return err == nil
		}); i >= 0 {
			first = projects[i]
		}
		openErr = c.OpenIn(first)
	}
	if openErr == nil {
		if s, known = sessions.Read(c.Store.Notes, in.SessionID); known {
			return s, true, enter(c, s)
		}
	}
	inProject := openErr == nil && slices.Contains(projects, c.Store.Root())
	project := ""
	places := otherPlaces(c, projects, openErr == nil)
	for _, dir := range places {
		if c.OpenIn(dir) != nil {
			continue
		}
		if s, known = sessions.Read(c.Store.Notes, in.SessionID); known {
			return s, true, enter(c, s)
		}
		if project == "" && !inProject && slices.Contains(projects, dir) {
			project = dir
		}
	}
	if project != "" { // no record, as after an install during the session
		return s, false, c.OpenIn(project)
	}
	if openErr == nil && len(places) > 0 {
		return s, false, c.OpenIn(first)
	}
	if gone != nil {
		return s, false, errors.New("nothing is saved: the current directory was removed")
	}
	return s, false, openErr
}

func isOtherFormat(err error) bool {
	_, ok := errors.AsType[*gitstore.ObjectFormatError](err)
	return ok
}

// otherPlaces returns directories in other repositories that can have the record of a
// session: the agent's project, and the directories above nested repositories.
func otherPlaces(c *invoke.Invocation, projects []string, opened bool) []string {
	var dirs []string
	own, root := "", ""
	if opened {
		own, root = c.Store.Notes.Path(""), c.Store.Root()
	}
	for _, dir := range projects {
		if dir == root {
			continue
		}
		other, err := gitstore.Open(c.Ctx, gitstore.Options{Dir: dir})
		if isOtherFormat(err) { // OpenIn runs the program for that format
			dirs = append(dirs, dir)
		}
		if err == nil {
			if other.Notes.Path("") != own {
				dirs = append(dirs, dir)
			}
			other.Close()
		}
	}
	for root != "" && root != filepath.Dir(root) && len(dirs) < maxPlaces {
		root = filepath.Dir(root)
		if !fsutil.Exists(filepath.Join(root, ".git")) {
			continue // git need not be asked
		}
		outer, err := gitstore.Open(c.Ctx, gitstore.Options{Dir: root})
		if err != nil {
			break
		}
		root = outer.Root()
		outer.Close()
		if root != "" {
			dirs = append(dirs, root)
		}
	}
	return dirs
}

// maxPlaces limits the repositories that are searched for a record.
const maxPlaces = 5

// enter opens the worktree of a session. If it was moved or removed, the open worktree
// counts if it is on the session's branch.
func enter(c *invoke.Invocation, s sessions.Session) error {
	if s.Root == c.Store.Root() {
		return nil
	}
	if _, err := os.Lstat(s.Root); errors.Is(err, fs.ErrNotExist) && c.Store.Root() != "" {
		if branch, err := c.CurrentBranch(); err == nil && branch == s.Branch {
			return nil
		}
	}
	notes := c.Store.Notes.Path("")
	if err := c.OpenIn(s.Root); err != nil || c.Store.Notes.Path("") != notes || c.Store.Root() != s.Root {
		return fmt.Errorf("nothing is saved: the worktree of session %s is gone: %s", s.ID, s.Root)
	}
	return nil
}

// here returns the current issue, branch and worktree as a session. An option, a variable or the
// branch names the issue. If the branch names an issue without checkpoints, the issue of the only
// checkpoint on this branch counts, as in handedIssue.
func here(c *invoke.Invocation) (sessions.Session, error) {
	branch, err := c.CurrentBranch()
	if err != nil {
		return sessions.Session{}, err
	}
	issue, err := c.NamedIssue()
	s := sessions.Session{Issue: issue, Named: string(issue) != branch, Branch: branch, Root: c.Store.Root()}
	if told, ok := handedIssue(c); ok { // until a branch names another
		s.Issue = told
	}
	return s, err
}

// record stores the session with the current issue, branch and worktree.
func record(c *invoke.Invocation, in sessionInput, agent string) {
	now, err := here(c)
	if err != nil {
		return
	}
	before, _ := sessions.Read(c.Store.Notes, in.SessionID)
	if before.Root != now.Root || in.Source == "startup" || in.Source == "clear" { // another reflog of HEAD, or another session
		before.Head = ""
	}
	now.ID, now.Agent, now.Transcript, now.Head = in.SessionID, agent, in.Transcript, cmp.Or(before.Head, c.Store.HeadMark(c.Ctx))
	_ = sessions.Write(c.Store.Notes, now, c.Env.Now()) // a hook works without a record too
}

// sessionIssue returns the issue for the save of a session, or "" and the reason. A
// session whose issue was named keeps it, even if another branch is checked out. A session
// that began on a branch without an issue in its name saves to the current issue, and
// keeps it as soon as it is named: agents create their branch during the session.
func sessionIssue(c *invoke.Invocation, in sessionInput, agent string, s sessions.Session, known bool) (i checkpoint.Issue, why string, err error) {
	now, err := here(c)
	if err != nil && !errors.Is(err, invoke.ErrUnnamed) {
		return "", "", err
	}
	if known && s.Named {
		if now.Branch == s.Branch {
			return s.Issue, "", nil
		}
		return elsewhere(c, s, now)
	}
	if err != nil {
		return "", "HEAD is detached, and GIT_CHECKPOINT_ISSUE is not set", nil
	}
	if now.Named || !known {
		record(c, in, agent)
	}
	return now.Issue, "", nil
}

// elsewhere returns the issue of a session whose worktree is on another branch now. A worktree
// without uncommitted files, and without commits of the session on its branch, has no work of it. Commits
// on a branch of another issue are that issue's.
func elsewhere(c *invoke.Invocation, s, now sessions.Session) (i checkpoint.Issue, why string, err error) {
	changed, err := c.Store.Files.Uncommitted(c.Ctx)
	isOther := now.Named && now.Issue != s.Issue
	if err != nil || len(changed) == 0 && (isOther || len(c.Store.CommitsSince(c.Ctx, s.Head, true)) == 0) {
		return "", "", err
	}
	head := "detached"
	if now.Branch != "" {
		head = "on branch " + now.Branch
	}
	notify(c, "%s: saved to issue %s, where the session began; HEAD is %s", c.Line.Args[0], s.Issue, head)
	return s.Issue, "", nil
}

// handedIssue returns the issue whose checkpoint a hook hands to an agent. If the issue
// would be named after the branch and has no checkpoints, it returns the only issue whose
// newest checkpoint is on this branch.
func handedIssue(c *invoke.Invocation) (checkpoint.Issue, bool) {
	i, err := c.NamedIssue()
	if err == nil && c.Store.HasIssue(c.Ctx, i) {
		return i, true
	}
	branch, branchErr := c.CurrentBranch()
	if err != nil || branchErr != nil || string(i) != branch {
		return "", false
	}
	found, err := issuesOfBranch(c, 2)
	if err != nil || len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// issuesOfBranch returns the issues whose newest checkpoint is on the current branch, at most
// limit, or all if limit is 0.
func issuesOfBranch(c *invoke.Invocation, limit int) ([]checkpoint.Issue, error) {
	branch, err := c.CurrentBranch()
	if err != nil {
		return nil, err
	}
	var found []checkpoint.Issue
	err = c.Store.EachIssue(c.Ctx, func(i checkpoint.Issue) bool {
		if cp, err := c.Store.Newest(c.Ctx, i); err == nil && cp.Branch == gitstore.RecordedBranch(branch) {
			found = append(found, i)
		}
		return limit == 0 || len(found) < limit
	})
	return found, err
}
