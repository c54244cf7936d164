package work

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/freshness/issue"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout/dotagent"
)

// JudgeOptions are the flags that a verdict depends on.
type JudgeOptions struct {
	By            string   // name of the command that would resume, by resume.compat
	Branch        string   // branch on which work would resume, or "" for the branch of the checkpoint
	Approve       []string // phases that the command approves
	FilesAnswered bool     // changed files need no answer
	LeavesFiles   bool     // no file is restored
	Auto          bool     // nobody can be asked
	Strict        bool     // warnings are failures
	IssueFollows  bool     // the issue takes the labels of the checkpoint
	Issue         IssueOptions
	Look          *gitstore.Look // shared by the plans of one command, or nil
}

// verdict collects the facts about a checkpoint and returns its verdict, and the answer of the
// issue's source. stories are those of a lead's joined record r.
func verdict(
	c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record, stories []story.Standing, o JudgeOptions,
) (freshness.Verdict, IssueAnswer, error) {
	l := tasks.Of(r)
	if _, err := l.Batches(); err != nil {
		return freshness.Verdict{}, IssueAnswer{}, TaskFailure(cp.Issue, "", fmt.Errorf("checkpoint %s: %w", cp.ID, err))
	}
	facts := freshness.Facts{Now: c.Env.Now(), Commit: cp.Commit.String()[:12], Name: string(cp.Issue)}
	source, err := CurrentIssue(c, cp.Issue, o.Issue)
	if err != nil {
		return freshness.Verdict{}, source, err
	}
	facts.Issue, facts.NoIssue = source.Issue, source.Why
	if facts.Issue == nil && facts.NoIssue == "" && r.IssueSnapshot().Known {
		facts.NoIssue = "issue_source is none"
	}
	facts.NoSource = facts.Issue == nil && IssueAbsent(c, facts.NoIssue)
	facts.Branch = branchFact(c, cp, o)
	facts.Head = headFact(c, cp, r)
	if b, err := c.Store.Facts.Base(c.Ctx); err == nil {
		facts.Base = freshness.Base{Name: b.Name, Behind: b.Behind}
	}
	facts.Files = filesFact(c, cp, o)
	facts.Outputs = outputsFact(c, cp, r)
	facts.Plan = planFact(c, cp, r)
	facts.Tasks = TaskOutputs(c, l)
	facts.Next = nextFact(c, r)
	facts.Resumes = c.Store.Resumed(cp).Times
	facts.Approved = slices.Clone(o.Approve)
	for _, a := range c.Store.Resumed(cp).Approved {
		facts.Approved = append(facts.Approved, a.Phase)
	}
	facts.By = o.By
	facts.Stories = stories
	facts.Findings = findings(c, cp, r)
	return freshness.Evaluate(r, facts, VerdictRules(c, o)), source, nil
}

// findings returns the findings that are no fact of their own.
func findings(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record) (all []freshness.Reason) {
	// A session lacks the conversation of another session.
	if now := c.Env.Getenv("GIT_CHECKPOINT_SESSION"); now != "" && r.Session() != "" && now != r.Session() {
		all = append(all, freshness.Reason{Check: "session", Message: fmt.Sprintf("Saved in session %s, the current session is %s", r.Session(), now)})
	}
	if cp.Unclear { // this clone does not know which content the id means
		all = append(all, freshness.Reason{
			Check: "record", Action: freshness.PromptUser,
			Message: "Another checkpoint has this id, with another content: check that " + cp.Commit.String()[:12] + " is the one you want",
		})
	}
	if found := c.Store.Mismatches(cp, r); len(found) > 0 { // its parts contradict each other
		all = append(all, freshness.Reason{
			Check: "record", Action: freshness.PromptUser, Detail: found, Hint: "git checkpoint verify " + view.IssueArg(cp.Issue),
			Message: "The history of the checkpoint was rewritten: " + found[0],
		})
	}
	return all
}

// VerdictRules returns the settings and flags that the verdict depends on.
func VerdictRules(c *invoke.Invocation, o JudgeOptions) freshness.Rules {
	return freshness.Rules{
		LabelsToPhase: c.Settings.Map("labels_to_phase"), Phases: c.Settings.Strings("phases"),
		FilesAnswered: o.FilesAnswered, IssueFollows: o.IssueFollows, Strict: o.Strict, Auto: o.Auto, Handovers: handovers(c),
		MaxTokens: int64(c.Settings.Int("limits.tokens")),
	}
}

