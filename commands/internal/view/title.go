package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// Title returns the title of a checkpoint on one line: the first line of its note, else of
// the summary if this save wrote it, else the event of the save, such as "Batch 12 done".
//
// r is the record of the checkpoint and before is the record of the checkpoint before it.
// Both can be nil; the title then has fewer details. Texts are not cleaned.
func Title(cp *gitstore.Checkpoint, r, before *checkpoint.Record) string {
	note := FirstLine(strings.TrimSpace(cp.Note))
	switch {
	case note == "":
		return cmp.Or(newSummary(r, before), Event(cp, r))
	case cp.Trigger == checkpoint.Turn && note == HandNote("") && r != nil && r.AgentTurn().Number > 0:
		return upperFirst(handName(r.AgentTurn().Number))
	case cp.Trigger == checkpoint.Turn && note == HandNote(""):
		return "By hand, before a turn"
	case cp.Trigger == checkpoint.Turn && r != nil && r.AgentTurn().Hand:
		return upperFirst(note)
	case cp.Trigger == checkpoint.Turn && r != nil:
		return words("Turn", number(r.AgentTurn().Number)) + ": " + note
	case cp.Trigger == checkpoint.Turn:
		return "Turn: " + note
	case cp.Trigger == checkpoint.PhaseTransition && cp.Phase != "" && strings.HasPrefix(note, cp.Phase+" "):
		return "Phase " + note // the note of a step, such as "build done"
	case cp.Trigger == checkpoint.PhaseTransition || cp.Trigger == checkpoint.TaskUpdate:
		return upperFirst(note)
	}
	return note
}

// HandNote returns the note of a checkpoint with the changes of a person before a turn, or with the
// changes while an agent was in a turn.
func HandNote(agent string) string {
	if agent == "" {
		return "by hand"
	}
	return "during a turn of " + agent
}

// newSummary returns the first line of a summary that the record before does not have. A
// save without a summary keeps the summary of the record before.
func newSummary(r, before *checkpoint.Record) string {
	if r == nil {
		return ""
	}
	text := strings.TrimSpace(r.Doc().Text("context_summary"))
	if before != nil && text == strings.TrimSpace(before.Doc().Text("context_summary")) {
		return ""
	}
	return FirstLine(text)
}

// Event returns the event that led to a checkpoint, such as "Session ended". r is its
// record, or nil.
func Event(cp *gitstore.Checkpoint, r *checkpoint.Record) string {
	if r == nil {
		r = checkpoint.New()
	}
	switch text, known := triggers[cp.Trigger]; {
	case cp.Trigger == "":
		return "Unknown event"
	case !known:
		return upperFirst(strings.ReplaceAll(string(cp.Trigger), "_", " "))
	default:
		return text.event(cp, r)
	}
}

// A triggerText says how lists and the page show checkpoints with a trigger.
type triggerText struct {
	event func(*gitstore.Checkpoint, *checkpoint.Record) string
	noun  string // in the title of a run: "7 batches"; "" if the checkpoints are in no run
	mark  string // category on the page
}

// Categories of triggers.
const (
	milestone = "milestone"
	batch     = "batch"
	agent     = "agent"
	stop      = "stop"
)

// triggers has a row for each known trigger.
var triggers = map[checkpoint.Trigger]triggerText{
	checkpoint.PhaseTransition: {phaseEvent, "", milestone},
	checkpoint.BatchComplete: {func(_ *gitstore.Checkpoint, r *checkpoint.Record) string {
		return words("Batch", number(r.CurrentBatch()-1), "done")
	}, "batch", batch},
	checkpoint.AgentComplete: {agentEvent, "agent result", agent},
	checkpoint.ConflictStart: {func(_ *gitstore.Checkpoint, r *checkpoint.Record) string {
		return words("Conflict", List(r.Conflicts()), "started")
	}, "", milestone},
	checkpoint.ConflictResolved: {always("Conflict resolved"), "", milestone},
	checkpoint.UserInterrupt:    {always("Interrupted"), "", stop},
	checkpoint.SessionEnd:       {always("Session ended"), "session end", stop},
	checkpoint.Manual:           {always("Saved by hand"), "", milestone},
	checkpoint.BatchStart: {func(_ *gitstore.Checkpoint, r *checkpoint.Record) string {
		return words("Batch", number(r.CurrentBatch()), "started")
	}, "batch start", batch},
	checkpoint.BeforeAgent:    {always("Before an agent"), "save before an agent", agent},
	checkpoint.BeforeParallel: {always("Before parallel work"), "save before an agent", agent},
	checkpoint.TaskUpdate:     {always("Tasks updated"), "task update", agent},
	checkpoint.Interval:       {always("Saved at an interval"), "interval save", stop},
	checkpoint.Turn: {func(_ *gitstore.Checkpoint, r *checkpoint.Record) string {
		return words("Turn", number(r.AgentTurn().Number), "of the agent")
	}, "turn", agent},
}

func always(text string) func(*gitstore.Checkpoint, *checkpoint.Record) string {
	return func(*gitstore.Checkpoint, *checkpoint.Record) string { return text }
}

// Category returns the category of a checkpoint: milestone, batch, agent, hand, stop or other.
func Category(cp *gitstore.Checkpoint) string {
	if isByHand(cp) {
		return "hand"
	}
	return cmp.Or(triggers[cp.Trigger].mark, "other")
}

