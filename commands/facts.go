package commands

import (
	"fmt"
	"io/fs"
	"os"
	"slices"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/layout"
)

// judge collects the facts about a checkpoint and returns its verdict.
func (c *Invocation) judge(cp *gitstore.Checkpoint, r *checkpoint.Record) (freshness.Verdict, error) {
	v, _, err := c.judgeWithIssue(cp, r)
	return v, err
}

// judgeWithIssue is like judge, and also returns the current issue of the source, or
// nil if it is not known.
func (c *Invocation) judgeWithIssue(cp *gitstore.Checkpoint, r *checkpoint.Record) (freshness.Verdict, *freshness.SourceIssue, error) {
	l := tasks.Of(r)
	if _, err := l.Batches(); err != nil {
		return freshness.Verdict{}, nil, taskFailure(cp.Issue, "", fmt.Errorf("checkpoint %s: %w", cp.ID, err))
	}
	facts := freshness.Facts{Now: c.env.Now(), Commit: cp.Commit.String()[:12], Name: string(cp.Issue)}
	var err error
	if facts.Issue, facts.NoIssue, err = c.currentIssue(cp.Issue); err != nil {
		return freshness.Verdict{}, nil, err
	}
	if facts.Issue == nil && facts.NoIssue == "" && r.IssueSnapshot().Known {
		facts.NoIssue = "issue_source is none"
	}
	facts.Branch = c.branchFact(cp)
	facts.Head = c.headFact(cp)
	facts.Base = c.baseFact()
	facts.Files = c.filesFact(cp)
	facts.Outputs = c.outputsFact(cp, r)
	facts.Plan = c.planFact(cp, r)
	facts.Tasks = c.taskOutputs(l)
	facts.Next = c.nextFact(r)
	facts.Fuller = c.fuller(cp)
	facts.Resumes = c.store.Resumed(cp).Times
	facts.Approved = c.approved(cp)
	facts.By = c.flags.String("by")
	facts.Findings = c.sessionNote(r)
	return freshness.Evaluate(r, facts, c.rules()), facts.Issue, nil
}

// fuller returns the id of the next older checkpoint on the branch that lacks no file, if
// this checkpoint lacks files.
func (c *Invocation) fuller(cp *gitstore.Checkpoint) string {
	const depth = 50
	if !cp.LeftOut {
		return ""
	}
	l, err := c.store.List(c.ctx, cp.Issue, depth)
	if err != nil {
		return ""
	}
	older := false
	for _, other := range l.Checkpoints {
		if older && other.Valid() && other.Branch == cp.Branch && !other.LeftOut {
			return string(other.ID)
		}
		older = older || other.ID == cp.ID
	}
	return ""
}

// rules returns the settings and flags that the verdict depends on.
func (c *Invocation) rules() freshness.Rules {
	changed := c.flags.String("changed") != "" || c.auto()
	return freshness.Rules{
		LabelsToPhase: c.settings.Map("labels_to_phase"), Phases: c.settings.Strings("phases"),
		FilesAnswered: changed, Strict: c.flags.Bool("strict"), Auto: c.auto(), Handovers: c.handovers(),
	}
}

// handovers returns the handovers of the setting resume.compat.
func (c *Invocation) handovers() (all []freshness.Handover) {
	for _, text := range c.settings.Strings("resume.compat") {
		h, ok := freshness.ParseHandover(text)
		if !ok {
			c.warnf("resume.compat: %q: want FROM TO [SCOPE...]", text)
			continue
		}
		all = append(all, h)
	}
	return all
}

// auto reports whether the command must not ask questions.
func (c *Invocation) auto() bool { return c.flags.Bool("auto") || c.flags.Bool("ci") }

func (c *Invocation) branchFact(cp *gitstore.Checkpoint) freshness.Branch {
	if cp.Branch == "" {
		return freshness.Branch{State: freshness.BranchUnchecked}
	}
	now, err := c.currentBranch()
	if err != nil {
		return freshness.Branch{Why: err.Error()}
	}
	now = gitstore.RecordedBranch(now)
	if other := c.flags.String("branch"); other != "" && other != cp.Branch && (now == "" || now == other) {
		return freshness.Branch{State: freshness.BranchReplaced, Name: other}
	}
	b, err := c.store.FindBranch(c.ctx, cp.Branch, cp.Created)
	if err != nil {
		return freshness.Branch{Why: err.Error()}
	}
	if gone := !b.Exists && (b.Once || c.store.SavedHere(c.ctx, cp)); now != "" && now != cp.Branch && now != b.Name && (!gone || b.Name != "") {
		return c.otherBranch(cp, b, now)
	}
	if b.Exists {
		return freshness.Branch{State: freshness.BranchExists}
	}
	if b.Name != "" {
		return freshness.Branch{State: freshness.BranchRenamed, Name: b.Name}
	}
	f := freshness.Branch{State: freshness.BranchUnseen}
	if len(b.Remote) > 0 {
		f.Remote = b.Remote[0]
	}
	if b.Once || c.store.SavedHere(c.ctx, cp) {
		f.State = freshness.BranchGone
	}
	return f
}