func headFact(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record) freshness.Head {
	h, err := c.Store.Facts.CompareHead(c.Ctx, cp)
	if err != nil {
		why := err.Error()
		if c.Store.Facts.Partial() {
			why = "this clone does not have the whole history"
		}
		if saved := cmp.Or(h.Saved, checkpoint.HashOf(r.Snapshot().Head)); c.Store.Shallow() && saved != h.Now {
			return freshness.Head{State: freshness.HeadUnknown, Saved: saved, Now: h.Now, Why: why}
		}
		return freshness.Head{Why: why}
	}
	f := freshness.Head{
		State: freshness.HeadApart, Saved: h.Saved, Now: h.Now, Ahead: h.Ahead,
		Base: h.Base, Gone: h.Gone, Home: h.Home, Worktree: h.HomeWorktree,
	}
	switch {
	case h.Saved == h.Now:
		f.State = freshness.HeadSame
	case h.Contains:
		f.State = freshness.HeadMovedOn
	case h.HasDiverged():
		f.State = freshness.HeadDiverged
	}
	return f
}

// noWorktree is the reason for unknown files in a bare repository or a git directory.
const noWorktree = "there is no worktree here"

func filesFact(c *invoke.Invocation, cp *gitstore.Checkpoint, o JudgeOptions) freshness.Files {
	if c.Store.Root() == "" {
		return freshness.Files{Why: noWorktree}
	}
	plan, err := c.Store.Restorer.Plan(c.Ctx, cp, o.Look)
	if err != nil && failure.Classify(err).Code == failure.Invalid && !o.LeavesFiles {
		return freshness.Files{Damaged: err.Error()}
	}
	if err != nil {
		return freshness.Files{Why: err.Error()}
	}
	// The issue's own file is compared as the issue, not as work.
	ofIssue := func(path string) bool {
		return issue.IsFile(path, string(cp.Issue), c.Settings.String("issue_file"))
	}
	changed, inTheWay := slices.DeleteFunc(plan.Skipped, ofIssue), slices.DeleteFunc(plan.InTheWay, ofIssue)
	return freshness.Files{
		Checked: true, Changed: append(changed, inTheWay...), InTheWay: inTheWay, Restores: plan.Restored, Unsaved: slices.DeleteFunc(plan.NotSaved(), ofIssue),
	}
}

// NotSaved returns the number of files that changed since a checkpoint and that it does not have, as
// the verdict has it.
func NotSaved(c *invoke.Invocation, cp *gitstore.Checkpoint) (int, error) {
	f := filesFact(c, cp, JudgeOptions{})
	if !f.Checked {
		return 0, errors.New(cmp.Or(f.Damaged, f.Why))
	}
	return len(f.Changed) + len(f.Unsaved), nil
}

func outputsFact(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record) freshness.Outputs {
	if len(r.Outputs()) == 0 {
		return freshness.Outputs{Checked: true}
	}
	if c.Store.Root() == "" {
		return freshness.Outputs{Why: noWorktree}
	}
	found, err := c.Store.Files.Outputs(c.Ctx, cp, r)
	if err != nil {
		return freshness.Outputs{Why: err.Error()}
	}
	return freshness.Outputs{Checked: true, Missing: found.Missing, Changed: found.Changed}
}

func planFact(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record) freshness.Plan {
	place, was := r.PlanPath(), r.PlanDigest()
	switch {
	case place == "" || was == "":
		return freshness.Plan{}
	case c.Store.Root() == "":
		return freshness.Plan{Why: noWorktree}
	}
	changed, err := c.Store.Files.PlanChanged(c.Ctx, cp, place, was)
	if err != nil {
		return freshness.Plan{Why: err.Error()}
	}
	return freshness.Plan{Changed: changed}
}

