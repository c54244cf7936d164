package freshness

import (
	"cmp"
	"strings"

	"git-checkpoint/gitstore/failure"
)

func checkBranch(in input) {
	name, b := in.record.Branch(), in.facts.Branch
	if name == "" {
		return // saved on a detached HEAD, so no branch can be deleted
	}
	switch b.State {
	case BranchExists:
	case BranchGone:
		if b.Merged != "" {
			in.add("branch", StartFresh, "Branch no longer exists: all of it is in %s", failure.Printable(b.Merged)).Hint = command("git", "checkpoint", "finish", cmp.Or(in.facts.Name, string(in.record.Issue())))
			return
		}
		in.offer(in.add("branch", StartFresh, "Branch no longer exists"), "branch: "+failure.Printable(name))
	case BranchRemote:
		in.offer(in.add("branch", ProceedWithWarning, "Branch %s is not in this clone, but at a remote", failure.Printable(name)))
	case BranchUnseen:
		in.offer(in.add("branch", ProceedWithWarning, "Branch %s was never seen in this clone", failure.Printable(name)))
	case BranchRenamed:
		in.add("branch", ProceedWithWarning, "Branch %s was renamed to %s", failure.Printable(name), failure.Printable(b.Name)).Hint = command("git", "switch", b.Name)
	case BranchOther:
		in.lead(in.add("branch", PromptUser, "The checkpoint is of branch %s, and HEAD is on %s", failure.Printable(name), failure.Printable(b.Name)))
	case BranchReplaced:
		in.add("branch", Resume, "Branch %s is used instead of %s", failure.Printable(b.Name), failure.Printable(name))
	default:
		in.unchecked("branch", "Branch "+failure.Printable(name), b.Why)
	}
}

// offer adds a hint that recreates the branch from a remote-tracking branch. If no remote
// has the branch, the hint uses the checkpoint, which keeps its commits reachable.
func (in input) offer(r *Reason, detail ...string) {
	name, b := in.record.Branch(), in.facts.Branch
	r.Detail = append(r.Detail, detail...)
	r.Hint = in.switchTo(name)
	if b.Remote != "" {
		r.Detail = append(r.Detail, "on a remote: "+failure.Printable(b.Remote))
		r.Hint = command("git", "switch", "-c", name, "--track", b.Remote)
	} else if b.At != "" {
		r.Detail = append(r.Detail, "at remote "+failure.Printable(b.At))
		r.Hint = command("git", "fetch", b.At, name+":"+name)
	}
}

// switchTo returns a command that creates a branch at the checkpoint's HEAD commit. It
// returns "" if the checkpoint's commit is unknown.
func (in input) switchTo(name string) string {
	if in.facts.Commit == "" {
		return ""
	}
	return command("git", "switch", "-c", name, short(in.facts.Commit)+"^2^")
}

// lead adds a hint that changes from the current branch to the checkpoint's branch.
func (in input) lead(r *Reason) {
	name, b := in.record.Branch(), in.facts.Branch
	switch {
	case b.Place != "":
		r.Detail = append(r.Detail, "branch "+failure.Printable(name)+" is checked out in "+failure.Printable(b.Place))
		r.Hint = command("cd", b.Place)
	case b.Exists:
		r.Hint = command("git", "switch", name)
	case b.Became != "":
		r.Detail = append(r.Detail, "branch "+failure.Printable(name)+" was renamed to "+failure.Printable(b.Became))
		r.Hint = command("git", "switch", b.Became)
	default:
		in.offer(r, "branch "+failure.Printable(name)+" is not in this clone")
		r.Hint = command("git", "checkpoint", "resume", cmp.Or(in.facts.Name, string(in.record.Issue())), "--branch", name)
	}
}

