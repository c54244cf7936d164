package layout

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"git-checkpoint/gitstore/checkpoint"
)

// Texts are what a layout's system says when work is taken up again. They are
// that system's byte for byte, every line ends in a newline, and what comes
// from a record is kept on one line.
type Texts struct {
	Found    string // what was found, before the question
	Question string // yes or no, an empty line is yes; "" where the prompt is r, s, v, d
	Resumed  string // what is resumed
	Prompt   string // what a new worker is told, "" where the system has no text for it
}

// TextsOf makes the texts of a layout for a record. crunch has none, and those
// of claude are this program's own. It fails where the record does not say what
// a text needs.
func TextsOf(as Name, r *checkpoint.Record) (Texts, error) {
	switch as {
	case Recovery:
		return recoveryTexts(r)
	case Dotagent:
		return dotagentTexts(r)
	case Pipeline:
		return pipelineTexts(r)
	}
	return Texts{}, nil
}

// recoveryTexts name the first phase that is not completed: what the document
// calls the current one may be done already.
func recoveryTexts(r *checkpoint.Record) (Texts, error) {
	p := r.Progress()
	current := p.Current
	if len(p.Remaining) > 0 {
		current = p.Remaining[0]
	}
	if current == "" {
		return Texts{}, errors.New("the record has no phase")
	}
	done := line(strings.Join(p.Completed, ","))
	return Texts{
		Found:    fmt.Sprintf("Found existing checkpoint for this plan.\nCurrent phase: %s\nCompleted phases: %s\n", line(current), done),
		Question: "Resume from checkpoint? (Y/n) ",
		Resumed:  fmt.Sprintf("Resuming from Phase %s\nCompleted phases: %s\nSkipping completed work...\n", line(current), done),
	}, nil
}

func dotagentTexts(r *checkpoint.Record) (Texts, error) {
	p := r.Progress()
	if p.Current == "" {
		return Texts{}, errors.New("the record has no phase")
	}
	id := line(cmp.Or(text(r.Doc(), "workflow.id"), string(r.Issue())))
	last := line(cmp.Or(text(r.Doc(), "workflow.updated_at"), seconds(r.CreatedAt())))
	return Texts{
		Found:    fmt.Sprintf("Detected interrupted workflow: %s\n", id),
		Question: fmt.Sprintf("Resume workflow from %s? [Y/n] ", line(p.Current)),
		Resumed: fmt.Sprintf("Resuming workflow %s from %s phase\nLast activity: %s\nCompleted: %s\n",
			id, line(p.Current), last, line(strings.Join(p.Completed, ", "))),
	}, nil
}

// pipelineTexts say how the lead brings a worker back.
func pipelineTexts(r *checkpoint.Record) (Texts, error) {
	w, err := WorkerOf(r, nil)
	if err != nil {
		return Texts{}, err
	}
	return Texts{Resumed: w.Plan(false), Prompt: w.Prompt("", "")}, nil
}

// line folds a text into one line that a terminal cannot be hurt by.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return '\ufffd'
		}
		return r
	}, s)
}
