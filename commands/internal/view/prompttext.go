package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// isRequestNewer reports whether the last request came after the resume point was written. An
// unknown request is not newer.
func (m PromptMore) isRequestNewer(r *checkpoint.Record) bool {
	turn, _ := PointTurn(r)
	t := r.AgentTurn()
	return m.Unended != "" || !m.NoRequests && t.Request != "" && t.Asked > turn
}

// PointTurn returns the turn in which the resume point was written, 0 before the first turn. own
// is false if the progress alone names the point, or if there is none.
func PointTurn(r *checkpoint.Record) (turn int, own bool) {
	written := r.AgentTurn().Written
	if point := r.ResumeFrom(); point == "" || point == progress.DefaultCode(r) {
		return written["progress"], false
	}
	return max(written["resume_from"], 1), true
}

// requestLines adds the lines about the last requests and the end of the last answer.
func requestLines(line func(less, limit int, name, text string), t checkpoint.AgentTurn, more PromptMore) {
	if more.NoRequests {
		return
	}
	request, answer := "Last request", "Last answer ended"
	if more.Unended != "" {
		line(0, promptNote, fmt.Sprintf("Last request (turn %d, cut off)", t.Open()), more.Unended)
		request, answer = "Earlier request", "Answer to it ended"
	}
	line(0, promptNote, fmt.Sprintf("%s (turn %d)", request, t.Asked), t.Request)
	line(0, promptNote, answer, t.Answer)
	for i, past := range more.Requests {
		line(i+1, promptText, fmt.Sprintf("Earlier request (turn %d)", past.Asked), past.Request)
	}
}

// opening returns the first line of a prompt: what is taken over, from whom, and how old it is.
func opening(j *Standing, more PromptMore, now time.Time) string {
	t, ago := j.Record.AgentTurn(), Ago(j.Record.CreatedAt(), now)
	issue := "issue " + string(j.Checkpoint.Issue)
	if strings.ContainsFunc(issue[len("issue "):], func(r rune) bool { return r <= ' ' || r > '~' }) {
		issue = "an issue" // its key could be read as a sentence
	}
	after := ""
	if t.Number > 0 {
		after = fmt.Sprintf(", after turn %d", t.Number)
	}
	text, agent := "", more.Last.Agent
	switch own := more.Session != "" && more.Session == more.Last.ID; {
	case own:
		text = fmt.Sprintf("You go on with %s, saved %s%s", issue, ago, after)
	case agent == "":
		text = fmt.Sprintf("You take over %s, saved %s%s", issue, ago, after)
	case more.Last.Age != "" && t.Number > 0:
		text = fmt.Sprintf("You take over %s, saved %s%s of a %s session%s", issue, ago, after, agent, more.Last.Age)
	case more.Last.Age != "":
		text = fmt.Sprintf("You take over %s, saved %s, after a %s session%s", issue, ago, agent, more.Last.Age)
	case j.Record.Trigger() == checkpoint.Turn:
		text = fmt.Sprintf("You take over %s from a %s session whose turn %d ended %s", issue, agent, t.Number, ago)
	case j.Record.Trigger() == checkpoint.SessionEnd:
		text = fmt.Sprintf("You take over %s from a %s session that ended %s%s", issue, agent, ago, after)
	default:
		text = fmt.Sprintf("You take over %s from a %s session, saved %s during turn %d", issue, agent, ago, t.Open())
	}
	if more.Unended != "" {
		text += fmt.Sprintf(". Its turn %d was cut off", t.Open())
	}
	return text + ".\n"
}

// unsureText describes an action, and returns "" if nothing speaks against a resume.
func unsureText(v freshness.Verdict) string {
	switch {
	case v.Action == freshness.PromptUser && v.AutoResume:
		return "yes, and files that changed since stay as they are"
	case v.Action == freshness.Resume:
		return ""
	}
	return actionText(v, "a person")
}

