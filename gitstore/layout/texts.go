package layout

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"git-checkpoint/gitstore/checkpoint"
)

// Texts are the resume messages of a layout's system, byte for byte. Each line ends with
// a newline, and values from records are folded into one line.
type Texts struct {
	Found    string // message before the question
	Question string // yes/no question with default yes; "" if the prompt is r, s, v, d
	Resumed  string // message after a resume
	Prompt   string // instructions for a new worker, "" if the system has no such text
}

// TextsOf returns the texts of a layout for a record. They are empty for crunch, which
// has no texts, and for claude, which uses git-checkpoint's own texts. TextsOf fails if
// the record lacks a required value.
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

// recoveryTexts uses the first unfinished phase, because the document's current phase may
// already be completed.
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

// pipelineTexts returns the lead's instructions to restart a worker.
func pipelineTexts(r *checkpoint.Record) (Texts, error) {
	w, err := WorkerOf(r, nil)
	if err != nil {
		return Texts{}, err
	}
	return Texts{Resumed: w.Plan(false), Prompt: w.Prompt("", "")}, nil
}

// line folds a text into one line without control characters.
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
