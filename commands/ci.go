package commands

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// `resume --ci` is for CI jobs: it fetches the issue's checkpoints, resumes if no
// question is open, and prints shell variables. All variables are printed in every case,
// and a first run without checkpoints is no error. After an error the action is
// prompt_user: a shell that evaluates the output does not see the exit code, and must not
// start from scratch.

// ciFlags returns the flags of resume for CI jobs.
func ciFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "ci", Usage: "for a job: fetch first, ask nobody, print variables; no checkpoint is no error"},
		&cli.BoolFlag{Name: "files", Usage: "with --ci: restore files too"},
	}
}

// A variable is a shell variable that resume prints.
type variable struct{ name, value string }

// resumeCI runs resume for a CI job.
func resumeCI(c *Invocation) error {
	if err := c.ciDefaults(); err != nil {
		return err
	}
	r := &resumption{}
	err := c.ciResume(r)
	if err = c.ciOutcome(r, err); r.vars == nil {
		c.printVariables(r, freshness.PromptUser.String(), "", "", "", "")
	}
	return errors.Join(err, c.githubOutput(r.vars))
}

// ciDefaults checks the flags that conflict with --ci and sets the flags that it implies.
func (c *Invocation) ciDefaults() error {
	if c.flags.Bool("files") && c.flags.Bool("no-files") {
		return exit.Usagef("resume: --files and --no-files do not go together")
	}
	if c.flags.IsSet("worktree") {
		return exit.Usagef("resume: --ci goes on where the job is, and --worktree elsewhere")
	}
	if c.flags.IsSet("print") && c.flags.String("print") != "env" {
		return exit.Usagef("resume: --ci prints env, or with --json the record")
	}
	return c.flags.Set("print", "env")
}

// noFiles reports whether resume leaves files alone. This is the default in a CI job,
// because checkpoints from a remote are not trusted.
func (c *Invocation) noFiles() bool {
	return c.flags.Bool("no-files") || c.flags.Bool("ci") && !c.flags.Bool("files")
}

func (c *Invocation) ciResume(r *resumption) error {
	choice, err := c.resumeFlags()
	if err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	if err := c.ciFetch(); err != nil {
		return err
	}
	return resumeOpened(c, r, choice)
}

// ciFetch fetches the checkpoints of the issue. Without a remote, ciFetch prints a
// warning, and resume uses local checkpoints.
func (c *Invocation) ciFetch() error {
	issue, err := c.ciIssue()
	if err != nil {
		return err
	}
	remote, err := c.remote("")
	if errors.Is(err, gitstore.ErrNoRemote) {
		c.warnf("nothing is fetched: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	done, err := c.store.Fetch(c.ctx, gitstore.FetchRequest{
		Remote: remote, Issues: []checkpoint.Issue{issue}, Timeout: c.remoteTimeout(), Quiet: true,
	})
	for _, s := range done {
		switch {
		case s.Result == gitstore.Diverged:
			c.warnf("%v", s.Err)
		case s.Err != nil:
			return s.Err
		case s.Fetched > 0:
			c.infof("fetched %s of issue %s from %s", phrase.Plural(s.Fetched, "checkpoint"), s.Issue, gitstore.ShownRemote(remote))
		}
	}
	return err
}

// ciIssue returns the issue, also if its checkpoints are not fetched yet. A word that
// could be an issue or a checkpoint counts as an issue first.
func (c *Invocation) ciIssue() (checkpoint.Issue, error) {
	if len(c.args) == 1 && !namesCheckpoint(c.args[0]) {
		return c.issue()
	}
	issue, _, err := c.issueAndName()
	return issue, err
}

// ciOutcome turns errors into results of a job: no checkpoint exists, the checkpoint
// cannot be resumed, or a person has to decide.
func (c *Invocation) ciOutcome(r *resumption, err error) error {
	var none *gitstore.NoneError
	var failed *exit.Error
	var quiet exit.Silent
	switch {
	case errors.As(err, &none):
		if r.vars == nil {
			c.printVariables(r, actionNone, "", "", "", "")
		}
		c.infof("%v", none)
		return c.ciRecord(actionNone, none.Issue)
	case errors.As(err, &failed) && (failed.ExitCode() == exit.StartFresh || failed.ExitCode() == exit.NeedsAnswer):
		c.warnf("%v", failed)
		if failed.ExitHint() != "" {
			c.infof("hint: %s", failed.ExitHint())
		}
		return nil
	case errors.As(err, &quiet) && (quiet.ExitCode() == exit.StartFresh || quiet.ExitCode() == exit.None):
		return nil
	}
	return err
}

// ciWarnings prints the verdict's warnings to the job's log, because the variables cannot
// hold them.
func (c *Invocation) ciWarnings(r *resumption) {
	if !c.flags.Bool("ci") {
		return
	}
	for _, reason := range r.verdict.Reasons {
		if reason.Action == freshness.ProceedWithWarning {
			c.warnf("%s", reason.Message)
		}
	}
}

// ciRecord prints the --json record if no checkpoint exists.
func (c *Invocation) ciRecord(action string, issue checkpoint.Issue) error {
	if !c.json {
		return nil
	}
	return c.write(output.Resume{Status: output.Status{
		Type: "resume", Issue: string(issue), Action: action, Warnings: c.takeWarnings(),
	}})
}

// githubOutput appends the variables to the outputs of a GitHub Actions step. The form of
// each variable is
//
//	<name><<<delimiter>
//	<value>
//	<delimiter>
//
// The delimiter is random, so that no record can contain it.
func (c *Invocation) githubOutput(vars []variable) error {
	path := c.env.Getenv("GITHUB_OUTPUT")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("resume: $GITHUB_OUTPUT: %w", err)
	}
	_, err = f.WriteString(outputLines(vars, rand.Text()))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("resume: $GITHUB_OUTPUT: %w", err)
	}
	return nil
}

// outputLines formats variables for the file $GITHUB_OUTPUT.
func outputLines(vars []variable, random string) string {
	var b strings.Builder
	for _, v := range vars {
		delimiter := "end_" + random
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", strings.ToLower(v.name), delimiter, strings.ReplaceAll(v.value, "\x00", ""), delimiter)
	}
	return b.String()
}
