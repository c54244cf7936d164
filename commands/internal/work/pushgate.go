package work

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// A Gate decides which commits and files the pushes of one command may make public.
type Gate struct {
	Invocation *invoke.Invocation
	Remote     string // name or URL
	DryRun     bool   // nothing is pushed
	Yes        bool   // unpublished commits need no confirmation
	Ask        bool   // a person at a terminal is asked about unpublished commits
	Silent     bool   // the caller prints Secret and Untracked

	Secret    *gitstore.Secret // a secret that the settings let pass, or nil
	Untracked []string         // untracked files that the push makes public

	pointers bool            // a push contained pointers of git-lfs
	told     map[string]bool // warnings and accepted questions, since a sync retries
}

// Check makes a push or a sync pass the gate.
func (g *Gate) Check(req *gitstore.PushRequest) {
	req.May = func(issues []checkpoint.Issue, outs []gitstore.Outgoing) []error { // an error for each issue whose objects must stay
		all, errs := g.publications(issues, outs)
		policy := g.policy()
		for n, i := range issues {
			if errs[n] == nil {
				errs[n] = g.check(i, all[n], outs[n].Unknown, policy)
			}
		}
		return errs
	}
}

// check returns an error if the objects of an issue must not be pushed. It asks a person if
// the publication requires it. unknown is a ref of the remote whose commit is not here, or "".
func (g *Gate) check(i checkpoint.Issue, p *gitstore.Publication, unknown string, policy gitstore.PublicationPolicy) error {
	what, verb := fmt.Sprintf("%d commits, the newest %.12s,", p.Commits, p.Unpublished), "are"
	switch {
	case p.Commits == 1:
		what, verb = fmt.Sprintf("commit %.12s", p.Unpublished), "is"
	case p.Commits >= gitstore.MaxCommits:
		what = fmt.Sprintf("%d or more commits, the newest %.12s,", gitstore.MaxCommits, p.Unpublished)
	}
	verb += map[bool]string{true: " missing on ", false: " not known to be on "}[unknown == ""] + gitstore.ShownRemote(g.Remote)
	commits := fmt.Sprintf("the checkpoints of issue %s include %s, which %s", i, strings.TrimSuffix(what, ","), verb)
	missing := what + " " + verb
	policy.Commits = policy.Commits || g.Yes || g.told[commits]
	switch object, ask := policy.Objection(p); {
	case object == gitstore.SecretObjected:
		return &SecretsError{i, p.Found}
	case object == gitstore.LargeFileObjected:
		largest := slices.MaxFunc(p.TooLarge, func(a, b gitstore.LargeFile) int { return int(min(max(a.Bytes-b.Bytes, -1), 1)) })
		hint := fmt.Sprintf("git config checkpoint.limits.checkpoint-mb %d", largest.Bytes>>20+1)
		why := fmt.Sprintf("%s has %.1f MiB, and limits.checkpoint_mb is %d", view.QuotePath(largest.Path), float64(largest.Bytes)/(1<<20), g.Invocation.Settings.Int("limits.checkpoint_mb"))
		return refuse(failure.Refused, i, why, hint, hint+" permits it")
	case object == gitstore.CommitsObjected && g.DryRun:
		g.warnOnce(commits)
	case object == gitstore.CommitsObjected && !ask:
		return g.unpublished(failure.NeedsAnswer, i, missing, unknown)
	case object == gitstore.CommitsObjected:
		yes, err := g.Invocation.Confirm(commits+". Publish it? [y/N] ", g.again(i))
		if yes {
			g.first(commits)
		}
		if err != nil {
			return err
		}
		if !yes {
			return g.unpublished(failure.Refused, i, missing, unknown)
		}
	case p.Unpublished != "" && g.Yes:
		g.warnOnce(commits)
	}
	if len(p.Found) > 0 {
		g.Secret = &p.Found[0]
		g.warnOnce(fmt.Sprintf("%s is pushed with a possible secret: %s in %s", i, g.Secret.Rule, g.Secret.Path))
	}
	for _, path := range p.Untracked {
		if g.first("untracked " + path) {
			g.Untracked = append(g.Untracked, path)
		}
	}
	slices.Sort(g.Untracked)
	return nil
}

// publications returns for each issue the commits and files that a push makes public, or an
// error.
func (g *Gate) publications(issues []checkpoint.Issue, outs []gitstore.Outgoing) ([]*gitstore.Publication, []error) {
	reqs := make([]gitstore.ScanRequest, len(issues))
	for n, i := range issues {
		reqs[n] = ScanRequest(g.Invocation)
		reqs[n].Issue, reqs[n].Out = i, outs[n]
		reqs[n].MaxFile = int64(g.Invocation.Settings.Int("limits.checkpoint_mb")) << 20
	}
	all, errs := g.Invocation.Store.ScanAll(g.Invocation.Ctx, reqs)
	for n, i := range issues {
		if errs[n] != nil {
			errs[n] = fmt.Errorf("issue %s: scan for secrets: %w", i, errs[n])
			continue
		}
		g.pointers = g.pointers || all[n].Pointers > 0
	}
	return all, errs
}