func checkHead(in input) {
	h := in.facts.Head
	switch h.State {
	case HeadSame:
	case HeadMovedOn:
		r := in.add("head", Resume, "HEAD moved on from %s to %s", commit(h.Saved), commit(h.Now))
		if h.Ahead > 0 {
			r.Detail = []string{failure.Plural(h.Ahead, "commit") + " since the checkpoint"}
		}
	case HeadDiverged:
		in.add("head", Resume, "HEAD has diverged from %s to %s: the files are merged on top", commit(h.Saved), commit(h.Now)).Detail = []string{
			"in common: " + commit(h.Base) + ", " + failure.Plural(h.Ahead, "commit") + " of HEAD's since, " + failure.Plural(h.Gone, "commit") + " of the checkpoint's",
		}
	case HeadUnknown:
		in.add("head", PromptUser, "HEAD %s is not the checkpoint's %s, and cannot be compared: %s", commit(h.Now), commit(h.Saved), failure.Printable(h.Why)).Hint = "git fetch --unshallow"
	case HeadApart:
		r := in.add("head", PromptUser, "HEAD %s does not descend from the checkpoint's %s", commit(h.Now), commit(h.Saved))
		r.Detail = apart(h)
		if !in.facts.Branch.IsElsewhere() { // the hint about the branch covers HEAD
			r.Hint = in.goHome(h)
		}
	default:
		in.unchecked("head", "HEAD", h.Why)
	}
}

// apart describes how HEAD relates to a checkpoint commit that HEAD does not contain.
func apart(h Head) []string {
	var out []string
	if h.Worktree != "" {
		out = append(out, "branch "+failure.Printable(h.Home)+" is checked out in "+failure.Printable(h.Worktree))
	}
	switch {
	case h.Saved == "" || h.Now == "":
		return out
	case h.Base == "":
		return append(out, "no commit in common")
	case h.Base == h.Now:
		return append(out, "HEAD went back: "+failure.Plural(h.Gone, "commit")+" of the checkpoint's not in it")
	}
	return out
}

// goHome returns a command that switches to the checkpoint's branch if that branch descends from the
// checkpoint's HEAD, or that moves a branch that is behind. Otherwise the command creates a branch.
func (in input) goHome(h Head) string {
	switch {
	case h.Worktree != "":
		return command("cd", h.Worktree)
	case h.Home != "":
		return command("git", "switch", h.Home)
	case h.Base != "" && in.facts.Commit != "":
		return command("git", "merge", "--ff-only", short(in.facts.Commit)+"^2^")
	}
	// The branch itself exists, usually with other commits.
	return in.switchTo(strings.TrimPrefix(in.record.Branch()+"-checkpoint", "-"))
}

func checkBase(in input) {
	if b := in.facts.Base; b.Name != "" && b.Behind > 0 {
		in.add("base", Resume, "%s has %s that HEAD does not", failure.Printable(b.Name), failure.Plural(b.Behind, "commit"))
	}
}

func checkFiles(in input) {
	f, action := in.facts.Files, PromptUser
	if in.rules.FilesAnswered {
		action = ProceedWithWarning
	}
	switch {
	case f.Damaged != "":
		in.add("files", PromptUser, "The files cannot be restored: %s", failure.Printable(f.Damaged))
	case !f.Checked && len(in.record.Files()) > 0:
		in.unchecked("files", "Files", f.Why)
	case len(f.Changed) > 0:
		in.add("files", action, "%s changed since checkpoint: %s", failure.Plural(len(f.Changed), "file"), some(f.Changed)).Detail = each(f.Changed)
	}
}

// some joins the first three elements for a message; Detail has all.
func some(l []string) string {
	const few = 3
	if len(l) > few {
		return join(l[:few]) + ", ..."
	}
	return join(l)
}

func each(l []string) []string {
	out := make([]string, len(l))
	for k := range l {
		out[k] = failure.Printable(l[k])
	}
	return out
}

func checkOutputs(in input) {
	o := in.facts.Outputs
	if !o.Checked && len(in.record.Outputs()) > 0 {
		in.unchecked("outputs", "Outputs", o.Why)
		return
	}
	for _, path := range o.Missing {
		in.add("outputs", PromptUser, "Output %s is missing", failure.Printable(path)).Corrupt = true
	}
	for _, path := range o.Changed {
		in.add("outputs", ProceedWithWarning, "Output %s changed since checkpoint", failure.Printable(path))
	}
}
