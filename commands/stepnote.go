package commands

import (
	"strconv"
	"strings"

	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore/checkpoint"
)

// noteWidth is how much of a summary, an error or a reason a note repeats: the
// whole of it is in the record.
const noteWidth = 100

// pastOf are the verbs of steps as a timeline tells of them.
var pastOf = map[string]string{
	"start": "started", "done": "done", "fail": "failed", "skip": "skipped", "approve": "approved", "replan": "planned anew",
	"add": "added", "suspect": "suspected", "clear": "cleared", "recover": "recovered",
}

// stepNote is the note of a step that nobody wrote one for: a timeline of phase
// transitions alone would not say which.
func stepNote(what, verb, why string) string {
	text := strings.TrimSpace(what + " " + first(pastOf[verb], verb))
	if why = firstLine(strings.TrimSpace(why)); why != "" {
		text += ": " + why
	}
	return shorten(text, noteWidth)
}

// shorten cuts a text between words: half a secret is not known for one, and would
// be saved where the whole of it is masked.
func shorten(text string, width int) string {
	if output.Width(text) <= width {
		return text
	}
	head, rest := output.Cut(text, width-len("..."))
	if inWord(rune(rest[0])) {
		head = strings.TrimRightFunc(head, inWord)
	}
	return head + "..."
}

// inWord reports whether a letter may be one of a secret.
func inWord(r rune) bool { return r > ' ' && r < 0x7f }

// withNote gives a record the note of its step, unless a state brought one.
func (s *step) withNote(r *checkpoint.Record) {
	if s.note != nil && r.Note() == "" {
		r.SetNote(s.note())
	}
}

// note tells of the phase that was moved, and why.
func (p *phaseStep) note() string {
	what := p.phase
	if _, err := strconv.Atoi(what); err == nil {
		what = "phase " + what
	}
	verb := p.verb
	if p.replanned {
		verb = "done, " + pastOf["replan"]
	}
	return stepNote(what, verb, first(p.reason, p.error, p.report.Summary))
}

// note tells of the tasks that were moved, and why.
func (t *taskStep) note() string {
	what := "tasks"
	if len(t.ids) == 1 {
		what = "task"
	}
	return stepNote(strings.TrimSpace(what+" "+list(few(t.ids, 5))), t.verb, t.c.flags.String("error"))
}
