package invoke

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
)

// The issue of a command is chosen here. The first source that names an issue counts:
//
//  1. the command line: an argument or --issue
//  2. the document or the plan of the command (IssueOr)
//  3. GIT_CHECKPOINT_ISSUE; if run has set it, in the worktree of run only
//  4. the branch, if it is that of a fork, or if a rule finds an issue in its name
//  5. the workflow that was started last in this worktree on this branch, until it is over
//  6. the name of the branch itself
//  7. if the command only reads: the only issue with checkpoints
//
// The branch is that of HEAD, of a rebase or a bisection in progress, or of the CI job. If
// the issue of a renamed branch has no checkpoints, the branch keeps the issue of its former
// name.

// ErrUnnamed reports that no option, variable or branch names the issue.
var ErrUnnamed = errors.New("no issue given, and HEAD is detached")

// A choice is an issue that is not an argument of the command.
type choice struct {
	issue  checkpoint.Issue
	from   string // description of the source, "" for --issue
	ofName bool   // the key is the name of the branch
}

// NamedIssue returns the issue of --issue, GIT_CHECKPOINT_ISSUE or the branch. It fails with
// ErrUnnamed if HEAD is detached and neither git nor a CI job names a branch.
func (c *Invocation) NamedIssue() (checkpoint.Issue, error) {
	n, err := c.choose()
	return n.issue, err
}

// IssueOr is Issue for a command with a document or a plan. key is the issue that it names,
// or "". from describes it, and hint is the command for an invalid key.
func (c *Invocation) IssueOr(key, from, hint string) (checkpoint.Issue, error) {
	if key == "" || len(c.Line.Args) > 0 || c.Line.Common.Issue != "" {
		return c.Issue()
	}
	i, err := checkpoint.ParseIssue(key)
	if err != nil {
		return "", failure.Errorf(failure.Usage, hint, "%s: the issue %s: %w", c.Line.Name, from, err)
	}
	c.Subject.Issue = i
	c.announce(choice{issue: i, from: from})
	c.warnOtherIssue(i, "")
	return i, nil
}

// InferIssue returns the issue if no argument names it. If the command only reads, and
// nothing names an issue with checkpoints, it returns the only issue that has some.
func (c *Invocation) InferIssue() (checkpoint.Issue, error) {
	n, err := c.choose()
	c.Subject.Inferred, c.Subject.NamedAfterBranch = c.Line.Common.Issue == "", n.ofName
	if n.from == fromVariable && err == nil {
		c.warnOtherIssue(n.issue, n.from)
	}
	switch {
	case errors.Is(err, ErrUnnamed) && !c.reads():
		return "", failure.Errorf(failure.Usage, c.withIssue(), "%s: no issue given, and HEAD is detached: name the issue, or set GIT_CHECKPOINT_ISSUE", c.Line.Name)
	case err != nil && !errors.Is(err, ErrUnnamed):
		return "", err
	case !c.reads():
		c.announce(n)
		if c.Line.Common.Issue != "" {
			c.warnOtherIssue(n.issue, "")
		}
		return n.issue, nil
	case err == nil && (!n.ofName || c.keepsCheckpoints(n.issue)):
		if !strings.HasPrefix(n.from, fromBranch) && !strings.HasPrefix(n.from, fromVariable) {
			c.announce(n)
		}
		return n.issue, nil
	}
	return c.onlyIssue(n.issue)
}

// onlyIssue returns the only issue with checkpoints, for a command that reads. If there is
// none, it returns named, the issue after the branch.
func (c *Invocation) onlyIssue(named checkpoint.Issue) (checkpoint.Issue, error) {
	last, err := c.Store.LastSaved(c.Ctx, 50) // enough for an overview
	switch {
	case err != nil:
		return "", err
	case len(last.Tips) == 1:
		c.announce(choice{issue: last.Tips[0].Issue, from: "the only one with checkpoints"})
		return last.Tips[0].Issue, nil
	case len(last.Tips) > 1:
		return "", &SeveralIssuesError{last}
	case named == "":
		return "", failure.Errorf(failure.Usage, "git checkpoint save ISSUE", "no issue given, HEAD is detached, and there are no checkpoints yet")
	}
	return named, nil
}

