package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/display"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// screenStatus prints the status for people: the work, its progress, the verdict with
// reasons, and the effect of a resume.
func screenStatus(c *invoke.Invocation, at display.Screen, cp *gitstore.Checkpoint, r *checkpoint.Record, v freshness.Verdict) {
	rows := slices.Concat(checkpointRows(c, at, cp, r), standing.ProgressRows(r, v), freshnessRows(c, v), resumeRows(c, cp, r, v))
	c.Printf("%s\n\n%s", at.Heading(standing.Heading(cp, r)), at.Sheet(rows))
	next := "git checkpoint resume " + phrase.QuoteArg(string(cp.Issue))
	if !v.CanResume {
		next = "git checkpoint list " + phrase.QuoteArg(string(cp.Issue))
	}
	c.Printf("\nhint: %s\n", next)
}

func checkpointRows(c *invoke.Invocation, at display.Screen, cp *gitstore.Checkpoint, r *checkpoint.Record) []display.Row {
	id := string(cp.ID)
	if at.Width < 80 {
		id = cp.ID.Short()
	}
	saved := phrase.Ago(r.CreatedAt(), c.Env.Now()) + ", " + cmp.Or(string(r.Trigger()), "no trigger")
	if cp.Pinned {
		saved += ", pinned"
	}
	rows := []display.Row{{Label: "Checkpoint", Text: id}, {Label: "Saved", Text: saved}}
	if note := phrase.FirstLine(cp.Note); note != "" {
		rows = append(rows, display.Row{Label: "Note", Text: note})
	}
	if cp.Branch == "" {
		return rows
	}
	branch := cp.Branch
	switch now, err := c.Store.Branch(c.Ctx); {
	case err != nil:
	case now == "":
		branch += " (HEAD is detached)"
	case now != cp.Branch:
		branch += " (you are on " + now + ")"
	}
	return append(rows, display.Row{Label: "Branch", Text: branch})
}

// freshnessRows returns the verdict and every finding, worst first.
func freshnessRows(c *invoke.Invocation, v freshness.Verdict) []display.Row {
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
	if strings.HasSuffix(r.Message, ": "+phrase.List(r.Detail)) {
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
func resumeRows(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record, v freshness.Verdict) []display.Row {
	row := display.Row{Label: "Resume"}
	switch v.Action {
	case freshness.StartFresh:
		row.Text = "has nothing to go on from: the work starts over"
	case freshness.PromptUser:
		row.Text = "asks first, then goes on from " + standing.ContinueFrom(r)
	default:
		row.Text = "goes on from " + standing.ContinueFrom(r)
	}
	if words := standing.OwnWords(r); words != "" && !strings.HasSuffix(row.Text, words) {
		row.Below = []string{words}
	}
	if v.CanResume && c.Store.Root() != "" {
		row.Below = append(row.Below, wouldRestore(c, cp)...)
	}
	rows := []display.Row{row}
	if n := v.Next; n.Action != "" {
		rows = append(rows, display.Row{Label: "Next", Text: fmt.Sprintf("%s %s (%s)", n.Action, n.Phase, n.Why)})
	}
	return append(rows, display.Row{Label: "Unattended", Text: standing.AutoResume(v)})
}

// wouldRestore returns one line per restore effect on files.
func wouldRestore(c *invoke.Invocation, cp *gitstore.Checkpoint) []string {
	done, err := c.Store.Restore(c.Ctx, gitstore.RestoreRequest{Checkpoint: cp, AnyBranch: true, Request: gitstore.RestoreOptions{DryRun: true}})
	if err != nil {
		return []string{"puts no files back: " + strings.TrimPrefix(err.Error(), "restore "+string(cp.ID)+": ")}
	}
	var lines []string
	for _, part := range []struct {
		what  string
		paths []string
	}{{"puts back", done.Restored}, {"asks about", done.Skipped}, {"cannot put back", done.InTheWay}} {
		if n := len(part.paths); n > 0 {
			lines = append(lines, part.what+" "+phrase.Plural(n, "file")+": "+phrase.List(phrase.Few(phrase.QuotePaths(part.paths), 5)))
		}
	}
	if len(lines) == 0 {
		return []string{"the files are as they were"}
	}
	return lines
}
