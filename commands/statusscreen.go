package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/commands/display"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// screenStatus prints the status for people: the work, its progress, the verdict with
// reasons, and the effect of a resume.
func (c *Invocation) screenStatus(at display.Screen, cp *gitstore.Checkpoint, r *checkpoint.Record, v freshness.Verdict) {
	rows := slices.Concat(c.checkpointRows(at, cp, r), progressRows(r, v), c.freshnessRows(v), c.resumeRows(cp, r, v))
	c.print("%s\n\n%s", at.Heading(heading(cp, r)), at.Sheet(rows))
	next := "git checkpoint resume " + quoteArg(string(cp.Issue))
	if !v.CanResume {
		next = "git checkpoint list " + quoteArg(string(cp.Issue))
	}
	c.print("\nhint: %s\n", next)
}

func (c *Invocation) checkpointRows(at display.Screen, cp *gitstore.Checkpoint, r *checkpoint.Record) []display.Row {
	id := string(cp.ID)
	if at.Width < 80 {
		id = cp.ID.Short()
	}
	saved := ago(r.CreatedAt(), c.env.Now()) + ", " + cmp.Or(string(r.Trigger()), "no trigger")
	if cp.Pinned {
		saved += ", pinned"
	}
	rows := []display.Row{{Label: "Checkpoint", Text: id}, {Label: "Saved", Text: saved}}
	if note := firstLine(cp.Note); note != "" {
		rows = append(rows, display.Row{Label: "Note", Text: note})
	}
	if cp.Branch == "" {
		return rows
	}
	branch := cp.Branch
	switch now, err := c.store.Branch(c.ctx); {
	case err != nil:
	case now == "":
		branch += " (HEAD is detached)"
	case now != cp.Branch:
		branch += " (you are on " + now + ")"
	}
	return append(rows, display.Row{Label: "Branch", Text: branch})
}

// progressRows returns the rows about the progress.
func progressRows(r *checkpoint.Record, v freshness.Verdict) []display.Row {
	at := standingOf(r, v)
	rows := []display.Row{{Label: "Phase", Text: phaseText(at, r.Progress())}}
	if done, now := at.batches, r.CurrentBatch(); len(done)+now > 0 {
		var parts []string
		if now > 0 {
			parts = append(parts, strconv.Itoa(now))
		}
		if len(done) > 0 {
			parts = append(parts, "completed "+numbers(done))
		}
		rows = append(rows, display.Row{Label: "Batch", Text: strings.Join(parts, "; ")})
	}
	if text := tasksText(tasks.Of(r).All()); text != "" {
		rows = append(rows, display.Row{Label: "Tasks", Text: text})
	}
	for _, line := range phaseLines(r) {
		if line.name != "Completed" && line.name != "Remaining" { // shown above
			rows = append(rows, display.Row{Label: line.name, Text: line.text})
		}
	}
	if spent := int(progress.Minutes(r)); spent > 0 {
		rows = append(rows, display.Row{Label: "Preserved", Text: plural(spent, "minute") + " of work in completed phases"})
	}
	if len(v.Awaiting) > 0 {
		rows = append(rows, display.Row{Label: "Waits for", Text: "approval of " + list(v.Awaiting), Style: display.Yellow})
	}
	return rows
}

// phaseText returns a text such as "implementing, phase 3 of 5; left: validation, docs".
func phaseText(at standing, p checkpoint.Progress) string {
	switch {
	case at.complete:
		return fmt.Sprintf("all %d completed", p.Total)
	case at.current == "":
		return "none recorded"
	case p.Total == 0:
		return at.current
	}
	text := at.current
	if n := slices.Index(p.Names, at.current) + 1; n > 0 {
		text += fmt.Sprintf(", phase %d of %d", n, p.Total)
	} else {
		text += fmt.Sprintf(" of %d", p.Total)
	}
	if left := slices.DeleteFunc(slices.Clone(at.remaining), func(s string) bool { return s == at.current }); len(left) > 0 {
		text += "; left: " + list(few(left, 8))
	}
	return text
}