// The beginnings of choice.from for sources that the user has in sight.
const (
	fromBranch   = "from branch "
	fromVariable = "from GIT_CHECKPOINT_ISSUE"
)

// issueAt is a variable with the issue that this program has set in GIT_CHECKPOINT_ISSUE for a
// command, a space, and the git directory of the worktree in which the issue counts.
const issueAt = "GIT_CHECKPOINT_ISSUE_AT"

// IssueVariables returns the variables that name an issue to a command in a worktree. The command
// can go into other worktrees and repositories, which have issues of their own.
func IssueVariables(i checkpoint.Issue, gitDir string) []string {
	return []string{"GIT_CHECKPOINT_ISSUE=" + string(i), issueAt + "=" + string(i) + " " + gitDir}
}

// VariableIssue returns the issue of GIT_CHECKPOINT_ISSUE, or "" if this program has set it for
// another worktree. from describes the source.
func (c *Invocation) VariableIssue() (issue, from string) {
	issue = c.Env.Getenv("GIT_CHECKPOINT_ISSUE")
	dir, isBound := strings.CutPrefix(c.Env.Getenv(issueAt), issue+" ")
	if !isBound {
		return issue, fromVariable
	}
	there, err := os.Stat(dir)
	here, hereErr := os.Stat(c.Store.GitDir())
	if err != nil || hereErr != nil || !os.SameFile(there, here) {
		return "", ""
	}
	return issue, fromVariable + " of this run"
}

// choose returns the issue without the arguments and the documents of the command.
func (c *Invocation) choose() (n choice, err error) {
	if c.Line.Common.Issue != "" {
		n.issue, err = ParseIssue(c.Line.Common.Issue)
		return n, err
	}
	if s, from := c.VariableIssue(); s != "" {
		n.issue, err = ParseIssue(s)
		n.from = from
		return n, err
	}
	branch, err := c.CurrentBranch()
	if err != nil {
		return n, err
	}
	err = ErrUnnamed
	if branch != "" {
		if n, err = c.ofBranch(branch); err == nil && !n.ofName {
			return n, nil
		}
	}
	if started := c.startedHere(branch); started != "" && started != n.issue {
		return choice{issue: started, from: "whose workflow was started in this worktree"}, nil
	}
	if n.ofName && !c.Store.HasIssue(c.Ctx, n.issue) {
		renamed, known := c.Subject.renamed[branch]
		if !known { // once for a command
			renamed = c.findRenamed(branch)
			c.Subject.renamed = map[string]checkpoint.Issue{branch: renamed}
		}
		if renamed != "" {
			return choice{issue: renamed, from: "whose branch is now " + branch}, nil
		}
	}
	return n, err
}

// CurrentBranch returns the branch of HEAD. If HEAD is detached, it returns the branch that
// DetachedBranch returns.
func (c *Invocation) CurrentBranch() (string, error) {
	branch, err := c.Store.Branch(c.Ctx)
	if branch == "" && err == nil {
		branch = c.DetachedBranch()
	}
	return branch, err
}

// DetachedBranch returns the branch to which a detached HEAD belongs: that of a rebase or a
// bisection in progress, or of the CI job, or "".
func (c *Invocation) DetachedBranch() string {
	return cmp.Or(c.Store.Facts.OperationBranch(c.Ctx), c.CIBranch())
}

// BranchIssue returns the issue of a branch. A renamed branch keeps the issue of its former
// name, unless its own issue has checkpoints.
func (c *Invocation) BranchIssue(branch string) (checkpoint.Issue, error) {
	n, err := c.ofBranch(branch)
	return n.issue, err
}

// FormerIssues returns the issues of the former names of a branch, the last name first.
func (c *Invocation) FormerIssues(branch string) (issues []checkpoint.Issue) {
	for _, former := range c.Store.Facts.FormerNames(c.Ctx, branch) {
		if n, err := c.ofBranchName(former.Name); err == nil {
			issues = append(issues, n.issue)
		}
	}
	return issues
}

