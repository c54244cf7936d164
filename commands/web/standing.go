package web

import (
	"slices"
	"strings"

	"git-checkpoint/freshness"
)

// A Judged is what the program says of a checkpoint: the verdict, and how far
// the work is.
type Judged struct {
	Verdict   freshness.Verdict
	Facts     []Fact // how far the work is
	Names     []string
	Completed []string
	Current   string // the phase to go on with
	Complete  bool   // nothing is left to do
	Command   string // to type, to go on with the newest
	This      string // the same, with this one
	Alone     string // whether a resume would go on with nobody to ask
}

// A Phase is a step of the way.
type Phase struct{ Name, State string } // State is done, now or left

// A Standing says where the work of an issue stands.
type Standing struct {
	Phases   []Phase
	Left     int // phases that are not shown
	Facts    []Fact
	Verdict  Verdict
	Complete bool
}

// A Fact is a short line of what there is to know.
type Fact struct{ Name, Text string }

// A Verdict is freshness's, in words.
type Verdict struct {
	Word    string // what to do
	Class   string // good, warn, ask or bad
	Says    string // in a sentence
	Auto    string // whether a resume without anybody would go on
	Reasons []ReasonView
	Command string
}

// A ReasonView is one reason of a verdict.
type ReasonView struct {
	Check, Severity, Message, Hint string
	Detail, Diff                   []string
}

// maxPhases bounds what is shown of a plan.
const maxPhases = 24

// standing makes what was judged ready to be shown.
func standing(j Judged) Standing {
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

// words say an action to people: what it is, how it looks, what it means.
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

// lines cleans lines, the first few of many.
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