func numbers(n []int) string {
	words := make([]string, len(n))
	for i := range n {
		words[i] = strconv.Itoa(n[i])
	}
	return list(words)
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
		text += "; " + word + ": " + list(few(left[word], 5))
	}
	return text
}

// freshnessRows returns the verdict and every finding, worst first.
func (c *Invocation) freshnessRows(v freshness.Verdict) []display.Row {
	words := map[freshness.Action]struct {
		text  string
		style display.Style
	}{
		freshness.Resume:             {"fresh", display.Green},
		freshness.ProceedWithWarning: {"usable, with warnings", display.Yellow},
		freshness.PromptUser:         {"a question to answer", display.Yellow},
		freshness.StartFresh:         {"cannot be resumed", display.Red},
	}
	word := words[v.Action]
	rows := []display.Row{{Label: "Freshness", Text: word.text + " (" + v.Action.String() + ")", Style: word.style}}
	for _, r := range v.WorstFirst() {
		rows = append(rows, display.Row{
			Label: "  " + r.Severity, Text: r.Message, Style: severityStyle(r.Action), Below: unsaid(r), Hint: r.Hint,
		})
	}
	return rows
}

// unsaid returns the detail of a finding, or nil if the message contains it.
func unsaid(r freshness.Reason) []string {
	if strings.HasSuffix(r.Message, ": "+list(r.Detail)) {
		return nil
	}
	return r.Detail
}

func severityStyle(a freshness.Action) display.Style {
	switch a {
	case freshness.Resume:
		return ""
	case freshness.StartFresh:
		return display.Red
	}
	return display.Yellow
}

// resumeRows returns the rows about the effect of a resume.
func (c *Invocation) resumeRows(cp *gitstore.Checkpoint, r *checkpoint.Record, v freshness.Verdict) []display.Row {
	row := display.Row{Label: "Resume"}
	switch v.Action {
	case freshness.StartFresh:
		row.Text = "has nothing to go on from: the work starts over"
	case freshness.PromptUser:
		row.Text = "asks first, then goes on from " + continueFrom(r)
	default:
		row.Text = "goes on from " + continueFrom(r)
	}
	if words := ownWords(r); words != "" && !strings.HasSuffix(row.Text, words) {
		row.Below = []string{words}
	}
	if v.CanResume && c.store.Root() != "" {
		row.Below = append(row.Below, c.wouldRestore(cp)...)
	}
	rows := []display.Row{row}
	if n := v.Next; n.Action != "" {
		rows = append(rows, display.Row{Label: "Next", Text: fmt.Sprintf("%s %s (%s)", n.Action, n.Phase, n.Why)})
	}
	return append(rows, display.Row{Label: "Unattended", Text: autoResume(v)})
}

// ownWords returns a resume point written by a person, or "" for generated resume points.
func ownWords(r *checkpoint.Record) string {
	from := firstLine(r.ResumeFrom())
	if !strings.Contains(from, " ") || strings.HasPrefix(from, "phase_") || strings.HasPrefix(from, "batch_") {
		return ""
	}
	return from
}

// wouldRestore returns one line per restore effect on files.
func (c *Invocation) wouldRestore(cp *gitstore.Checkpoint) []string {
	done, err := c.store.Restore(c.ctx, gitstore.RestoreRequest{Checkpoint: cp, AnyBranch: true, Request: gitstore.RestoreOptions{DryRun: true}})
	if err != nil {
		return []string{"puts no files back: " + strings.TrimPrefix(err.Error(), "restore "+string(cp.ID)+": ")}
	}
	var lines []string
	for _, part := range []struct {
		what  string
		paths []string
	}{{"puts back", done.Restored}, {"asks about", done.Skipped}, {"cannot put back", done.InTheWay}} {
		if n := len(part.paths); n > 0 {
			lines = append(lines, part.what+" "+plural(n, "file")+": "+list(few(quotePaths(part.paths), 5)))
		}
	}
	if len(lines) == 0 {
		return []string{"the files are as they were"}
	}
	return lines
}