// otherBranch returns the branch fact if HEAD is on another branch than the checkpoint.
func (c *Invocation) otherBranch(cp *gitstore.Checkpoint, b gitstore.BranchReport, now string) freshness.Branch {
	f := freshness.Branch{State: freshness.BranchOther, Name: now, Exists: b.Exists, Became: b.Name}
	if b.Exists {
		f.Place = c.store.CheckedOut(c.ctx, cp.Branch)
	} else if len(b.Remote) > 0 {
		f.Remote = b.Remote[0]
	}
	return f
}

func (c *Invocation) headFact(cp *gitstore.Checkpoint) freshness.Head {
	h, err := c.store.CompareHead(c.ctx, cp)
	if err != nil {
		why := err.Error()
		if c.store.Partial() {
			why = "this clone does not have the whole history"
		}
		return freshness.Head{Why: why}
	}
	f := freshness.Head{
		State: freshness.HeadRebased, Saved: h.Saved, Now: h.Now, Ahead: h.Ahead,
		Base: h.Base, Gone: h.Gone, Alike: h.Alike, Home: h.Home.Branch, Worktree: h.Home.Worktree,
	}
	switch {
	case h.Saved == h.Now:
		f.State = freshness.HeadSame
	case h.Contains:
		f.State = freshness.HeadMovedOn
	}
	return f
}

func (c *Invocation) filesFact(cp *gitstore.Checkpoint) freshness.Files {
	if c.store.Root() == "" {
		return freshness.Files{Why: "a bare repository has no worktree"}
	}
	changed, inTheWay, err := c.store.ChangedSince(c.ctx, cp)
	if err != nil {
		return freshness.Files{Why: err.Error()}
	}
	return freshness.Files{Checked: true, Changed: append(changed, inTheWay...), InTheWay: inTheWay}
}

func (c *Invocation) outputsFact(cp *gitstore.Checkpoint, r *checkpoint.Record) freshness.Outputs {
	if len(r.Outputs()) == 0 {
		return freshness.Outputs{Checked: true}
	}
	if c.store.Root() == "" {
		return freshness.Outputs{Why: "a bare repository has no worktree"}
	}
	found, err := c.store.Outputs(c.ctx, cp, r)
	if err != nil {
		return freshness.Outputs{Why: err.Error()}
	}
	return freshness.Outputs{Checked: true, Missing: found.Missing, Changed: found.Changed}
}

// baseFact compares HEAD with the merge target branch. The fact is optional: after an
// error it is empty.
func (c *Invocation) baseFact() freshness.Base {
	b, err := c.store.Base(c.ctx)
	if err != nil {
		return freshness.Base{}
	}
	return freshness.Base{Name: b.Name, Behind: b.Behind}
}

// planFact compares the plan file with its digest at the save.
func (c *Invocation) planFact(cp *gitstore.Checkpoint, r *checkpoint.Record) freshness.Plan {
	place, was := r.PlanPath(), r.PlanDigest()
	switch {
	case place == "" || was == "":
		return freshness.Plan{}
	case c.store.Root() == "":
		return freshness.Plan{Why: "a bare repository has no worktree"}
	}
	changed, err := c.store.PlanChanged(c.ctx, cp, place, was)
	if err != nil {
		return freshness.Plan{Why: err.Error()}
	}
	return freshness.Plan{Changed: changed}
}

// nextFact returns the next step of a workflow from another system, derived from the
// files in the worktree.
func (c *Invocation) nextFact(r *checkpoint.Record) freshness.Next {
	if c.store.Root() == "" {
		return freshness.Next{}
	}
	root, err := os.OpenRoot(c.store.Root())
	if err != nil {
		return freshness.Next{}
	}
	defer root.Close()
	n, _ := layout.NextOf(r, func(pattern string) (whole, broken int) {
		places, _ := fs.Glob(root.FS(), pattern)
		for _, place := range places {
			if f := c.taskOutput(place); f.Broken {
				broken++
			} else if f.Exists {
				whole++
			}
		}
		return whole, broken
	})
	return freshness.Next(n)
}

// sessionNote returns a note if both this session and the checkpoint's session have names
// that differ: this session lacks the other session's conversation.
func (c *Invocation) sessionNote(r *checkpoint.Record) []freshness.Reason {
	now := c.env.Getenv("GIT_CHECKPOINT_SESSION")
	if now == "" || r.Session() == "" || now == r.Session() {
		return nil
	}
	return []freshness.Reason{{Check: "session", Message: fmt.Sprintf("Saved in session %s, this is %s", r.Session(), now)}}
}

// approved returns the phases that this command approves, or that an earlier resume of
// the checkpoint in this worktree approved.
func (c *Invocation) approved(cp *gitstore.Checkpoint) []string {
	phases := slices.Clone(c.lists["approve"])
	for _, a := range c.store.Resumed(cp).Approved {
		phases = append(phases, a.Phase)
	}
	return phases
}
