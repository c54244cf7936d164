package freshness

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

func checkProgress(in input) []Reason {
	p := in.record.Progress()
	var out []Reason
	if len(set(p.Completed)) != len(p.Completed) {
		r := reason("progress", ProceedWithWarning, "Completed phases are recorded twice")
		r.Detail = listed("completed", p.Completed)
		out = append(out, r)
	}
	return append(out, in.outOfOrder(p)...)
}

// outOfOrder reports a completed or current phase whose predecessors are incomplete.
// Skipped phases count as completed. If the order is unknown or lacks a phase, it returns
// no finding.
func (in input) outOfOrder(p checkpoint.Progress) []Reason {
	place := in.order(p)
	var done []int
	for _, name := range slices.Concat(p.Completed, p.Skipped) {
		n, ok := place(name)
		if !ok {
			return nil
		}
		done = append(done, n)
	}
	slices.Sort(done)
	done = slices.Compact(done)
	if len(done) == 0 || in.begunAgain(place, done) {
		return nil
	}
	gap := done[len(done)-1] != len(done)-1
	now := cmp.Or(p.Current, in.record.Phase())
	current, ok := place(now)
	if !gap && (!ok || current >= len(done)-1 && current <= len(done)) {
		return nil
	}
	r := corrupt(reason("progress", PromptUser, "Phases are out of order"))
	r.Detail = append(listed("completed", p.Completed), "current: "+phaseName(now))
	return []Reason{r}
}

// order returns a function that maps a phase to its zero-based position: in the record's
// names, in the configured phases, or by phase number.
func (in input) order(p checkpoint.Progress) func(string) (int, bool) {
	names := p.Names
	if len(names) == 0 {
		names = in.rules.Phases
	}
	if len(names) > 0 {
		return func(s string) (int, bool) {
			n := slices.Index(names, s)
			return n, n >= 0
		}
	}
	return func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n - 1, err == nil && n > 0
	}
}

// begunAgain reports whether every missing phase before the last completed phase was
// started a second time, for example after a new plan.
func (in input) begunAgain(place func(string) (int, bool), done []int) bool {
	last := done[len(done)-1]
	missing := last + 1 - len(done)
	v, _ := in.record.Doc().Lookup("progress.phases")
	phases, _ := v.(*checkpoint.Map)
	again := 0
	for phase, v := range phases.All() {
		m, _ := v.(*checkpoint.Map)
		attempt, _ := m.Get("attempt")
		text, _ := attempt.(checkpoint.Number)
		count, _ := text.Int()
		if n, ok := place(phase); ok && n < last && count > 1 && !slices.Contains(done, n) {
			again++
		}
	}
	return missing > 0 && again == missing
}

func checkApproval(in input) []Reason {
	var out []Reason
	for _, phase := range in.awaiting() {
		out = append(out, reason("approval", PromptUser, "Approval of phase %s is pending", printable(phase)))
	}
	return out
}

// TokensCheck is the check of the tokens that turns of agents spent.
const TokensCheck = "tokens"

func checkTokens(in input) []Reason {
	spent := checkpoint.SumOf(in.record.AgentTurn().Spent).New()
	if limit := in.rules.MaxTokens; limit == 0 || spent <= limit {
		return nil
	}
	return []Reason{reason(TokensCheck, PromptUser, "The turns spent %d tokens, and limits.tokens is %d", spent, in.rules.MaxTokens)}
}

// awaiting returns phases that wait for an approval, from the record and from
// Facts.Approvals, without phases approved just now.
func (in input) awaiting() []string {
	return minus(set(append(in.record.Awaiting(), in.facts.Approvals...)), set(in.facts.Approved))
}

// checkTasks reports tasks that were running at the checkpoint. It cannot check whether
// they still run, only whether their output exists.
func checkTasks(in input) []Reason {
	l := tasks.Of(in.record)
	var out []Reason
	for _, t := range l.Running() {
		r := reason("tasks", ProceedWithWarning, "Task %s was running and has no output", printable(t.ID))
		switch f := in.facts.Tasks[t.ID]; {
		case f.Broken:
			r.Message = "Task " + printable(t.ID) + " was running and its output is invalid"
		case f.Exists:
			r.Message = "Task " + printable(t.ID) + " was running and its output exists"
		}
		out = append(out, r)
	}
	if out = capped("tasks", "task", "more were running", out); len(out) > 0 {
		out[len(out)-1].Hint = in.settle() // on the last finding only: one command recovers all tasks
	}
	if w := l.BatchWarning(); w != "" {
		out = append(out, reason("tasks", ProceedWithWarning, "%s", w))
	}
	return out
}

// maxItems limits the number of tasks or stories reported individually.
const maxItems = 20

// capped replaces findings above the limit by one with their number and the text.
func capped(check, what, text string, all []Reason) []Reason {
	if len(all) <= maxItems {
		return all
	}
	more := reason(check, ProceedWithWarning, "%s %s", count(len(all)-maxItems+1, what), text)
	return append(all[:maxItems-1:maxItems-1], more)
}

// sentence returns an error text with an upper-case letter at its beginning.
func sentence(text string) string {
	text = printable(text)
	return strings.ToUpper(text[:1]) + text[1:]
}

// settle returns a command that recovers abandoned tasks. The command names the issue,
// because the current branch may belong to another issue.
func (in input) settle() string {
	words := []string{"git", "checkpoint", "task", "recover"}
	if in.facts.Name != "" {
		words = append(words, "--issue", in.facts.Name)
	}
	return command(words...)
}

// checkStory reports a story that paused because it exceeded a limit and needs a decision
// of the user. For a lead it reports such stories, and stories whose own record has another
// state than the lead's.
func checkStory(in input) (found []Reason) {
	if !story.Is(in.record) {
		for _, s := range in.facts.Stories {
			if text := s.Conflict(); text != "" {
				r := reason("story", ProceedWithWarning, "%s", sentence(text))
				r.Hint = in.settle()
				found = append(found, r)
			}
			var over *story.LimitError
			if errors.As(story.Err(in.record, s.Story), &over) && over.What != "" {
				found = append(found, reason("story", ProceedWithWarning, "%s", sentence(over.Error())))
			}
		}
		return capped("story", "finding", "about other stories", found)
	}
	if err := story.Err(in.record, story.Of(in.record)); err != nil {
		found = append(found, reason("story", PromptUser, "%s", sentence(err.Error())))
	}
	return found
}