// policy returns the policy of the settings. Only with a terminal can it ask.
func (g *Gate) policy() gitstore.PublicationPolicy {
	c := g.Invocation
	p := gitstore.PublicationPolicy{Secrets: c.Settings.String("redact") == "warn", Commits: c.Settings.Bool("publish_commits")}
	if g.Ask && !c.Line.JSON && !c.Env.InHook {
		if tty, err := c.Env.Tty(); err == nil {
			tty.Close()
			p.CanAsk = true
		}
	}
	return p
}

// again returns the commands that push commits after a refusal, one a line.
func (g *Gate) again(i checkpoint.Issue) string {
	name := "push"
	if g.Invocation.Line.Name == "sync" {
		name = "sync"
	}
	return "git checkpoint " + name + " " + view.IssueArg(i) + " --yes\ngit config checkpoint.publish-commits true"
}

// unpublished returns the error for commits that were not published. A fetch of an unknown ref can
// show that the remote has them.
func (g *Gate) unpublished(code int, i checkpoint.Issue, why, unknown string) error {
	hint, next := g.again(i), "push the branch first, or run git checkpoint push "+view.IssueArg(i)+" --yes"
	if strings.HasPrefix(unknown, "refs/heads/") || unknown == "HEAD" {
		fetch := "git fetch " + view.QuoteArg(gitstore.ShownRemote(g.Remote)) + " " + view.QuoteArg(unknown) // no short name, which can be an option
		hint, next = fetch+"\n"+hint, "run "+fetch+", "+next
	}
	return refuse(code, i, why, hint, next)
}

func refuse(code int, i checkpoint.Issue, why, hint, next string) error {
	return &refusal{failure.Errorf(code, hint, "issue %s: checkpoints not pushed: %s", i, why), why, next}
}

// Report prints facts for a person after a push: untracked files that are public now,
// commits of submodules that were not pushed, and the command that pushes git-lfs content,
// because pushes of checkpoints contain pointers only.
func (g *Gate) Report(done []gitstore.Synced) {
	c := g.Invocation
	if !g.DryRun {
		for _, s := range done {
			if s.Err == nil {
				_ = os.Remove(c.Store.Notes.Path(pushFailed + s.Issue.RefName()))
			}
		}
	}
	var pushed []gitstore.Synced
	for _, s := range done {
		if s.Pushed > 0 && s.Err == nil {
			pushed = append(pushed, s)
		}
	}
	if len(pushed) > 0 && len(g.Untracked) > 0 {
		verb := "includes"
		if g.DryRun {
			verb = "would include"
		}
		c.Infof("the push %s %s: %s", verb, view.Plural(len(g.Untracked), "untracked file"), view.List(view.Few(view.QuotePaths(g.Untracked), namedFiles)))
	}
	if len(pushed) == 0 || g.DryRun {
		return
	}
	for _, s := range pushed[:min(len(pushed), maxSubmoduleChecks)] {
		if newest, err := c.Store.Newest(c.Ctx, s.Issue); err == nil {
			c.WarnLocalCommits(newest)
		}
	}
	if !g.pointers {
		return
	}
	what := "--all " + view.QuoteArg(gitstore.ShownRemote(g.Remote))
	if len(pushed) == 1 {
		what = view.QuoteArg(gitstore.ShownRemote(g.Remote)) + " " + view.QuoteArg(gitstore.LiveRef(pushed[0].Issue))
	}
	c.Infof("hint: git lfs push %s # what git-lfs keeps is not pushed with checkpoints", what)
}

const (
	// namedFiles limits the untracked files that are named.
	namedFiles = 3
	// maxSubmoduleChecks limits the issues of one push whose newest checkpoint is searched for
	// commits of submodules.
	maxSubmoduleChecks = 20
)

// warnOnce prints a warning unless an earlier attempt printed it.
func (g *Gate) warnOnce(text string) {
	if g.first(text) && !g.Silent {
		g.Invocation.Warnf("%s", text)
	}
}

// first records a text, and reports whether it is new.
func (g *Gate) first(text string) bool {
	if g.told[text] {
		return false
	}
	if g.told == nil {
		g.told = map[string]bool{}
	}
	g.told[text] = true
	return true
}

// ScanRequest returns a scan of outgoing objects with the settings.
func ScanRequest(c *invoke.Invocation) gitstore.ScanRequest {
	return gitstore.ScanRequest{Allow: c.Settings.Strings("scan_allow"), Command: c.Settings.String("scan_command")}
}

// A refusal is the error of a push that the gate stopped. The same push would be stopped
// again.
type refusal struct {
	error
	why  string // the reason alone
	next string // command with which a later push passes
}

func (r *refusal) Unwrap() error { return r.error }

// A SecretsError reports a push that contained a secret and was stopped.
type SecretsError struct {
	issue checkpoint.Issue
	Found []gitstore.Secret
}

func (e *SecretsError) Error() string {
	return fmt.Sprintf("issue %s: checkpoints not pushed: %s", e.issue, e.why())
}

func (e *SecretsError) why() string {
	text := fmt.Sprintf("possible secret: %s in %s", e.Found[0].Rule, e.Found[0].Path)
	if line := e.Found[0].Line; line > 0 {
		text += fmt.Sprintf(", line %d", line)
	}
	if n := len(e.Found) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

func (e *SecretsError) Exit() (code int, hint string) {
	return failure.Secrets, "git checkpoint scan " + view.IssueArg(e.issue)
}
