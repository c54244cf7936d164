package resume

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// The files of a checkpoint belong to its branch. If HEAD is on another branch, a person
// chooses: switch to the branch of the checkpoint, resume on the current branch, or abort.
// --branch is the answer on the command line. --yes is no answer, because it would put
// staged work into a branch that nobody named. Only if this clone does not have the branch, and
// the worktree has no changes, --yes switches to it.

// otherBranch returns the branch fact if HEAD is on another branch than the checkpoint's
// and nobody has answered yet, otherwise nil.
func (r *resumption) otherBranch() *freshness.Branch {
	if b := &r.Verdict.Other; b.State == freshness.BranchOther {
		return b
	}
	return nil
}

// goToBranch switches to the branch of --branch. A CI job stays on its commit.
func goToBranch(c *invoke.Invocation, r *resumption) error {
	o := r.options
	name := o.judge.Branch
	if name == "" || o.ci {
		return checkBranch(c, r, name)
	}
	now, err := c.CurrentBranch()
	if err != nil || gitstore.RecordedBranch(now) == name {
		return err
	}
	if err := checkBranch(c, r, name); err != nil {
		return err
	}
	if o.dryRun {
		return failure.Usagef("resume: --branch switches to %s, and --dry-run changes nothing", name)
	}
	if !r.Record.CanResume() && !o.force {
		return nil // no branch changes this verdict
	}
	return switchBranch(c, r, name)
}

// checkBranch returns an error if the branch of --branch neither exists nor can be
// created from a remote-tracking branch or from the checkpoint.
func checkBranch(c *invoke.Invocation, r *resumption, name string) error {
	if name == "" || name == r.Checkpoint.Branch {
		return nil
	}
	fetchBranch(c, r.options, name)
	b, err := c.Store.Facts.FindBranch(c.Ctx, name, time.Time{})
	if err == nil && !b.Exists && len(b.Remote) == 0 {
		return failure.Usagef("resume: --branch: there is no branch %s", name)
	}
	return err
}

// fetchBranch fetches a branch that is missing here, since the remote may have more commits of it than
// the checkpoint. Without an answer, what this clone knows counts.
func fetchBranch(c *invoke.Invocation, o *resumeOptions, name string) {
	if name == "" || c.Store.Facts.HasBranch(c.Ctx, name) || o.judge.Issue.Offline {
		return
	}
	remotes, _ := c.FetchRemotes("")
	for _, remote := range remotes {
		t := c.TickRemote("resume: fetch from " + gitstore.ShownRemote(remote))
		err := c.Store.FetchBranch(c.Ctx, gitstore.FetchRequest{Remote: remote, Timeout: c.RemoteTimeout(), Quiet: !terminal.Has()}, name)
		if t.End(); err != nil {
			c.Warnf("branch %s is as this clone knows it: %v", name, err)
		}
	}
}

func switchBranch(c *invoke.Invocation, r *resumption, name string) error {
	fetchBranch(c, r.options, name)
	var err error
	if r.switched, err = work.SwitchBranch(c.Ctx, c.Store, r.Checkpoint, name); err != nil {
		return err
	}
	c.Infof("switched to branch %s", name)
	c.Close()
	return c.Open()
}

// switchBack returns to the previous branch if the resume failed before it changed a file.
func switchBack(c *invoke.Invocation, r *resumption) {
	if r.switched == (gitstore.Switch{}) || r.resumed || r.chosen != "" || r.restored != nil && r.restored.Undo != "" {
		return
	}
	to, err := work.SwitchBack(context.WithoutCancel(c.Ctx), c.Store, r.switched)
	if to != "" {
		c.Infof("switched back to %s", to)
	}
	if err != nil {
		c.Warnf("HEAD stays: %v", err)
	}
}

// branchChoices maps the answers about another branch. An empty line aborts.
var branchChoices = map[string]string{
	"s": "s", "switch": "s", "h": "h", "here": "h", "a": "a", "abort": "a", "q": "a", "quit": "a", "": "a",
}

// askBranch asks on which branch work resumes, and computes the verdict for the answer. The first
// resume in a clone without the branch asks this question alone.
func askBranch(c *invoke.Invocation, d *invoke.Dialog, r *resumption) error {
	b := r.otherBranch()
	if b == nil {
		return nil
	}
	head, answers := "", branchChoices
	question := fmt.Sprintf("The checkpoint is of branch %s, and HEAD is on %s.\n", r.Checkpoint.Branch, b.Name)
	switch {
	case r.isContact():
		head = promptHead(&r.Standing, true)
		question = fmt.Sprintf("Branch: %s, which this clone does not have\n\nSwitch to it from %s, restore the files and continue there? [Y/n] ", r.Home(), b.Name)
		answers = map[string]string{"y": "s", "yes": "s", "": "s", "n": "a", "no": "a"}
	case b.Place == "":
		question += fmt.Sprintf("(s)witch to %s, resume (h)ere, or (a)bort? [a] ", r.Home())
	default:
		question += r.Placed() + ".\nResume (h)ere or (a)bort? [a] "
		answers = map[string]string{"h": "h", "here": "h", "a": "a", "abort": "a", "q": "a", "quit": "a", "": "a"}
	}
	answer, err := d.Ask(head+view.CleanBlock(question), answers)
	switch {
	case err != nil:
		return failure.Errorf(failure.NeedsAnswer, branchHints(r), "resume %s: %w", r.Checkpoint.ID, err)
	case answer == "s":
		return goHome(c, r)
	case answer == "h":
		r.options.judge.Branch = b.Name
	default:
		c.Infof("hint: %s", there(r))
		return failure.Silent{Code: failure.None}
	}
	r.source, err = work.Rejudge(c, &r.Standing, r.judgeAgain())
	return err
}

