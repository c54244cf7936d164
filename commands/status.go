package commands

import (
	"cmp"
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"

	"github.com/urfave/cli/v2"
)

var statusCommand = command{
	name: "status", usage: "say where the work stands and what resume would decide", args: "[ISSUE]", max: 1, category: "Look",
	description: "Changes nothing. Exits 0 when it could report and 3 when there is no checkpoint;\n" +
		"with --check the verdict decides: 0 resume, 4 start fresh, 5 a person must answer.",
	examples: []string{
		"git checkpoint status",
		"git checkpoint status 42 --check --strict",
		"git checkpoint status --description 'sign in with a key' --json",
		"git checkpoint status 42 --done 3 || run-phase 3",
		"git checkpoint status --short 2>/dev/null",
	},
	flags: statusFlags,
	run:   runStatus,
}

func statusFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "check", Usage: "exit with the verdict"},
		&cli.StringFlag{Name: "done", Usage: "exit 0 when phase `N` is done or was skipped, 1 when it is not"},
		&cli.StringFlag{Name: "description", Usage: "find the issue of the workflow that is called `TEXT`"},
		&cli.StringFlag{Name: "for-plan", Usage: "find the issue of the workflow whose plan is `FILE`"},
		&cli.BoolFlag{Name: "short", Usage: "one line for the prompt of a shell, and nothing where there is no checkpoint"},
		&cli.BoolFlag{Name: "markdown", Usage: "print it for a comment on the issue"},
		&cli.StringFlag{Name: "by", Usage: "judge for the command of that `NAME`, which would resume, by resume.compat"},
		&cli.BoolFlag{Name: "strict", Usage: "with --check: warnings exit 9"},
		&cli.StringFlag{Name: "issue-file", Usage: "compare with the issue in `FILE`"},
		offlineFlag(),
		colorFlag(),
	}
}

func runStatus(c *Invocation) error {
	if err := c.open(); err != nil {
		return err
	}
	c.onlyLooks = !c.flags.Bool("check") && !c.json
	if c.flags.Bool("short") {
		return c.statusShort()
	}
	issue, err := c.statusIssue()
	if c.flags.IsSet("done") && err != nil && exit.Classify(err).Code == exit.None {
		return exit.Silent{Code: exit.Failure}
	}
	if err != nil {
		return err
	}
	cp, r, err := c.store.NewestRecord(c.ctx, issue)
	if c.flags.IsSet("done") {
		return c.statusDone(r, err)
	}
	if err != nil {
		return err
	}
	verdict, err := c.judge(cp, r)
	if err != nil {
		return err
	}
	if err := c.showStatus(cp, r, verdict); err != nil {
		return err
	}
	if c.flags.Bool("check") {
		return verdictCode(verdict)
	}
	return nil
}

// statusDone returns the exit status of --done.
func (c *Invocation) statusDone(r *checkpoint.Record, err error) error {
	var none *gitstore.NoneError
	if errors.As(err, &none) {
		return exit.Silent{Code: exit.Failure}
	}
	if err != nil {
		return err
	}
	if !progress.IsOver(r, c.flags.String("done")) {
		return exit.Silent{Code: exit.Failure}
	}
	return nil
}

// verdictCode returns the exit code of a verdict.
func verdictCode(v freshness.Verdict) error {
	switch {
	case v.Action == freshness.StartFresh:
		return exit.Silent{Code: exit.StartFresh}
	case v.Action == freshness.PromptUser:
		return exit.Silent{Code: exit.NeedsAnswer}
	case v.Stale:
		return exit.Silent{Code: exit.Stale}
	}
	return nil
}

func (c *Invocation) showStatus(cp *gitstore.Checkpoint, r *checkpoint.Record, v freshness.Verdict) error {
	if c.json {
		out := statusRecord("status", cp, r, v)
		out.Warnings = append(out.Warnings, c.takeWarnings()...)
		return c.write(out)
	}
	if c.flags.Bool("markdown") {
		c.markdownStatus(cp, r, v)
		return nil
	}
	at, people, err := c.screen()
	if err != nil {
		return err
	}
	if people {
		if c.flags.Bool("verbose") {
			defer c.page()()
		}
		c.screenStatus(at, cp, r, v)
	} else {
		c.plainStatus(cp, r, v)
	}
	if c.flags.Bool("verbose") {
		return cmp.Or(c.showDiffs(cp, v), c.showCoverage(r))
	}
	return nil
}

// plainStatus prints the status in the form for scripts.
func (c *Invocation) plainStatus(cp *gitstore.Checkpoint, r *checkpoint.Record, v freshness.Verdict) {
	c.print("%s\n", output.Clean(heading(cp, r)))
	c.print("Checkpoint: %s (%s)\n", cp.ID, phrase.Ago(r.CreatedAt(), c.env.Now()))
	c.print("Progress: %s\n", output.Clean(progressLine(r)))
	c.showPhases(r)
	c.showTasks(r)
	if cp.Branch != "" {
		c.print("Branch: %s\n", output.Clean(cp.Branch))
	}
	if v.CanResume {
		c.print("Resume: %s, from %s\n", v.Action, output.Clean(continueFrom(r)))
	} else {
		c.print("Resume: %s\n", v.Action)
	}
	c.showNext(v)
	c.print("Auto-resume: %s\n", output.Clean(autoResume(v)))
	c.showReasons(v)
}
