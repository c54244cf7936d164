package resume

import (
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

// speak sets the texts of the --as system for the resumed checkpoint.
func speak(c *invoke.Invocation, r *resumption) error {
	as, err := invoke.LayoutFlag(c)
	if err != nil {
		return err
	}
	if as == layout.Pipeline {
		err = speakOfWorker(c, r)
	} else {
		r.texts, err = layout.TextsOf(as, r.Record)
	}
	if err != nil {
		return exit.Errorf(exit.Failure, "git checkpoint resume "+phrase.QuoteArg(string(r.Checkpoint.Issue)), "resume %s --as %s: %w", r.Checkpoint.ID, as, err)
	}
	return nil
}

// speakOfWorker sets the texts of a pipeline worker, including the state of its lead.
func speakOfWorker(c *invoke.Invocation, r *resumption) error {
	template := ""
	if name := c.Flags.String("template"); name != "" {
		data, err := c.ReadInput(name)
		if err != nil {
			return err
		}
		template = output.CleanBlock(string(data))
	}
	w, err := layout.WorkerOf(r.Record, nil)
	if err != nil {
		return err
	}
	if lead := leadOf(c, w.Story); lead != nil {
		w, err = layout.WorkerOf(r.Record, lead)
	}
	r.texts.Resumed = w.Plan(c.Flags.Bool("include-spawn"))
	r.texts.Prompt = w.Prompt(template, c.Store.Root())
	return err
}

// leadOf returns the newest record of the lead that knows a story, or nil.
func leadOf(c *invoke.Invocation, story string) *checkpoint.Record {
	issues, _, err := c.Store.Issues(c.Ctx, false)
	if err != nil {
		return nil
	}
	var lead *checkpoint.Record
	for _, i := range issues {
		_, r, err := c.Store.NewestValid(c.Ctx, i)
		if err == nil && layout.Leads(r, story) && (lead == nil || r.CreatedAt().After(lead.CreatedAt())) {
			lead = r
		}
	}
	return lead
}

// yesByDefault maps the answers to a question whose default is yes.
var yesByDefault = map[string]string{"y": "y", "yes": "y", "n": "n", "no": "n", "": "y"}

// askAs asks the --as system's question and, after a yes, the remaining questions. After
// a no, the chain and the files stay unchanged.
func askAs(c *invoke.Invocation, d *invoke.Dialog, r *resumption) (string, error) {
	if _, err := d.TTY.Write([]byte(r.texts.Found + reasonLines(r.Verdict))); err != nil {
		return "", err
	}
	answer, err := d.Ask(r.texts.Question, yesByDefault)
	switch {
	case err != nil:
		return "", unanswered(c, r, r.answers("--yes"), err)
	case answer == "n":
		return "", exit.Silent{Code: exit.None}
	}
	return "r", askRest(c, d, r)
}

// showResumedAs prints the result of a resume in the texts of the --as system.
func showResumedAs(c *invoke.Invocation, r *resumption) error {
	c.Printf("%s", r.texts.Resumed)
	standing.ShowReasons(c, r.Verdict)
	if r.restored != nil {
		showRestored(c, r.restored, c.Flags.Bool("dry-run"))
	}
	c.Printf("%s\n", output.Clean(standing.ResumePoint(r.Judged)))
	return nil
}
