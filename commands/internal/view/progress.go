package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// NothingLeft is the resume point of a complete workflow, for people.
const NothingLeft = "nothing left to do"

// fewOfKind limits the names of one kind in a line.
const fewOfKind = 20

// PhaseRows returns the non-empty rows about the phases.
func PhaseRows(r *checkpoint.Record) []Row {
	p := r.Progress()
	places := Each(progress.Artifacts(r), func(a progress.Of) string { return QuotePath(a.Path) })
	kept := "" // a resume does not repeat the completed phases
	if minutes := int(math.Round(progress.Minutes(r))); minutes > 0 {
		kept = Spent(minutes) + " in completed phases"
	}
	return Filled(
		Row{Label: "Completed", Text: List(p.Completed)},
		Row{Label: "Skipped", Text: List(p.Skipped)},
		Row{Label: "Remaining", Text: List(p.Remaining)},
		Row{Label: "Replans", Text: replans(r)},
		Row{Label: "Artifacts", Text: strings.Join(Distinct(places), " ")},
		Row{Label: "Work kept", Text: kept},
	)
}

// TeamRows returns the non-empty rows about the team, its messages and its conflicts. Conflicts
// come last, before the resume point that they decide.
func TeamRows(r *checkpoint.Record) []Row {
	return Filled(
		Row{Label: "Team", Text: membersText(r.Members())},
		Row{Label: "Pending messages", Text: List(r.PendingMessages())},
		Row{Label: "Awaiting response", Text: List(r.AwaitingResponse())},
		Row{Label: "Conflicts in progress", Text: List(r.Conflicts())},
	)
}

// membersText returns the members of a team, as "backend (builder) active, 2 of 3 tasks completed".
func membersText(members []checkpoint.Member) string {
	var texts []string
	for _, m := range members {
		text := m.Agent
		if m.Role != "" && m.Role != m.Agent {
			text += " (" + m.Role + ")"
		}
		text += strings.TrimRight(" "+m.Status, " ")
		if total := m.Completed + m.Pending; total > 0 {
			text += fmt.Sprintf(", %d of %s completed", m.Completed, Plural(total, "task"))
		}
		texts = append(texts, strings.TrimSpace(text))
	}
	return strings.Join(Few(texts, fewOfKind), "; ")
}

// ProgressLine returns the progress line of the prompt.
func ProgressLine(r *checkpoint.Record) string {
	p := r.Progress()
	switch done := lastCompleted(p.Completed); {
	case done == "" && p.Total > 0:
		return fmt.Sprintf("0 of %d phases completed", p.Total)
	case done == "" && r.Phase() == "" && story.IsLead(r):
		return StoryCount(story.Stories(r))
	case done == "" && r.Phase() == "" && r.CurrentBatch() == 0:
		return "no phase recorded"
	case done == "":
		var parts []string // of work without a number of phases
		if r.Phase() != "" {
			parts = append(parts, "Phase "+r.Phase())
		}
		if done := r.CompletedBatches(); len(done) > 0 {
			parts = append(parts, fmt.Sprintf("batch %d completed", slices.Max(done)))
		}
		return List(parts)
	case hasGap(p):
		return fmt.Sprintf("%d of %d phases completed (%s)", len(p.Completed), p.Total, List(p.Completed))
	case p.Total > 0 && slices.Contains(p.Names, done):
		return fmt.Sprintf("Phase %d of %d completed (%s)", slices.Index(p.Names, done)+1, p.Total, done)
	case p.Total > 0:
		return fmt.Sprintf("Phase %s of %d completed", done, p.Total)
	default:
		return fmt.Sprintf("Phase %s completed", done)
	}
}

// hasGap reports whether a remaining phase comes before a completed phase of a workflow
// with names.
func hasGap(p checkpoint.Progress) bool {
	i := slices.IndexFunc(p.Names, func(name string) bool { return slices.Contains(p.Remaining, name) })
	return i >= 0 && slices.ContainsFunc(p.Names[i:], func(name string) bool { return slices.Contains(p.Completed, name) })
}

// lastCompleted returns the completed phase with the largest number. If a name is not a
// number, it returns the last element.
func lastCompleted(completed []string) string {
	best, bestN := "", -1
	for _, name := range completed {
		n, err := strconv.Atoi(name)
		if err != nil {
			return completed[len(completed)-1]
		}
		if n > bestN {
			best, bestN = name, n
		}
	}
	return best
}

// StoryCount returns a text such as "2 of 5 stories done".
func StoryCount(stories []story.Story) string {
	done, paused := 0, 0
	for _, s := range stories {
		switch s.State {
		case story.Done:
			done++
		case story.Paused:
			paused++
		}
	}
	text := fmt.Sprintf("%d of %d stories done", done, len(stories))
	if paused > 0 {
		text += fmt.Sprintf(", %d paused", paused)
	}
	return text
}

// A byState lists names by their state, in the order of the states' first names.
type byState struct {
	states []string
	names  map[string][]string
}

func (b *byState) add(state, name string) {
	if b.names == nil {
		b.names = map[string][]string{}
	}
	if b.names[state] == nil {
		b.states = append(b.states, state)
	}
	b.names[state] = append(b.names[state], name)
}