// ofBranch asks what this clone knows of itself before what it knows of other clones: checkpoints
// that a fetch brings never change the issue of a branch that has its own.
func (c *Invocation) ofBranch(branch string) (choice, error) {
	n, err := c.ofBranchName(branch)
	if fork := c.forkOfBranch(branch); fork != "" && (err != nil || c.followsFork(fork, n.issue, branch)) {
		return choice{issue: fork, from: fromBranch + branch}, nil
	}
	has := err == nil && c.Store.HasIssue(c.Ctx, n.issue)
	for _, former := range c.Store.Facts.FormerNames(c.Ctx, branch) {
		if has && !c.Store.Facts.CameLater(c.Ctx, n.issue, former.Until) {
			break
		}
		before, err := c.ofBranchName(former.Name)
		if err == nil && c.goesOn(before.issue, former) {
			before.from = fmt.Sprintf("of branch %s, which was renamed to %s", former.Name, branch)
			return before, nil
		}
	}
	return n, err
}

// followsFork reports whether a branch goes on with a fork, or with the issue that has its whole name, and
// not with the issue in its name: this clone has saved to the fork on this branch, or to neither, and made or fetched the branch with the fork.
func (c *Invocation) followsFork(fork, named checkpoint.Issue, branch string) bool {
	f := c.Store.Facts
	return f.HasSaved(c.Ctx, fork, branch) || !f.HasSaved(c.Ctx, named, branch) && (c.Store.HasRestored(c.Ctx, fork) || !f.IsLocal(c.Ctx, branch))
}

// forkOfBranch returns the fork whose worktree has a branch, or "". The branch is that of the
// source, a dash and the name of the fork, and the newest checkpoint of the fork is of the branch.
func (c *Invocation) forkOfBranch(branch string) checkpoint.Issue {
	for k := range branch {
		if branch[k] != '-' {
			continue
		}
		source, err := c.ofBranchName(branch[:k])
		name := branch[k+1:]
		if err != nil || !checkpoint.IsForkName(name) {
			continue
		}
		if fork := source.issue.ForkOf(name); c.isOfBranch(fork, branch) {
			return fork
		}
		if names := strings.ReplaceAll(name, "-", "+"); names != name { // a fork of a fork
			if fork := source.issue.ForkOf(names); c.isOfBranch(fork, branch) {
				return fork
			}
		}
	}
	return ""
}

// isOfBranch reports whether the newest checkpoint of an issue is of a branch.
func (c *Invocation) isOfBranch(i checkpoint.Issue, branch string) bool {
	if !c.Store.HasIssue(c.Ctx, i) {
		return false
	}
	newest, err := c.Store.Newest(c.Ctx, i)
	return err == nil && newest.Branch == gitstore.RecordedBranch(branch)
}

// ofBranchName returns the issue in the name of a branch, otherwise the name itself. The name itself also
// counts if this clone saves the branch under it, and no setting has the rule.
func (c *Invocation) ofBranchName(branch string) (choice, error) {
	n := choice{from: fromBranch + branch}
	pattern, own := c.Settings.Pattern("issue_pattern"), checkpoint.Issue(branch)
	i, ok := checkpoint.IssueFromBranch(branch, pattern, c.isProject)
	if ok && (pattern != nil || i == own || !c.isOfBranch(own, branch) || !c.followsFork(own, i, branch)) {
		n.issue = i
		return n, nil
	}
	n.ofName = true
	var err error
	if n.issue, err = checkpoint.ParseIssue(branch); err != nil {
		return n, failure.Errorf(failure.Usage, "export GIT_CHECKPOINT_ISSUE=ISSUE", "%s: the branch name is not a valid issue key: %w", c.Line.Name, err)
	}
	return n, nil
}

// isProject reports whether an issue that was saved here belongs to a project of a tracker, such as PROJ.
func (c *Invocation) isProject(word string) (found bool) {
	_ = c.Store.EachIssue(c.Ctx, func(i checkpoint.Issue) bool {
		number, isOfProject := strings.CutPrefix(string(i), word+"-")
		found = isOfProject && strings.Trim(number, "0123456789") == "" && c.Store.Facts.HasSaved(c.Ctx, i, "")
		return !found
	})
	return found
}

