package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// ForkText describes the source of a fork, such as "fork a of issue 42, from CP-...". It returns
// "" for other issues.
func ForkText(f checkpoint.Fork) string {
	if f == (checkpoint.Fork{}) {
		return ""
	}
	return fmt.Sprintf("%s, from %s", ForkName(f), f.ID)
}

// ForkName returns the name of a fork, such as "fork a of issue 42", or "" for other issues.
func ForkName(f checkpoint.Fork) string {
	if f == (checkpoint.Fork{}) {
		return ""
	}
	return fmt.Sprintf("fork %s of issue %s", f.Name, f.Issue)
}

// ForkRows returns a row for ForkText, or nothing.
func ForkRows(f checkpoint.Fork) []Row {
	return Filled(Row{Label: "Fork", Text: ForkText(f)})
}

// ForkRecord returns the source of a fork for a JSON record, or nil.
func ForkRecord(f checkpoint.Fork) *checkpoint.Fork {
	if f == (checkpoint.Fork{}) {
		return nil
	}
	return &f
}

// An Attempt is the newest state of an issue in a comparison of attempts.
type Attempt struct {
	Issue  checkpoint.Issue
	ID     checkpoint.ID
	Change *gitstore.Totals  // since the source of the fork, nil if unknown
	Since  time.Duration     // from the fork to the newest state, negative if unknown
	Turns  int               // ended turns of agents since the fork
	Tokens checkpoint.Tokens // of these turns, zero if unknown
	Result string            // of the command: ok, failed, skipped, or "" without a command
	Code   int               // exit code of the command, -1 after a signal
	Best   bool
}

// Results of a command.
const (
	ResultOK      = "ok"
	ResultFailed  = "failed"
	ResultSkipped = "skipped"
)

// MarkBest marks the best attempt: the command succeeds, and the fewest lines are changed, then
// the fewest files. The first of equal attempts wins. Without a success, no attempt is marked.
func MarkBest(list []Attempt) {
	var best *Attempt
	for n := range list {
		a := &list[n]
		if a.Result == ResultOK && a.Change != nil && (best == nil || a.cost(best) < 0) {
			best = a
		}
	}
	if best != nil {
		best.Best = true
	}
}

func (a *Attempt) cost(b *Attempt) int {
	lines := func(a *Attempt) int { return a.Change.Added + a.Change.Deleted }
	return cmp.Or(cmp.Compare(lines(a), lines(b)), cmp.Compare(a.Change.Files, b.Change.Files))
}

// Text returns turns, time and tokens, such as "2 turns, 5m, 12k in, 300 out".
func (a *Attempt) Text() string {
	var parts []string
	if a.Turns > 0 {
		parts = append(parts, Plural(a.Turns, "turn"))
	}
	if a.Since >= 0 {
		parts = append(parts, Lasted(a.Since))
	}
	if text := TokensText(a.Tokens); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// attemptHead has the column names of a comparison.
var attemptHead = []string{"issue", "result", "files", "lines", "time", "turns", "tokens", "verdict"}

func (a *Attempt) row() []string {
	result, files, lines, since, verdict := cmp.Or(a.Result, "-"), "?", "?", "?", ""
	if a.Result == ResultFailed {
		result = fmt.Sprintf("failed (%d)", a.Code)
	}
	if n := a.Change; n != nil {
		files, lines = strconv.Itoa(n.Files), ChangedLines(n)
	}
	if a.Since >= 0 {
		since = Lasted(a.Since)
	}
	if a.Best {
		verdict = "best"
	}
	tokens := cmp.Or(TokensText(a.Tokens), "-")
	return []string{string(a.Issue), result, files, lines, since, strconv.Itoa(a.Turns), tokens, verdict}
}

// Lasted returns a duration such as "12s", "5m" or "3h".
func Lasted(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return Briefly(time.Time{}, time.Time{}.Add(d))
}

// Attempts renders a comparison as a table.
func (s Screen) Attempts(list []Attempt) string {
	rows := [][]string{attemptHead}
	for n := range list {
		rows = append(rows, list[n].row())
	}
	return s.Columns(rows)
}

// AttemptsMarkdown renders a comparison as a table in Markdown.
func AttemptsMarkdown(list []Attempt) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(attemptHead)
	b.WriteString("|" + strings.Repeat(" --- |", len(attemptHead)) + "\n")
	for n := range list {
		row := list[n].row()
		row[0] = strings.ReplaceAll(Code(row[0]), "|", `\|`)
		line(row)
	}
	return b.String()
}

// AttemptRecords returns the JSON records of a comparison.
func AttemptRecords(list []Attempt) (records []AttemptRecord) {
	for n := range list {
		a := &list[n]
		r := AttemptRecord{Issue: string(a.Issue), CheckpointID: string(a.ID), Result: a.Result, Turns: a.Turns, Best: a.Best}
		if a.Result != "" {
			r.ExitCode = &a.Code
		}
		if a.Since >= 0 {
			r.Seconds = new(int(a.Since / time.Second))
		}
		if a.Tokens != (checkpoint.Tokens{}) {
			r.Tokens = &a.Tokens
		}
		if n := a.Change; n != nil {
			r.FilesChanged, r.LinesAdded, r.LinesDeleted = &n.Files, &n.Added, &n.Deleted
		}
		records = append(records, r)
	}
	return records
}
