package workflow

import (
	"cmp"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore/checkpoint"
)

// noteWidth limits the part of a summary, error or reason that a note repeats. The record
// has the whole text.
const noteWidth = 100

// pastOf maps the verbs of steps to their form in notes.
var pastOf = map[string]string{
	"start": "started", "done": "done", "fail": "failed", "skip": "skipped", "approve": "approved", "replan": "planned anew",
	"add": "added", "suspect": "suspected", "clear": "cleared", "recover": "recovered",
}

// stepNote returns the default note of a step, so that a timeline names each transition.
func stepNote(what, verb, why string) string {
	text := strings.TrimSpace(what + " " + cmp.Or(pastOf[verb], verb))
	if why = phrase.FirstLine(strings.TrimSpace(why)); why != "" {
		text += ": " + why
	}
	return shorten(text, noteWidth)
}

// shorten cuts a text between words. A cut inside a secret would hide it from the
// scanner, and the part would be saved unmasked.
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

// inWord reports whether a secret may contain a character.
func inWord(r rune) bool { return r > ' ' && r < 0x7f }

// withNote sets the note of a step, unless --state has set a note.
func (s *step) withNote(r *checkpoint.Record) {
	if s.note != nil && r.Note() == "" {
		r.SetNote(s.note())
	}
}

// note returns the note of the phase step.
func (p *phaseStep) note() string {
	what := p.phase
	if _, err := strconv.Atoi(what); err == nil {
		what = "phase " + what
	}
	verb := p.verb
	if p.replanned {
		verb = "done, " + pastOf["replan"]
	}
	return stepNote(what, verb, cmp.Or(p.reason, p.error, p.report.Summary))
}

// note returns the note of the task step.
func (t *taskStep) note() string {
	what := "tasks"
	if len(t.ids) == 1 {
		what = "task"
	}
	return stepNote(strings.TrimSpace(what+" "+phrase.List(phrase.Few(t.ids, 5))), t.verb, t.c.Flags.String("error"))
}
