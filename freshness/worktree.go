package freshness

import (
	"cmp"
)

func checkBranch(in input) []Reason {
	name, b := in.record.Branch(), in.facts.Branch
	if name == "" {
		return nil // saved on a detached HEAD, so no branch can be deleted
	}
	switch b.State {
	case BranchExists:
		return nil
	case BranchGone:
		return []Reason{in.offer(reason("branch", StartFresh, "Branch no longer exists"), "branch: "+printable(name))}
	case BranchRemote:
		return []Reason{in.offer(reason("branch", ProceedWithWarning, "Branch %s is not in this clone, but at a remote", printable(name)))}
	case BranchUnseen:
		return []Reason{in.offer(reason("branch", ProceedWithWarning, "Branch %s was never seen in this clone", printable(name)))}
	case BranchRenamed:
		r := reason("branch", ProceedWithWarning, "Branch %s was renamed to %s", printable(name), printable(b.Name))
		r.Hint = command("git", "switch", b.Name)
		return []Reason{r}
	case BranchOther:
		return []Reason{in.lead(reason("branch", PromptUser, "The checkpoint is of branch %s, and HEAD is on %s", printable(name), printable(b.Name)))}
	case BranchReplaced:
		return []Reason{reason("branch", Resume, "Branch %s is used instead of %s", printable(b.Name), printable(name))}
	}
	return []Reason{unchecked("branch", "Branch "+printable(name), b.Why)}
}

// offer adds a hint that recreates the branch from a remote-tracking branch. If no remote
// has the branch, the hint uses the checkpoint, which keeps its commits reachable.
func (in input) offer(r Reason, detail ...string) Reason {
	name, b := in.record.Branch(), in.facts.Branch
	r.Detail = append(r.Detail, detail...)
	r.Hint = in.switchTo(name)
	if b.Remote != "" {
		r.Detail = append(r.Detail, "on a remote: "+printable(b.Remote))
		r.Hint = command("git", "switch", "-c", name, "--track", b.Remote)
	} else if b.At != "" {
		r.Detail = append(r.Detail, "at remote "+printable(b.At))
		r.Hint = command("git", "fetch", b.At, name+":"+name)
	}
	return r
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
func (in input) lead(r Reason) Reason {
	name, b := in.record.Branch(), in.facts.Branch
	switch {
	case b.Place != "":
		r.Detail = append(r.Detail, "branch "+printable(name)+" is checked out in "+printable(b.Place))
		r.Hint = command("cd", b.Place)
	case b.Exists:
		r.Hint = command("git", "switch", name)
	case b.Became != "":
		r.Detail = append(r.Detail, "branch "+printable(name)+" was renamed to "+printable(b.Became))
		r.Hint = command("git", "switch", b.Became)
	default:
		r = in.offer(r, "branch "+printable(name)+" is not in this clone")
		r.Hint = command("git", "checkpoint", "resume", cmp.Or(in.facts.Name, string(in.record.Issue())), "--branch", name)
	}
	return r
}

func checkHead(in input) []Reason {
	h := in.facts.Head
	switch h.State {
	case HeadSame:
		return nil
	case HeadMovedOn:
		r := reason("head", Resume, "HEAD moved on from %s to %s", commit(h.Saved), commit(h.Now))
		if h.Ahead > 0 {
			r.Detail = []string{count(h.Ahead, "commit") + " since the checkpoint"}
		}
		return []Reason{r}
	case HeadDiverged:
		r := reason("head", Resume, "HEAD has diverged from %s to %s: the files are merged on top", commit(h.Saved), commit(h.Now))
		r.Detail = []string{"in common: " + commit(h.Base) + ", " + count(h.Ahead, "commit") + " of HEAD's since, " + count(h.Gone, "commit") + " of the checkpoint's"}
		return []Reason{r}
	case HeadUnknown:
		r := reason("head", PromptUser, "HEAD %s is not the checkpoint's %s, and cannot be compared: %s", commit(h.Now), commit(h.Saved), printable(h.Why))
		r.Hint = "git fetch --unshallow"
		return []Reason{r}
	case HeadApart:
		r := reason("head", PromptUser, "HEAD %s does not descend from the checkpoint's %s", commit(h.Now), commit(h.Saved))
		r.Detail = apart(h)
		if !in.facts.Branch.IsElsewhere() { // the hint about the branch covers HEAD
			r.Hint = in.goHome(h)
		}
		return []Reason{r}
	}
	return []Reason{unchecked("head", "HEAD", h.Why)}
}

// apart describes how HEAD relates to a checkpoint commit that HEAD does not contain.
func apart(h Head) []string {
	var out []string
	if h.Worktree != "" {
		out = append(out, "branch "+printable(h.Home)+" is checked out in "+printable(h.Worktree))
	}
	switch {
	case h.Saved == "" || h.Now == "":
		return out
	case h.Base == "":
		return append(out, "no commit in common")
	case h.Base == h.Now:
		return append(out, "HEAD went back: "+count(h.Gone, "commit")+" of the checkpoint's not in it")
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
	if in.record.Branch() == "" {
		return in.switchTo("checkpoint")
	}
	return in.switchTo(in.record.Branch() + "-checkpoint") // the branch itself exists, usually with other commits
}

func checkBase(in input) []Reason {
	b := in.facts.Base
	if b.Name == "" || b.Behind <= 0 {
		return nil
	}
	return []Reason{reason("base", Resume, "%s has %s that HEAD does not", printable(b.Name), count(b.Behind, "commit"))}
}

func checkFiles(in input) []Reason {
	f := in.facts.Files
	switch {
	case f.Damaged != "":
		return []Reason{reason("files", PromptUser, "The files cannot be restored: %s", printable(f.Damaged))}
	case !f.Checked && len(in.record.Files()) > 0:
		return []Reason{unchecked("files", "Files", f.Why)}
	}
	if len(f.Changed) == 0 {
		return nil
	}
	action := PromptUser
	if in.rules.FilesAnswered {
		action = ProceedWithWarning
	}
	r := reason("files", action, "%s changed since checkpoint: %s", count(len(f.Changed), "file"), some(f.Changed))
	r.Detail = each(f.Changed)
	return []Reason{r}
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
		out[k] = printable(l[k])
	}
	return out
}

func checkOutputs(in input) []Reason {
	o := in.facts.Outputs
	if !o.Checked && len(in.record.Outputs()) > 0 {
		return []Reason{unchecked("outputs", "Outputs", o.Why)}
	}
	var out []Reason
	for _, path := range o.Missing {
		out = append(out, corrupt(reason("outputs", PromptUser, "Output %s is missing", printable(path))))
	}
	for _, path := range o.Changed {
		out = append(out, reason("outputs", ProceedWithWarning, "Output %s changed since checkpoint", printable(path)))
	}
	return out
}
