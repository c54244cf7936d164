// Package standing describes the progress of a checkpoint's work as text and as JSON.
package standing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// Of returns the progress of a record, with the point of its verdict.
func Of(r *checkpoint.Record, v freshness.Verdict) standing {
	p := r.Progress()
	s := standing{
		Point: v.At, Completed: p.Completed, Remaining: p.Remaining, batches: r.CompletedBatches(),
	}
	s.pending, _ = tasks.Of(r).Batches() // judge rejects cycles
	return s
}

// ProgressLine returns the progress line of the prompt.
func ProgressLine(r *checkpoint.Record) string {
	p := r.Progress()
	switch done := lastCompleted(p.Completed); {
	case done == "" && p.Total > 0:
		return fmt.Sprintf("0 of %d phases completed", p.Total)
	case done == "" && r.Phase() == "" && story.IsLead(r):
		return storyCount(story.Stories(r))
	case done == "" && r.Phase() == "" && r.CurrentBatch() == 0:
		return "no phase recorded"
	case done == "":
		return strings.TrimPrefix(phaseAndBatch(r), ", ")
	case hasGap(p):
		return fmt.Sprintf("%d of %d phases completed (%s)", len(p.Completed), p.Total, phrase.List(p.Completed))
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

// NothingLeft is the resume point of a complete workflow, for people.
const NothingLeft = "nothing left to do"

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

// ShowPhases prints the lines about the phases.
func ShowPhases(c *invoke.Invocation, r *checkpoint.Record) {
	for _, line := range PhaseLines(r) {
		c.Printf("%s: %s\n", line.Name, output.Clean(line.Text))
	}
}

// PhaseLines returns the non-empty lines about the phases.
func PhaseLines(r *checkpoint.Record) []Line {
	p := r.Progress()
	return slices.DeleteFunc([]Line{
		{Name: "Completed", Text: phrase.List(p.Completed)},
		{Name: "Skipped", Text: phrase.List(p.Skipped)},
		{Name: "Remaining", Text: phrase.List(p.Remaining)},
		{Name: "Replans", Text: replans(r)},
		{Name: "Artifacts", Text: artifactNames(r)},
		{Name: "Work kept", Text: workKept(r)},
	}, func(l Line) bool { return l.Text == "" })
}

// workKept returns the duration of the completed phases, which a resume does not repeat,
// "" if it is unknown.
func workKept(r *checkpoint.Record) string {
	if minutes := int(math.Round(progress.Minutes(r))); minutes > 0 {
		return phrase.Spent(minutes) + " in completed phases"
	}
	return ""
}

// ShowTasks prints the open stories of a pipeline's lead and the progress of the tasks, if
// there are any.
func ShowTasks(c *invoke.Invocation, r *checkpoint.Record) {
	if text := openStories(story.Stories(r)); text != "" {
		c.Printf("Stories: %s\n", output.Clean(text))
	}
	if text := tasksLine(r); text != "" {
		c.Printf("Tasks: %s\n", output.Clean(text))
	}
}

// ShowNext prints the next action of another system's workflow.
func ShowNext(c *invoke.Invocation, v freshness.Verdict) {
	if text := nextLine(v.Next); text != "" {
		c.Printf("Next: %s\n", output.Clean(text))
	}
}

// nextLine returns the next action with its phase and reason, "" if there is no action.
func nextLine(n freshness.Next) string {
	if n.Action == "" {
		return ""
	}
	return fmt.Sprintf("%s %s (%s)", n.Action, n.Phase, n.Why)
}

// A standing is the progress of a record's work, for output.
type standing struct {
	progress.Point
	Completed []string // completed phases
	Remaining []string
	batches   []int      // completed batches
	pending   [][]string // open tasks, in batches
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

// storyCount returns a text such as "2 of 5 stories done".
func storyCount(stories []story.Story) string {
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

// openStories returns the stories that are not done by state, in the order of the states'
// first stories.
func openStories(stories []story.Story) string {
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
		states[i] = state + ": " + phrase.List(phrase.Few(open[state], promptKind))
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
	return phrase.List(out)
}

func artifactNames(r *checkpoint.Record) string {
	var out []string
	for _, a := range progress.Artifacts(r) {
		if place := phrase.QuotePath(a.Path); !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	return strings.Join(out, " ")
}

// tasksLine counts the tasks and names some ready tasks. It returns "" if there are no
// tasks.
func tasksLine(r *checkpoint.Record) string {
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
		text += ", ready: " + phrase.List(phrase.Few(ready, promptKind))
	}
	return text
}

// artifacts returns the files that the phases produced.
func artifacts(r *checkpoint.Record) []output.Artifact {
	var out []output.Artifact
	for _, a := range progress.Artifacts(r) {
		out = append(out, output.Artifact{Phase: a.Phase, Path: phrase.QuotePath(a.Path), Size: a.Size, Digest: a.Digest, Title: a.Title})
	}
	return out
}

// batchesLine joins the batches, one group per batch.
func batchesLine(batches [][]string) string {
	groups := make([]string, len(batches))
	for i, b := range batches {
		groups[i] = phrase.List(b)
	}
	return strings.Join(groups, "; then ")
}