// goHome switches to the branch of the checkpoint and computes the verdict there.
func goHome(c *invoke.Invocation, r *resumption) error {
	r.options.judge.Branch = r.Home()
	if err := switchBranch(c, r, r.Home()); err != nil {
		return err
	}
	var err error
	r.source, err = work.Rejudge(c, &r.Standing, r.judgeAgain())
	return err
}

// judgeAgain returns the options for another verdict, which does not ask the source of the
// issue again.
func (r *resumption) judgeAgain() work.JudgeOptions {
	o := r.options.judge
	o.Issue.Known = &r.source
	return o
}

// branchHints returns the commands that answer the question about the branch, one a line:
// resume on the branch of the checkpoint, and resume here. For a branch that this clone does not
// have it returns the first alone.
func branchHints(r *resumption) string {
	if r.lacksBranch() {
		return there(r)
	}
	return there(r) + "\n" + here(r)
}

// there returns the command that resumes on the branch of the checkpoint.
func there(r *resumption) string {
	if place := r.Verdict.Other.Place; place != "" {
		return "cd " + view.QuoteArg(place)
	}
	return r.command("--branch " + view.QuoteArg(r.Home()) + r.moreAnswers("head", "files", "outputs"))
}

// here returns the command that resumes on the current branch. If HEAD does not have the
// commit of the checkpoint, only --force does.
func here(r *resumption) string {
	for _, reason := range r.Verdict.Reasons {
		if reason.Check == "head" && reason.Action == freshness.PromptUser && !r.options.leavesFiles() {
			return r.command("--force")
		}
	}
	return r.command("--branch " + view.QuoteArg(r.Verdict.Other.Name) + r.moreAnswers())
}

// moreAnswers returns the flags that answer the questions beside the branch, except those
// that depend on the branch.
func (r *resumption) moreAnswers(except ...string) string {
	asked := r.options.choice == "r" || len(r.Verdict.Awaiting) > 0
	for _, reason := range r.Verdict.Reasons {
		asked = asked || reason.Action == freshness.PromptUser && reason.Check != "branch" && !slices.Contains(except, reason.Check)
	}
	if !asked {
		return ""
	}
	return " --yes" + r.approvalFlags()
}

// moveToWorktree changes to the worktree at the path of --worktree. If it does not exist, it is
// created for the checkpoint's branch. No worktree is created for a checkpoint
// that cannot be resumed at all, because the verdict is the same here.
func moveToWorktree(c *invoke.Invocation, o *resumeOptions) (place gitstore.Worktree, err error) {
	dir, err := worktreeDir(c, o)
	if err != nil || dir == "" {
		return place, err
	}
	r := &resumption{options: o, Standing: view.Standing{Now: c.Env.Now()}}
	if err := toGoOnFrom(c, r); err != nil || !r.Record.CanResume() && !o.force {
		return place, err
	}
	cp := r.Checkpoint
	fetchBranch(c, o, cp.Branch)
	if place, err = c.Store.Facts.FindOrAddWorktree(c.Ctx, cp, dir); err != nil {
		return place, err
	}
	c.Infof("%s worktree %s", map[bool]string{true: "made", false: "in"}[place.Created], view.Shell(place.Dir))
	c.Close()
	if err := gitstore.EnterWorktree(place.Dir); err != nil {
		return place, err
	}
	c.Line.Args = []string{string(cp.Issue)}
	if id := string(cp.ID); !o.fallback && id != "" && !r.Point.WentBack() {
		c.Line.Args = append(c.Line.Args, id)
	}
	return place, c.Open()
}

// worktreeDir returns the absolute path of --worktree, or "". It makes the paths of files
// absolute too, before the working directory changes.
func worktreeDir(c *invoke.Invocation, o *resumeOptions) (string, error) {
	switch {
	case o.worktree == "":
		return "", nil
	case o.dryRun:
		return "", failure.Usagef("resume: --worktree makes a worktree, and --dry-run makes nothing")
	case c.Env.Getenv("GIT_INDEX_FILE") != "":
		return "", failure.Usagef("resume: --worktree: GIT_INDEX_FILE is set, and git would write the new worktree's index there")
	}
	for _, file := range []*string{&o.judge.Issue.File, &o.template} {
		if *file == "" || *file == "-" {
			continue
		}
		var err error
		if *file, err = filepath.Abs(*file); err != nil {
			return "", err
		}
	}
	return filepath.Abs(o.worktree)
}