// nextFact returns the next step of a workflow from another system, derived from the
// files in the worktree.
func nextFact(c *invoke.Invocation, r *checkpoint.Record) freshness.Next {
	if c.Store.Root() == "" {
		return freshness.Next{}
	}
	root, err := os.OpenRoot(c.Store.Root())
	if err != nil {
		return freshness.Next{}
	}
	defer root.Close()
	n, _ := dotagent.NextOf(r, func(pattern string) (whole, broken int) {
		places, _ := fs.Glob(root.FS(), pattern)
		for _, place := range places {
			if f := TaskOutput(c, place); f.Broken {
				broken++
			} else if f.Exists {
				whole++
			}
		}
		return whole, broken
	})
	return freshness.Next(n)
}

func handovers(c *invoke.Invocation) (all []freshness.Handover) {
	for _, text := range c.Settings.Strings("resume.compat") {
		h, ok := freshness.ParseHandover(text)
		if !ok {
			c.Warnf("resume.compat: %q: want FROM TO [SCOPE...]", text)
			continue
		}
		all = append(all, h)
	}
	return all
}

// branchFact compares the current branch with the checkpoint's. The branch of the options
// may replace the checkpoint's.
func branchFact(c *invoke.Invocation, cp *gitstore.Checkpoint, o JudgeOptions) freshness.Branch {
	if cp.Branch == "" {
		return freshness.Branch{State: freshness.BranchUnchecked}
	}
	now, err := c.CurrentBranch()
	if err != nil {
		return freshness.Branch{Why: err.Error()}
	}
	now = gitstore.RecordedBranch(now)
	if o.Branch != "" && o.Branch != cp.Branch && (now == "" || now == o.Branch) {
		return freshness.Branch{State: freshness.BranchReplaced, Name: o.Branch}
	}
	b, err := c.Store.Facts.FindBranch(c.Ctx, cp.Branch, cp.Saved)
	if err != nil {
		return freshness.Branch{Why: err.Error()}
	}
	f := missingBranch(c, cp, b, o)
	switch {
	case f.State == freshness.BranchGone:
		return f
	case now != "" && now != cp.Branch && now != b.Name:
		other := freshness.Branch{State: freshness.BranchOther, Name: now, Remote: f.Remote, At: f.At, Became: f.Name}
		if f.State == freshness.BranchExists {
			other.Exists = true
			place := c.Store.Facts.CheckedOut(c.Ctx, cp.Branch)
			if info, err := os.Stat(place); err == nil && info.IsDir() { // it may have been removed without git
				other.Place = place
			}
		}
		return other
	}
	return f
}

// missingBranch returns the fact about the branch of the checkpoint, whatever HEAD is.
func missingBranch(c *invoke.Invocation, cp *gitstore.Checkpoint, b gitstore.BranchReport, o JudgeOptions) freshness.Branch {
	switch {
	case b.Exists:
		return freshness.Branch{State: freshness.BranchExists}
	case b.Name != "":
		return freshness.Branch{State: freshness.BranchRenamed, Name: b.Name}
	}
	f := freshness.Branch{State: freshness.BranchUnseen}
	if len(b.Remote) > 0 {
		f.Remote = b.Remote[0]
	}
	if !b.Once && !c.Store.Facts.SavedHere(c.Ctx, cp) {
		return f
	}
	if f.Remote == "" {
		f.At = atRemote(c, cp.Branch, o)
	}
	f.State = freshness.BranchRemote
	if f.Remote == "" && f.At == "" {
		f.State, f.Merged = freshness.BranchGone, c.Store.Facts.MergedInto(c.Ctx, cp)
	}
	return f
}

// maxAskRemote limits the time for a question to the remote.
const maxAskRemote = 10 * time.Second

// atRemote returns the remote that has a branch without a remote-tracking branch here, or
// "". A remote that does not answer in time counts as one without the branch, since the
// traces in this clone show that the branch was deleted.
func atRemote(c *invoke.Invocation, branch string, o JudgeOptions) string {
	if o.Issue.Offline || o.Issue.Recent {
		return ""
	}
	limit := c.RemoteTimeout()
	if limit == 0 || limit > maxAskRemote {
		limit = maxAskRemote
	}
	remotes, _ := c.FetchRemotes("")
	for _, remote := range remotes {
		if has, err := c.Store.RemoteHasBranch(c.Ctx, remote, branch, limit); err == nil && has {
			return remote
		}
	}
	return ""
}