// goesOn reports whether the checkpoints of an issue belong to a renamed branch. They do not
// if another branch of this clone has the former name now, and has saved the newest of them.
func (c *Invocation) goesOn(i checkpoint.Issue, former gitstore.FormerName) bool {
	if !c.Store.HasIssue(c.Ctx, i) {
		return false
	}
	newest, err := c.Store.Newest(c.Ctx, i)
	if err != nil {
		return !notFound(err) // the command reports the damage
	}
	if newest.Branch != gitstore.RecordedBranch(former.Name) || !newest.Saved.After(former.Until) || !c.Store.Facts.SavedHere(c.Ctx, newest) {
		return true
	}
	again, err := c.Store.Facts.FindBranch(c.Ctx, former.Name, time.Time{})
	return err == nil && !again.Exists
}

// findRenamed returns the issue of a branch that was renamed in another clone, or "". The issue has
// the former name of the branch, and its newest checkpoint the current name. A branch that no remote
// has was not renamed there.
func (c *Invocation) findRenamed(branch string) checkpoint.Issue {
	if c.Store.Facts.IsLocal(c.Ctx, branch) {
		return ""
	}
	var found []checkpoint.Issue
	err := c.Store.EachIssue(c.Ctx, func(i checkpoint.Issue) bool {
		if c.wasRenamedTo(branch, i) {
			found = append(found, i)
		}
		return len(found) < 2
	})
	if err != nil || len(found) != 1 {
		return ""
	}
	return found[0]
}

// wasRenamedTo reports whether the branch of an issue that is named after its branch has another
// name now.
func (c *Invocation) wasRenamedTo(branch string, i checkpoint.Issue) bool {
	if former, err := c.ofBranchName(string(i)); err != nil || !former.ofName {
		return false // no issue has the name of a branch from which its key is derived
	}
	newest, err := c.Store.Newest(c.Ctx, i)
	if err != nil || newest.Branch != gitstore.RecordedBranch(branch) {
		return false
	}
	l, err := c.Store.List(c.Ctx, i, 0)
	hasFormer := func(cp gitstore.Checkpoint) bool { return cp.Branch == string(i) }
	if err != nil || !slices.ContainsFunc(l.Checkpoints, hasFormer) {
		return false
	}
	b, err := c.Store.Facts.FindBranch(c.Ctx, string(i), time.Time{})
	return err == nil && !b.Exists
}

// A startedWorkflow is the note about the last start of a workflow in this worktree.
type startedWorkflow struct {
	Issue  checkpoint.Issue `json:"issue"`
	Branch string           `json:"branch"` // "" for a detached HEAD
}

const startedNote = "started"

// NoteStart records that a workflow was started in this worktree.
func (c *Invocation) NoteStart(issue checkpoint.Issue) error {
	branch, err := c.CurrentBranch()
	if err != nil {
		return err
	}
	data, err := json.Marshal(startedWorkflow{issue, branch})
	if err != nil {
		return err
	}
	return c.Store.Notes.WriteHere(startedNote, data)
}

// startedHere returns the issue of the workflow that was started last in this worktree, or "" if it
// is over or was started on another branch.
func (c *Invocation) startedHere(branch string) checkpoint.Issue {
	var s startedWorkflow
	isFormer := func(n gitstore.FormerName) bool { return n.Name == s.Branch }
	if json.Unmarshal(c.Store.Notes.ReadHere(startedNote), &s) != nil ||
		branch != s.Branch && !slices.ContainsFunc(c.Store.Facts.FormerNames(c.Ctx, branch), isFormer) {
		return ""
	}
	if _, err := checkpoint.ParseIssue(string(s.Issue)); err != nil {
		return ""
	}
	if _, r, err := c.Store.PointRecord(c.Ctx, s.Issue); notFound(err) || err == nil && progress.Over(r) {
		return ""
	}
	return s.Issue
}

