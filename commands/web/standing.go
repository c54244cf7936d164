package web

import (
	"slices"
	"strings"

	"git-checkpoint/freshness"
)

// A Judged is the assessment of a checkpoint: verdict and progress.
type Judged struct {
	Verdict   freshness.Verdict
	Facts     []Fact // progress facts
	Names     []string
	Completed []string
	Current   string // phase to continue
	Complete  bool   // no work remains
	Command   string // command that resumes the newest checkpoint
	This      string // command that resumes this checkpoint
	Alone     string // whether an unattended resume is possible
}

// A Phase is one step in the progress display.
type Phase struct{ Name, State string } // State is done, now or left

// A Standing shows an issue's progress and verdict.
type Standing struct {
	Phases   []Phase
	Left     int // number of omitted phases
	Facts    []Fact
	Verdict  Verdict
	Complete bool
}

// A Fact is a named line of text.
type Fact struct{ Name, Text string }

// A Verdict is a freshness.Verdict for users.
type Verdict struct {
	Word    string // recommended action
	Class   string // good, warn, ask or bad
	Says    string // one-sentence summary
	Auto    string // whether an unattended resume is possible
	Reasons []ReasonView
	Command string
}

// A ReasonView is one reason in a verdict.
type ReasonView struct {
	Check, Severity, Message, Hint string
	Detail, Diff                   []string
}

// maxPhases limits shown phases.
const maxPhases = 24

// newStanding prepares an assessment for templates.
func newStanding(j Judged) Standing {
	s := Standing{Verdict: verdict(j), Complete: j.Complete}
	for _, name := range j.Names {
		if len(s.Phases) == maxPhases {
			s.Left = len(j.Names) - maxPhases
			break
		}
		state := "left"
		switch {
		case slices.Contains(j.Completed, name):
			state = "done"
		case name == j.Current:
			state = "now"
		}
		s.Phases = append(s.Phases, Phase{line(cut(name, 80)), state})
	}
	for _, f := range j.Facts {
		if f.Text != "" {
			s.Facts = append(s.Facts, Fact{line(f.Name), firstLine(f.Text)})
		}
	}
	return s
}

// words returns label, style class and summary of an action.
func words(a freshness.Action) (word, class, says string) {
	switch a {
	case freshness.Resume:
		return "Fresh", "good", "Nothing stands against going on from here."
	case freshness.ProceedWithWarning:
		return "Usable, with warnings", "warn", "It can be resumed; read the warnings first."
	case freshness.PromptUser:
		return "A question to answer", "ask", "Something changed that only a person can answer for."
	}
	return "Cannot be resumed", "bad", "Start fresh, or look at an older one."
}

func verdict(j Judged) Verdict {
	word, class, says := words(j.Verdict.Action)
	v := Verdict{Word: word, Class: class, Says: says, Auto: firstLine(j.Alone), Command: line(j.Command)}
	if j.Complete {
		v.Says = "Nothing is left to do."
	}
	for _, r := range j.Verdict.WorstFirst() {
		v.Reasons = append(v.Reasons, ReasonView{
			Check: line(r.Check), Severity: line(r.Severity), Message: line(r.Message), Hint: line(r.Hint),
			Detail: lines(r.Detail), Diff: lines(r.Diff),
		})
	}
	return v
}

// lines cleans lines of text and limits their number.
func lines(all []string) []string {
	const few = 60
	var shown []string
	for _, s := range all[:min(len(all), few)] {
		shown = append(shown, line(cut(strings.TrimRight(s, "\r\n"), maxLine)))
	}
	if n := len(all) - few; n > 0 {
		shown = append(shown, count(n, "more line"))
	}
	return shown
}