// phaseEvent returns the change of a phase. A save starts a phase if the phase began at the
// time of the save.
func phaseEvent(cp *gitstore.Checkpoint, r *checkpoint.Record) string {
	const sameMoment = 2 * time.Second
	began := r.PhaseStartedAt()
	switch {
	case cp.Phase == "":
		return "Phase changed"
	case slices.Contains(r.Progress().Completed, cp.Phase):
		return words("Phase", cp.Phase, "done")
	case !began.IsZero() && cp.Created.Sub(began).Abs() < sameMoment:
		return words("Phase", cp.Phase, "started")
	}
	return words("Phase", cp.Phase)
}

// agentEvent returns the newest result of an agent in the record.
func agentEvent(_ *gitstore.Checkpoint, r *checkpoint.Record) string {
	newest, text := "", "Agent done"
	for agent, actions := range r.Doc().Sub("agent_outputs").All() {
		m, _ := actions.(*checkpoint.Map)
		for action, output := range m.All() {
			o, _ := output.(*checkpoint.Map)
			if at := o.Text("completed_at"); at >= newest {
				newest, text = at, words(agent, action, "done")
			}
		}
	}
	return text
}

// Foldable reports whether a list can show a checkpoint as a part of a run: an automatic save
// that nobody described or pinned. The note of a turn is its prompt, and does not count.
func Foldable(cp *gitstore.Checkpoint) bool {
	if cp.Pinned || !cp.Valid() || cp.Omitted > 0 || cp.Double || triggers[cp.Trigger].noun == "" {
		return false
	}
	return cp.Note == "" || cp.Trigger == checkpoint.Turn
}

// Runs groups checkpoints, given by their indexes in list and newest first. A run of three
// or more foldable checkpoints with the same phase and branch is one group. Each other
// checkpoint is a group of its own, and so is the newest checkpoint of the list.
func Runs(list []gitstore.Checkpoint, picked []int) [][]int {
	const fewest = 3
	var groups [][]int
	for at := 0; at < len(picked); {
		end := at + 1
		if first := &list[picked[at]]; Foldable(first) && picked[at] > 0 {
			for end < len(picked) && Foldable(&list[picked[end]]) && list[picked[end]].Phase == first.Phase && list[picked[end]].Branch == first.Branch {
				end++
			}
			if end-at < fewest {
				end = at + 1
			}
		}
		groups = append(groups, picked[at:end:end])
		at = end
	}
	return groups
}

// RunTitle returns the title of a run, newest first, such as "7 batches, 3 h".
func RunTitle(run []gitstore.Checkpoint) string {
	counts := map[string]int{}
	var order []string
	for i := range run {
		noun := triggers[run[i].Trigger].noun
		if isByHand(&run[i]) {
			noun = "change by hand"
		}
		if counts[noun] == 0 {
			order = append(order, noun)
		}
		counts[noun]++
	}
	parts := make([]string, len(order))
	for i, noun := range order {
		parts[i] = Plural(counts[noun], noun)
		if many := plurals[noun]; many != "" && counts[noun] > 1 {
			parts[i] = fmt.Sprintf("%d %s", counts[noun], many)
		}
	}
	text := List(parts)
	if minutes := int(run[0].Created.Sub(run[len(run)-1].Created) / time.Minute); minutes > 0 {
		text += ", " + Spent(minutes)
	}
	return text
}

// isByHand reports whether a checkpoint has what a person changed before a turn.
func isByHand(cp *gitstore.Checkpoint) bool {
	return cp.Trigger == checkpoint.Turn && cp.Note == HandNote("")
}

// plurals are the nouns of runs that Plural does not know.
var plurals = map[string]string{"batch": "batches", "change by hand": "changes by hand", "save before an agent": "saves before agents"}

// Ranges lists numbers in order, and three or more in sequence as a range: "1-4, 7, 8".
func Ranges(n []int) string {
	n = slices.Clone(n)
	slices.Sort(n)
	var out []string
	for i := 0; i < len(n); {
		end := i
		for end+1 < len(n) && n[end+1] <= n[end]+1 {
			end++
		}
		switch {
		case n[end]-n[i] >= 2:
			out = append(out, fmt.Sprintf("%d-%d", n[i], n[end]))
		case n[end] > n[i]:
			out = append(out, strconv.Itoa(n[i]), strconv.Itoa(n[end]))
		default:
			out = append(out, strconv.Itoa(n[i]))
		}
		i = end + 1
	}
	return List(out)
}

// Spent formats minutes in their two largest units: "2 d 5 h".
func Spent(minutes int) string {
	switch days, hours := minutes/(24*60), minutes/60%24; {
	case days > 0 && hours > 0:
		return fmt.Sprintf("%d d %d h", days, hours)
	case days > 0:
		return fmt.Sprintf("%d d", days)
	case hours > 0 && minutes%60 > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes%60)
	case hours > 0:
		return fmt.Sprintf("%d h", hours)
	}
	return fmt.Sprintf("%d min", minutes)
}

// words joins texts with spaces and leaves out empty texts.
func words(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), " ")
}

// number returns a positive number as text, and "" for others.
func number(n int) string {
	if n < 1 {
		return ""
	}
	return strconv.Itoa(n)
}

func upperFirst(s string) string {
	for i, r := range s {
		return string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}
	return s
}