// texts returns a text such as "failed: T1, T2" for each state, with a few of its names.
func (b *byState) texts(few int) []string {
	return Each(b.states, func(state string) string { return state + ": " + List(Few(b.names[state], few)) })
}

// OpenStories returns the stories that are not done by state.
func OpenStories(stories []story.Story) string {
	var open byState
	for _, s := range stories {
		if s.State != story.Done {
			open.add(cmp.Or(s.State, "queued"), s.ID)
		}
	}
	return strings.Join(open.texts(fewOfKind), "; ")
}

// replans lists the number of replans of each phase, ordered by the first replan.
func replans(r *checkpoint.Record) string {
	counts := progress.ReplanCounts(r)
	var phases, out []string
	for _, replan := range progress.Replans(r) {
		if !slices.Contains(phases, replan.Phase) {
			phases = append(phases, replan.Phase)
			out = append(out, fmt.Sprintf("phase %s: %d", replan.Phase, counts[replan.Phase]))
		}
	}
	return List(out)
}

// TasksLine counts the tasks and names some ready tasks. It returns "" if there are no
// tasks.
func TasksLine(r *checkpoint.Record) string {
	l := tasks.Of(r)
	all := l.All()
	if len(all) == 0 {
		return ""
	}
	open := slices.DeleteFunc(slices.Clone(all), tasks.Task.Over)
	text := fmt.Sprintf("%d of %d complete", len(all)-len(open), len(all))
	if ready := l.Ready(); len(ready) > 0 {
		text += ", ready: " + List(Few(ready, fewOfKind))
	}
	return text
}

// ContinueFrom returns a point for people, such as "Phase build, batch 7, task 1".
func ContinueFrom(r *checkpoint.Record, at progress.Point) string {
	if at.Complete {
		return NothingLeft
	}
	if phase := progress.PhaseOf(at.Code); phase != "" {
		return "Phase " + phase
	}
	if batch, task, ok := progress.Batch(at.Code); ok {
		phase := ""
		if current := cmp.Or(r.Phase(), at.Phase); current != "" {
			phase = "Phase " + current + ", "
		}
		return phase + "batch " + batch + ", task " + task
	}
	return cmp.Or(at.Code, "the checkpoint")
}

// A Phase is a phase of a workflow with its state: done, skipped, in progress or open.
type Phase struct{ Name, State string }

// PhaseCurrent is the state of the phase in which the work goes on.
const PhaseCurrent = "in progress"

// Phases returns the phases in their order.
func Phases(p checkpoint.Progress, at progress.Point) []Phase {
	names := slices.Clone(p.Names)
	if len(names) == 0 {
		names = slices.Concat(p.Completed, p.Skipped)
	}
	if !at.Complete && at.Phase != "" && !slices.Contains(names, at.Phase) {
		names = append(names, at.Phase)
	}
	names = Distinct(append(names, p.Remaining...))
	phases := make([]Phase, len(names))
	for i, name := range names {
		phases[i] = Phase{name, "open"}
		switch {
		case name == at.Phase && !at.Complete:
			phases[i].State = PhaseCurrent
		case slices.Contains(p.Completed, name):
			phases[i].State = "done"
		case slices.Contains(p.Skipped, name):
			phases[i].State = "skipped"
		}
	}
	return phases
}

// phaseText returns a text such as "implementing, phase 3 of 5; left: validation, docs".
func phaseText(at progress.Point, p checkpoint.Progress) string {
	switch {
	case at.Complete:
		return fmt.Sprintf("all %d completed", max(p.Total, len(p.Completed)))
	case at.Phase == "":
		return "none recorded"
	case p.Total == 0:
		return at.Phase
	}
	text := at.Phase
	if n := slices.Index(p.Names, at.Phase) + 1; n > 0 {
		text += fmt.Sprintf(", phase %d of %d", n, p.Total)
	} else {
		text += fmt.Sprintf(" of %d", p.Total)
	}
	if left := slices.DeleteFunc(slices.Clone(p.Remaining), func(s string) bool { return s == at.Phase }); len(left) > 0 {
		text += "; left: " + List(Few(left, 8))
	}
	return text
}

// tasksText counts the tasks and lists the open tasks by status.
func tasksText(all []tasks.Task) string {
	if len(all) == 0 {
		return ""
	}
	open := slices.DeleteFunc(slices.Clone(all), tasks.Task.Over)
	var by byState
	for _, t := range open {
		by.add(t.Status, t.ID)
	}
	return strings.Join(append([]string{fmt.Sprintf("%d of %d done", len(all)-len(open), len(all))}, by.texts(5)...), "; ")
}

// BriefProgress returns a text such as "phase 3 of 5 (build)".
func BriefProgress(at progress.Point, p checkpoint.Progress) string {
	switch {
	case at.Complete && p.Total > 0:
		return Plural(p.Total, "phase")
	case p.Total == 0 && at.Phase == "":
		return "-"
	case p.Total == 0:
		return at.Phase
	}
	n := slices.Index(p.Names, at.Phase) + 1
	switch {
	case n == 0:
		return fmt.Sprintf("phase %s of %d", at.Phase, p.Total)
	case fmt.Sprint(n) == at.Phase:
		return fmt.Sprintf("phase %d of %d", n, p.Total)
	}
	return fmt.Sprintf("phase %d of %d (%s)", n, p.Total, at.Phase)
}
