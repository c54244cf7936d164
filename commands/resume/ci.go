package resume

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/retention"
)

// `resume --ci` is for CI jobs: it fetches the issue's checkpoints, resumes if no
// question is open, and prints shell variables. All variables are printed in every case,
// and a first run without checkpoints is no error. If the work is complete, the action is
// none too, and CHECKPOINT_COMPLETE is true. After an error the action is prompt_user: a
// shell that evaluates the output does not see the exit code, and must not start from
// scratch.

// A Variable is a shell variable that resume prints.
type Variable struct{ Name, Value string }

func resumeCI(c *invoke.Invocation, o *resumeOptions) error {
	if err := ciDefaults(c, o); err != nil {
		return err
	}
	r := &resumption{options: o, Standing: view.Standing{Now: c.Env.Now()}}
	err := o.check(c)
	if err == nil {
		err = c.Open()
	}
	if err == nil {
		err = ciFetch(c)
	}
	if err == nil {
		err = resumeOpened(c, r)
	}
	if err = ciOutcome(c, r, err); r.vars == nil {
		setVariables(c, r, variables{action: freshness.PromptUser.String()})
	}
	return errors.Join(err, githubOutput(c, r.vars))
}

// ciDefaults checks the flags that conflict with --ci and sets the flags that it implies.
func ciDefaults(c *invoke.Invocation, o *resumeOptions) error {
	if o.files && o.noFiles {
		return failure.Usagef("resume: --files and --no-files cannot be combined")
	}
	if o.worktree != "" {
		return failure.Usagef("resume: --ci goes on where the job is, and --worktree elsewhere")
	}
	if o.workflow.Type != "" || o.workflow.Project != "" {
		return failure.Usagef("resume: --ci fetches an issue: name it instead of --type")
	}
	if c.Line.Flags.IsSet("print") && o.print != "env" {
		return failure.Usagef("resume: --ci prints env, or with --json the record")
	}
	o.print = "env"
	return nil
}

// leavesFiles reports whether resume leaves files alone. This is the default in a CI job,
// because checkpoints from a remote are not trusted.
func (o *resumeOptions) leavesFiles() bool { return o.noFiles || o.ci && !o.files }

// ciFetch fetches the checkpoints of the issue. Without a remote, ciFetch prints a
// warning, and resume uses local checkpoints.
func ciFetch(c *invoke.Invocation) error {
	issue, err := issueToFetch(c)
	if err != nil {
		return err
	}
	remotes, err := c.FetchRemotes("", issue)
	if errors.Is(err, gitstore.ErrNoRemote) {
		c.Warnf("nothing is fetched: %v", err)
		return startFork(c, issue, nil)
	}
	if err == nil {
		_, err = fetchIssue(c, issue, remotes, true)
	}
	if err != nil {
		return err
	}
	return startFork(c, issue, remotes)
}

// startFork starts the fork that a job of a matrix names by its key, as 42+a, unless it exists. It
// begins at the checkpoint at which the work on issue 42 goes on. remotes is nil without a remote.
func startFork(c *invoke.Invocation, issue checkpoint.Issue, remotes []string) error {
	source, name := issue.ForkSource()
	if source == "" || c.Store.HasIssue(c.Ctx, issue) {
		return nil
	}
	if remotes != nil {
		if _, err := fetchIssue(c, source, remotes, true); err != nil {
			return err
		}
	}
	p, err := c.Store.Point(c.Ctx, source)
	if errors.As(err, new(*gitstore.NoneError)) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = c.Store.Fork(c.Ctx, gitstore.ForkRequest{From: p.Checkpoint, Names: []string{name}})
	if errors.As(err, new(*gitstore.RefusedError)) { // the fork is archived: resume reports it
		return nil
	}
	if err == nil {
		c.Infof("issue %s: started from %s of issue %s", issue, p.ID, source)
	}
	return err
}

// issueToFetch returns the issue, also if its checkpoints are not fetched yet. A word that
// could be an issue or a checkpoint counts as an issue first.
func issueToFetch(c *invoke.Invocation) (checkpoint.Issue, error) {
	if len(c.Line.Args) == 1 && !invoke.NamesCheckpoint(c.Line.Args[0]) {
		return c.Issue()
	}
	issue, _, err := c.IssueAndName()
	return issue, err
}

// ciOutcome turns errors into results of a job: no checkpoint exists, the checkpoint
// cannot be resumed, or a person has to decide.
func ciOutcome(c *invoke.Invocation, r *resumption, err error) error {
	var none *gitstore.NoneError
	var failed *failure.Error
	var quiet failure.Silent
	switch {
	case errors.As(err, &none):
		if r.vars == nil {
			printNone(c, r, none.Issue)
		}
		switch r.archived {
		case "":
			c.Infof("%v", none)
		case retention.ReasonCompleted:
			c.Infof("issue %s is completed and archived: nothing to resume", none.Issue)
		default:
			c.Infof("issue %s is archived (%s): nothing to resume", none.Issue, r.archived)
		}
		if !c.Line.JSON {
			return nil
		}
		return c.WriteJSON(view.Resume{Status: view.Status{
			Type: "resume", Issue: string(none.Issue), Action: actionNone, Complete: r.archived == retention.ReasonCompleted, Warnings: c.TakeWarnings(),
		}})
	case errors.As(err, &failed) && (failed.Code == failure.StartFresh || failed.Code == failure.NeedsAnswer):
		c.Warnf("%v", failed)
		for hint := range strings.Lines(failed.Hint) {
			c.Infof("hint: %s", strings.TrimSuffix(hint, "\n"))
		}
		return nil
	case errors.As(err, &quiet) && (quiet.Code == failure.StartFresh || quiet.Code == failure.None):
		return nil
	}
	return err
}

func showNothingToDo(c *invoke.Invocation, r *resumption) error {
	r.ended = true
	switch {
	case progress.Over(r.Record):
		c.Infof("issue %s is completed: nothing to resume", r.Checkpoint.Issue)
	case story.IsLead(r.Record):
		c.Infof("the pipeline of issue %[1]s is complete: nothing to resume; git checkpoint finish %[1]s ends the workflow", r.Checkpoint.Issue)
	default:
		c.Infof("every phase of issue %[1]s is over: nothing to resume; git checkpoint finish %[1]s ends the workflow", r.Checkpoint.Issue)
	}
	if c.Line.JSON || r.options.print == "env" {
		return showOutcome(c, r)
	}
	c.Printf("%s\n", r.fromLine())
	c.Printf("Progress: %s\n", view.Clean(view.ProgressLine(r.Record)))
	c.Printf("%s\n", view.NothingLeft)
	return nil
}

// githubOutput appends the variables to the outputs of a GitHub Actions step. The form of
// each variable is
//
//	<name><<<delimiter>
//	<value>
//	<delimiter>
//
// The delimiter is random, so that no record can contain it.
func githubOutput(c *invoke.Invocation, vars []Variable) error {
	path := c.Env.Getenv("GITHUB_OUTPUT")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("resume: $GITHUB_OUTPUT: %w", err)
	}
	_, err = f.WriteString(OutputLines(vars, rand.Text()))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("resume: $GITHUB_OUTPUT: %w", err)
	}
	return nil
}

// OutputLines formats variables for the file $GITHUB_OUTPUT.
func OutputLines(vars []Variable, random string) string {
	var b strings.Builder
	for _, v := range vars {
		delimiter := "end_" + random
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", strings.ToLower(v.Name), delimiter, strings.ReplaceAll(v.Value, "\x00", ""), delimiter)
	}
	return b.String()
}