// warnOtherIssue warns if a command saves to another issue than the one that the branch
// names. An issue that the caller's variable names, which may be left over, causes a warning in
// every command.
func (c *Invocation) warnOtherIssue(i checkpoint.Issue, from string) {
	saves := c.Line.Command != nil && c.Line.Command.Saves && !c.reads()
	if !saves && from == "" {
		return
	}
	branch, err := c.CurrentBranch()
	if err != nil || branch == "" {
		return
	}
	if named, err := c.ofBranchName(branch); err != nil || named.ofName || string(i) == branch {
		return
	}
	n, err := c.ofBranch(branch)
	source, _ := i.ForkSource()
	switch {
	case err != nil || strings.EqualFold(string(n.issue), string(i)) || from != "" && source == n.issue:
	case c.Store.HasIssue(c.Ctx, i) || !saves:
		c.Warnf("issue %s: the branch names issue %s", strings.TrimSuffix(string(i)+", "+from, ", "), n.issue)
	case c.Line.Name != "finish": // finish begins no issue
		c.Warnf("issue %s is a new issue: the branch names issue %s", i, n.issue)
		c.Infof("hint: git checkpoint drop %s --everything", view.IssueArg(i))
	}
}

// keepsCheckpoints reports whether the issue has checkpoints, live or archived. The ref of
// a chain whose checkpoints were all dropped still exists. A damaged chain counts too.
func (c *Invocation) keepsCheckpoints(issue checkpoint.Issue) bool {
	if !c.Store.HasIssue(c.Ctx, issue) {
		return false
	}
	l, err := c.Store.List(c.Ctx, issue, 1)
	if err != nil || len(l.Checkpoints) > 0 {
		return true
	}
	archived, err := c.Store.Archived(c.Ctx, issue, 1)
	return err != nil || len(archived.Checkpoints) > 0
}

// A SeveralIssuesError reports that a command that reads needs an issue: several issues
// have checkpoints, and the branch belongs to none of them.
type SeveralIssuesError struct{ Last gitstore.LastSaved }

func (e *SeveralIssuesError) Error() string {
	const few = 5
	if n := len(e.Last.Tips) + e.Last.Others; n > few {
		return fmt.Sprintf("%d issues have checkpoints: name one with --issue", n)
	}
	issues := issuesOf(e.Last.Tips)
	slices.SortFunc(issues, checkpoint.CompareIssues)
	return fmt.Sprintf("several issues have checkpoints (%s): name one with --issue", view.List(view.Strings(issues)))
}

func (e *SeveralIssuesError) Exit() (code int, hint string) {
	return failure.Usage, "git checkpoint list"
}

// reads reports whether the command only reads checkpoints.
func (c *Invocation) reads() bool {
	d := c.Line.Command
	return d != nil && (d.ReadsOnly || len(c.Line.Args) > 0 && slices.Contains(d.ReadingVerbs, c.Line.Args[0]))
}

// changes reports whether the command changes checkpoints or files.
func (c *Invocation) changes() bool {
	d := c.Line.Command
	return d != nil && (d.ChangesFiles || !c.reads()) && !c.Line.Flags.Bool("dry-run")
}

// withIssue returns a command line with the issue as an argument, for a hint.
func (c *Invocation) withIssue() string {
	if c.Line.Command == nil || !strings.HasPrefix(c.Line.Command.Args, "[ISSUE]") {
		return "export GIT_CHECKPOINT_ISSUE=ISSUE"
	}
	args, _, _ := strings.Cut(strings.Replace(c.Line.Command.Args, "[ISSUE]", "ISSUE", 1), " [")
	args, _, _ = strings.Cut(args, " |")
	return "git checkpoint " + c.Line.Name + " " + strings.TrimSuffix(args, "...")
}

// announce prints the issue before the next output, if the command line does not name it.
// An error that names the issue is printed without this line.
func (c *Invocation) announce(n choice) {
	if n.from != "" && !c.Out.Quiet && c.Subject.announcement == "" {
		c.Subject.announcement = fmt.Sprintf("issue %s, %s", n.issue, n.from)
	}
}