// pointLines adds the lines about the point at which the work goes on.
func pointLines(line func(less, limit int, name, text string), j *Standing, more PromptMore) {
	line(0, promptText, "Next", j.NextText())
	point := ""
	if at := j.Verdict.At; at.Code != "" || at.Complete {
		point = j.ContinueFrom()
	}
	if point != "" || !more.isRequestNewer(j.Record) {
		age := ""
		if _, own := PointTurn(j.Record); own {
			age = writtenText(j.Record.AgentTurn(), "resume_from")
		}
		line(0, promptText, "Continue from"+age, cmp.Or(point, noPoint))
	}
	line(1, promptText, "Changed in "+more.ChangedIn, List(Few(more.Changed, fewChanged)))
}

// fewChanged limits the files of a line.
const fewChanged = 8

// noPoint is the point of a record without one, which leaves only the files and notes.
const noPoint = "the files and notes of the checkpoint; it has no resume point"

// writtenText returns the age of a text that later saves have kept, such as " (written in turn
// 20, 10 turns ago)". It returns "" if no turn has ended since.
func writtenText(t checkpoint.AgentTurn, key string) string {
	at := max(t.Written[key], 1)
	if t.Number <= at {
		return ""
	}
	return fmt.Sprintf(" (written in turn %d, %s ago)", at, Plural(t.Number-at, "turn"))
}

// warningsOf returns the warnings of a verdict, except those about running tasks and about changed
// files, which have their own lines.
func warningsOf(v freshness.Verdict, more PromptMore) []string {
	v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r freshness.Reason) bool {
		return r.Check == "tasks" && strings.HasSuffix(r.Message, " was running and has no output") ||
			r.Check == filesCheck && len(more.Skipped) > 0 && strings.Contains(r.Message, " changed since checkpoint: ")
	})
	return v.Warnings()
}

// manyPhases is the number of phases from which those that are not current are counted.
const manyPhases = 30

// phasesText lists the phases with their states and titles, such as "1 Token model done; 2
// Middleware in progress; 3 Tests open".
func phasesText(r *checkpoint.Record, at progress.Point, titles map[string]string) string {
	all := Phases(r.Progress(), at)
	var texts []string
	counts := map[string]int{}
	for _, p := range all {
		if counts[p.State]++; len(all) <= manyPhases || p.State == PhaseCurrent {
			texts = append(texts, words(p.Name, titles[p.Name], p.State))
		}
	}
	if len(all) > manyPhases {
		texts = append([]string{fmt.Sprintf("%d done", counts["done"])}, append(texts, fmt.Sprintf("%d open", counts["open"]))...)
	}
	return strings.Join(texts, "; ")
}

// taskStates lists the tasks by their state, such as "2 of 4 done: T1, T2; running: T3 (since
// turn 20); ready: T4".
func taskStates(r *checkpoint.Record) string {
	l, started := tasks.Of(r), r.AgentTurn().Started
	all := l.All()
	if len(all) == 0 {
		return ""
	}
	by := map[string][]string{}
	ready := l.Ready()
	for _, t := range all {
		word, id := t.Status, t.ID
		switch {
		case t.Over():
			word = "done"
		case t.Status == tasks.Running && r.AgentTurn().Number > 0:
			id += fmt.Sprintf(" (since turn %d)", max(started[id], 1))
		case slices.Contains(ready, id):
			word = "ready"
		}
		by[word] = append(by[word], id)
	}
	texts := []string{fmt.Sprintf("%d of %d done: %s", len(by["done"]), len(all), List(Few(by["done"], promptKind)))}
	if len(by["done"]) == 0 {
		texts[0] = fmt.Sprintf("0 of %d done", len(all))
	}
	for _, word := range []string{tasks.Running, tasks.Failed, tasks.Blocked, "ready", tasks.Queued, tasks.Pending} {
		if len(by[word]) > 0 {
			texts = append(texts, word+": "+List(Few(by[word], promptKind)))
		}
	}
	return strings.Join(texts, "; ")
}
