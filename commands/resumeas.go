package commands

import (
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

// speak sets the texts of the --as system for the resumed checkpoint.
func (c *Invocation) speak(r *resumption) error {
	as, err := c.layoutFlag()
	if err != nil {
		return err
	}
	if as == layout.Pipeline {
		err = c.speakOfWorker(r)
	} else {
		r.texts, err = layout.TextsOf(as, r.record)
	}
	if err != nil {
		return exit.Errorf(exit.Failure, "git checkpoint resume "+phrase.QuoteArg(string(r.cp.Issue)), "resume %s --as %s: %w", r.cp.ID, as, err)
	}
	return nil
}

// speakOfWorker sets the texts of a pipeline worker, including the state of its lead.
func (c *Invocation) speakOfWorker(r *resumption) error {
	template := ""
	if name := c.flags.String("template"); name != "" {
		data, err := c.readInput(name)
		if err != nil {
			return err
		}
		template = output.CleanBlock(string(data))
	}
	w, err := layout.WorkerOf(r.record, nil)
	if err != nil {
		return err
	}
	if lead := c.leadOf(w.Story); lead != nil {
		w, err = layout.WorkerOf(r.record, lead)
	}
	r.texts.Resumed = w.Plan(c.flags.Bool("include-spawn"))
	r.texts.Prompt = w.Prompt(template, c.store.Root())
	return err
}

// leadOf returns the newest record of the lead that knows a story, or nil.
func (c *Invocation) leadOf(story string) *checkpoint.Record {
	issues, _, err := c.store.Issues(c.ctx, false)
	if err != nil {
		return nil
	}
	var lead *checkpoint.Record
	for _, i := range issues {
		_, r, err := c.store.NewestValid(c.ctx, i)
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
func (c *Invocation) askAs(d *dialog, r *resumption) (string, error) {
	if _, err := d.tty.Write([]byte(r.texts.Found + reasonLines(r.verdict))); err != nil {
		return "", err
	}
	answer, err := d.ask(r.texts.Question, yesByDefault)
	switch {
	case err != nil:
		return "", c.unanswered(r, r.answers("--yes"), err)
	case answer == "n":
		return "", exit.Silent{Code: exit.None}
	}
	return "r", c.askRest(d, r)
}

// showResumedAs prints the result of a resume in the texts of the --as system.
func (c *Invocation) showResumedAs(r *resumption) error {
	c.print("%s", r.texts.Resumed)
	c.showReasons(r.verdict)
	if r.restored != nil {
		c.showRestored(r.restored, c.flags.Bool("dry-run"))
	}
	c.print("%s\n", output.Clean(resumePoint(r.judged)))
	return nil
}
