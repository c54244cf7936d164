package freshness

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
)

// checkProgress reports phases that are recorded twice, and a completed or current phase whose
// predecessors are incomplete. Skipped phases count as completed. If the order is unknown or
// lacks a phase, it reports nothing about the order.
func checkProgress(in input) {
	p := in.record.Progress()
	if len(set(p.Completed)) != len(p.Completed) {
		in.add("progress", ProceedWithWarning, "Completed phases are recorded twice").Detail = listed("completed", p.Completed)
	}
	names := p.Names
	if len(names) == 0 {
		names = in.rules.Phases
	}
	place := func(phase string) (int, bool) { return progress.Place(names, phase) }
	var done []int
	for _, name := range slices.Concat(p.Completed, p.Skipped) {
		n, ok := place(name)
		if !ok {
			return
		}
		done = append(done, n)
	}
	slices.Sort(done)
	done = slices.Compact(done)
	if len(done) == 0 || in.begunAgain(place, done) {
		return
	}
	gap := done[len(done)-1] != len(done)-1
	now := cmp.Or(p.Current, in.record.Phase())
	current, ok := place(now)
	if !gap && (!ok || current >= len(done)-1 && current <= len(done)) {
		return
	}
	r := in.add("progress", PromptUser, "Phases are out of order")
	r.Corrupt, r.Detail = true, append(listed("completed", p.Completed), "current: "+phaseName(now))
}

// begunAgain reports whether every missing phase before the last completed phase was
// started a second time, for example after a new plan.
func (in input) begunAgain(place func(string) (int, bool), done []int) bool {
	last := done[len(done)-1]
	missing := last + 1 - len(done)
	again := 0
	for phase, m := range in.record.Doc().Sub("progress").Sub("phases").Subs() {
		if n, ok := place(phase); ok && n < last && m.Int("attempt") > 1 && !slices.Contains(done, n) {
			again++
		}
	}
	return missing > 0 && again == missing
}

func checkApproval(in input) {
	for _, phase := range in.awaiting() {
		in.add("approval", PromptUser, "Approval of phase %s is pending", failure.Printable(phase))
	}
}

// TokensCheck is the check of the tokens that turns of agents spent.
const TokensCheck = "tokens"

func checkTokens(in input) {
	spent := checkpoint.SumOf(in.record.AgentTurn().Spent).New()
	if limit := in.rules.MaxTokens; limit != 0 && spent > limit {
		in.add(TokensCheck, PromptUser, "The turns spent %d tokens, and limits.tokens is %d", spent, limit)
	}
}

// awaiting returns phases that wait for an approval, without phases approved just now.
func (in input) awaiting() []string {
	return minus(set(in.record.Awaiting()), set(in.facts.Approved))
}

// checkTasks reports tasks that were running at the checkpoint. It cannot check whether
// they still run, only whether their output exists.
func checkTasks(in input) {
	l, from := tasks.Of(in.record), len(*in.found)
	for _, t := range l.Running() {
		state := "has no output"
		switch f := in.facts.Tasks[t.ID]; {
		case f.Broken:
			state = "its output is invalid"
		case f.Exists:
			state = "its output exists"
		}
		in.add("tasks", ProceedWithWarning, "Task %s was running and %s", failure.Printable(t.ID), state)
	}
	if last := in.capped(from, "tasks", "task", "more were running"); last != nil {
		last.Hint = in.settle() // one command recovers all tasks
	}
	if w := l.BatchWarning(); w != "" {
		in.add("tasks", ProceedWithWarning, "%s", w)
	}
}

// maxItems limits the number of tasks or stories reported individually.
const maxItems = 20

// capped limits the findings after an index. If there are more, the last finding has the number of the
// others and the text. capped returns the last finding, or nil.
func (in input) capped(from int, check, what, text string) *Reason {
	n := len(*in.found) - from
	if n > maxItems {
		*in.found = (*in.found)[:from+maxItems-1]
		return in.add(check, ProceedWithWarning, "%s %s", failure.Plural(n-maxItems+1, what), text)
	}
	if n == 0 {
		return nil
	}
	return &(*in.found)[from+n-1]
}

// sentence returns an error text with an upper-case letter at its beginning.
func sentence(text string) string {
	text = failure.Printable(text)
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
func checkStory(in input) {
	if story.Is(in.record) {
		if err := story.Err(in.record, story.Of(in.record)); err != nil {
			in.add("story", PromptUser, "%s", sentence(err.Error()))
		}
		return
	}
	from := len(*in.found)
	for _, s := range in.facts.Stories {
		if text := s.Conflict(); text != "" {
			in.add("story", ProceedWithWarning, "%s", sentence(text)).Hint = in.settle()
		}
		if over, ok := errors.AsType[*story.LimitError](story.Err(in.record, s.Story)); ok && over.What != "" {
			in.add("story", ProceedWithWarning, "%s", sentence(over.Error()))
		}
	}
	in.capped(from, "story", "finding", "about other stories")
}
