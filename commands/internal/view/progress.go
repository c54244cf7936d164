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
	return slices.DeleteFunc([]Row{
		{Label: "Completed", Text: List(p.Completed)},
		{Label: "Skipped", Text: List(p.Skipped)},
		{Label: "Remaining", Text: List(p.Remaining)},
		{Label: "Replans", Text: replans(r)},
		{Label: "Artifacts", Text: artifactNames(r)},
		{Label: "Work kept", Text: workKept(r)},
	}, func(row Row) bool { return row.Text == "" })
}

// TeamRows returns the non-empty rows about the team, its messages and its conflicts. The order puts conflicts last, before the resume point that they decide.
func TeamRows(r *checkpoint.Record) []Row {
	return slices.DeleteFunc([]Row{
		{Label: "Team", Text: membersText(r.Members())},
		{Label: "Pending messages", Text: List(r.PendingMessages())},
		{Label: "Awaiting response", Text: List(r.AwaitingResponse())},
		{Label: "Conflicts in progress", Text: List(r.Conflicts())},
	}, func(row Row) bool { return row.Text == "" })
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
		return strings.TrimPrefix(phaseAndBatch(r), ", ")
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

// phaseAndBatch describes the progress of work without a number of phases.
func phaseAndBatch(r *checkpoint.Record) string {
	text := ""
	if r.Phase() != "" {
		text = "Phase " + r.Phase()
	}
	if done := r.CompletedBatches(); len(done) > 0 {
		text += fmt.Sprintf(", batch %d completed", slices.Max(done))
	}
	return text
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

// OpenStories returns the stories that are not done by state, in the order of the states'
// first stories.
func OpenStories(stories []story.Story) string {
	var states []string
	open := map[string][]string{}
	for _, s := range stories {
		state := cmp.Or(s.State, "queued")
		if s.State == story.Done {
			continue
		}
		if open[state] == nil {
			states = append(states, state)
		}
		open[state] = append(open[state], s.ID)
	}
	for i, state := range states {
		states[i] = state + ": " + List(Few(open[state], fewOfKind))
	}
	return strings.Join(states, "; ")
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

func artifactNames(r *checkpoint.Record) string {
	var out []string
	for _, a := range progress.Artifacts(r) {
		if place := QuotePath(a.Path); !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	return strings.Join(out, " ")
}

// TasksLine counts the tasks and names some ready tasks. It returns "" if there are no
// tasks.
func TasksLine(r *checkpoint.Record) string {
	l := tasks.Of(r)
	all := l.All()
	if len(all) == 0 {
		return ""
	}
	over := 0
	for _, t := range all {
		if t.Over() {
			over++
		}
	}
	text := fmt.Sprintf("%d of %d complete", over, len(all))
	if ready := l.Ready(); len(ready) > 0 {
		text += ", ready: " + List(Few(ready, fewOfKind))
	}
	return text
}

// artifacts returns the files that the phases produced.
func artifacts(r *checkpoint.Record) []Artifact {
	var out []Artifact
	for _, a := range progress.Artifacts(r) {
		out = append(out, Artifact{Phase: a.Phase, Path: QuotePath(a.Path), Size: a.Size, Digest: a.Digest, Title: a.Title})
	}
	return out
}

// workKept returns the duration of the completed phases, which a resume does not repeat,
// "" if it is unknown.
func workKept(r *checkpoint.Record) string {
	if minutes := int(math.Round(progress.Minutes(r))); minutes > 0 {
		return Spent(minutes) + " in completed phases"
	}
	return ""
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
	over := 0
	var words []string
	left := map[string][]string{}
	for _, t := range all {
		if t.Over() {
			over++
			continue
		}
		if left[t.Status] == nil {
			words = append(words, t.Status)
		}
		left[t.Status] = append(left[t.Status], t.ID)
	}
	text := fmt.Sprintf("%d of %d done", over, len(all))
	for _, word := range words {
		text += "; " + word + ": " + List(Few(left[word], 5))
	}
	return text
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
