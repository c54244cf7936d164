package freshness

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/checkpoint"
)

// TestLabelsAreSets checks that order and repetition of labels are ignored and that case
// counts.
func TestLabelsAreSets(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, now []string
		changed     bool
	}{
		{"other order", []string{"a", "b", "c"}, []string{"c", "a", "b"}, false},
		{"twice", []string{"a", "b"}, []string{"b", "a", "b"}, false},
		{"both empty", []string{}, nil, false},
		{"case", []string{"Bug"}, []string{"bug"}, true},
		{"same number", []string{"a", "b"}, []string{"a", "c"}, true},
		{"first one", []string{}, []string{"a"}, true},
		{"with a comma", []string{"a, b"}, []string{"a", "b"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := fresh()
			s := w.record.IssueSnapshot()
			s.Labels = c.before
			w.record.SetIssueSnapshot(s)
			w.facts.Issue.Labels = c.now
			assert.Equal(t, c.changed, len(w.judge().Reasons) > 0)
		})
	}
}

func TestPhaseFollowsLabel(t *testing.T) {
	for _, c := range []struct {
		name  string
		now   []string
		rules Rules
		names []string
		phase string
	}{
		{name: "crunch's phases", now: []string{"state:docs"}, phase: "docs"},
		{name: "configured phases", now: []string{"state:build"}, rules: Rules{Phases: []string{"plan", "build"}}, phase: "build"},
		{name: "configured phases replace crunch's", now: []string{"state:docs"}, rules: Rules{Phases: []string{"plan"}}},
		{name: "phases of the record", now: []string{"state:ship"}, names: []string{"ship"}, phase: "ship"},
		{name: "mapped, another shape", now: []string{"In Progress"}, rules: Rules{LabelsToPhase: map[string]string{"In Progress": "implementing"}}, phase: "implementing"},
		{name: "none", now: []string{"type:bug"}},
		{name: "the same one", now: []string{"state:implementing", "new"}},
		{name: "the same one twice", now: []string{"state:docs", "state:docs"}, phase: "docs"},
		{name: "nothing changed", now: []string{"state:implementing", "type:feature"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := fresh()
			w.facts.Issue.Labels, w.rules = c.now, c.rules
			if c.names != nil {
				w.progress("", nil, c.names)
			}
			v := w.judge()
			assert.Equal(t, c.phase, v.Phase)
		})
	}
}

func TestPhaseDetail(t *testing.T) {
	w := fresh()
	w.record.SetPhase("docs")
	w.facts.Issue.Labels = []string{"state:docs"}
	assert.Contains(t, w.judge().Reasons[0].Detail, "phase: docs, as recorded")
	w.record.SetPhase("")
	assert.Contains(t, w.judge().Reasons[0].Detail, "phase: none -> docs")
}

func TestBody(t *testing.T) {
	for _, c := range []struct {
		name, before, now string
		changed           bool
	}{
		{"same", "a\nb", "a\nb", false},
		{"line endings", "a\r\nb\r\n", "a\nb", false},
		{"white space at the end", "a\n\n \t", "a", false},
		{"both empty", "", "", false},
		{"empty but for space", "", "\n", false},
		{"white space inside", "a b", "a  b", true},
		{"white space in front", " a", "a", true},
		{"a lone CR", "a\rb", "a\nb", true},
		{"one character", "a", "b", true},
		{"was empty", "", "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := fresh()
			s := w.record.IssueSnapshot()
			s.Body = c.before
			w.record.SetIssueSnapshot(s)
			w.facts.Issue.Body = c.now
			assert.Equal(t, c.changed, len(w.judge().Reasons) > 0)

			w.digest(BodyDigest(c.before))
			assert.Equal(t, c.changed, len(w.judge().Reasons) > 0, "by digest")
		})
	}
}

// TestFieldsNotRecorded reads a foreign snapshot that has only a title.
func TestFieldsNotRecorded(t *testing.T) {
	w := fresh()
	snapshot, title := checkpoint.NewMap(), "Refresh tokens"
	snapshot.Set("title", title)
	snapshot.Set("body", nil)
	w.record.Doc().Set("issue_snapshot", snapshot)
	assert.Empty(t, w.judge().Reasons)
	w.facts.Issue.Title = "x"
	assert.Equal(t, []string{"Issue title changed since checkpoint"}, w.judge().Warnings())
}

func TestFieldsNotInTheSource(t *testing.T) {
	w := fresh()
	w.facts.Issue = &SourceIssue{Absent: []string{"title", "body", "labels", "assignees", "state"}}
	assert.Equal(t, []string{
		"Issue title not checked: the source does not have it",
		"Issue body not checked: the source does not have it",
		"Issue labels not checked: the source does not have it",
		"Issue assignees not checked: the source does not have it",
		"Issue state not checked: the source does not have it",
	}, w.judge().Warnings())

	w.record.SetIssueSnapshot(checkpoint.IssueSnapshot{Known: true})
	assert.Empty(t, w.judge().Reasons, "nothing was recorded that could have changed")
}

func TestIssueState(t *testing.T) {
	for _, c := range []struct {
		before, now string
		warn        bool
	}{
		{"open", "closed", true},
		{"", "closed", true},
		{"closed", "closed", false},
		{"closed", "open", false},
		{"open", "open", false},
	} {
		w := fresh()
		s := w.record.IssueSnapshot()
		s.State = c.before
		w.record.SetIssueSnapshot(s)
		w.facts.Issue.State = c.now
		assert.Equal(t, c.warn, len(w.judge().Reasons) > 0, "%q to %q", c.before, c.now)
	}
}

// TestDetached checks that a save on a detached HEAD causes no branch finding.
func TestDetached(t *testing.T) {
	for _, state := range []BranchState{BranchUnchecked, BranchExists, BranchGone, BranchUnseen} {
		w := fresh()
		w.record.SetBranch("")
		w.facts.Branch.State = state
		assert.Empty(t, w.judge().Reasons, "state %d", state)
	}
}

func TestTime(t *testing.T) {
	for _, c := range []struct {
		name string
		age  time.Duration
		text string
	}{
		{name: "now"},
		{name: "clocks differ a little", age: -time.Minute},
		{name: "future", age: -61 * time.Second, text: "is in the future"},
		{name: "at the tolerance", age: -14 * time.Hour, text: "is in the future"},
		{name: "beyond it", age: -14*time.Hour - time.Second, text: "is more than 14 h in the future: a clock is wrong"},
		{name: "centuries ahead", age: -280 * 365 * 24 * time.Hour, text: "is more than 14 h in the future"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := fresh()
			w.record.SetCreatedAt(noon.Add(-c.age))
			v := w.judge()
			if c.text == "" {
				assert.Empty(t, v.Reasons)
				return
			}
			require.Len(t, v.Reasons, 1)
			assert.Contains(t, v.Reasons[0].Message, c.text)
			assert.Equal(t, ProceedWithWarning, v.Action, "never corrupted")
		})
	}
}

func TestProgress(t *testing.T) {
	names := []string{"plan", "build", "test", "ship"}
	for _, c := range []struct {
		name      string
		current   string
		completed string
		names     []string
		phases    []string
		skipped   string
		again     string // phase that was started again
		bad       bool
	}{
		{name: "nothing done", current: "test", names: names},
		{name: "in order", current: "test", completed: "plan build", names: names},
		{name: "written in another order", current: "test", completed: "build plan", names: names},
		{name: "done, not advanced yet", current: "build", completed: "plan build", names: names},
		{name: "all done", current: "ship", completed: "plan build test ship", names: names},
		{name: "a gap", current: "ship", completed: "plan test", names: names, bad: true},
		{name: "a gap that was skipped", current: "ship", completed: "plan test", names: names, skipped: "build"},
		{name: "a gap that was begun again", current: "build", completed: "plan test", names: names, again: "build"},
		{name: "the first begun again", current: "1", completed: "2 3", again: "1"},
		{name: "another one begun again", current: "ship", completed: "plan test", names: names, again: "test", bad: true},
		{name: "one of two gaps begun again", current: "plan", completed: "test", names: names, again: "plan", bad: true},
		{name: "first one missing", current: "test", completed: "build", names: names, bad: true},
		{name: "current too early", current: "plan", completed: "plan build test", names: names, bad: true},
		{name: "current too late", current: "ship", completed: "plan", names: names, bad: true},
		{name: "current unknown", current: "party", completed: "plan", names: names},
		{name: "no current", completed: "plan", names: names},
		{name: "a phase outside the order", current: "build", completed: "plan dance", names: names},
		{name: "configured order", current: "b", completed: "a", phases: []string{"a", "b", "c"}},
		{name: "against the configured order", current: "c", completed: "a", phases: []string{"a", "b", "c"}, bad: true},
		{name: "the record's names win", current: "build", completed: "plan", names: names, phases: []string{"build", "plan"}},
		{name: "numbers", current: "3", completed: "1 2"},
		{name: "numbers with a gap", current: "4", completed: "1 3", bad: true},
		{name: "number too late", current: "9", completed: "1 2", bad: true},
		{name: "numbers from 0", current: "1", completed: "0"},
		{name: "numbers and letters", current: "4b", completed: "1 2 3 4a"},
		{name: "huge number", current: "1", completed: "99999999999999999999"},
		{name: "large number", current: "1", completed: "9007199254740993", bad: true},
		{name: "names without an order", current: "x", completed: "b a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := fresh()
			w.rules.Phases = c.phases
			w.progress(c.current, strings.Fields(c.completed), c.names)
			if c.skipped != "" {
				require.NoError(t, w.record.Doc().Assign("progress.skipped", []any{c.skipped}))
			}
			if c.again != "" {
				require.NoError(t, w.record.Doc().Assign("progress.phases."+c.again+".attempt", 2))
			}
			v := w.judge()
			assert.Equal(t, c.bad, len(v.Reasons) > 0)
			if c.bad {
				assert.Equal(t, []string{"Phases are out of order"}, v.Warnings())
				assert.Equal(t, PromptUser, v.Action)
			}
		})
	}
}

// TestApprovals reads approvals from the record, as text or list.
func TestApprovals(t *testing.T) {
	for _, c := range []struct {
		name   string
		stored any
		want   []string
	}{
		{"none", nil, nil},
		{"text", "design", []string{"design"}},
		{"number", checkpoint.Number("3"), []string{"3"}},
		{"list", []any{"b", "a"}, []string{"a", "b"}},
		{"once each", []any{"design", "ship", "design"}, []string{"design", "ship"}},
		{"empty text", "", nil},
		{"something else", true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := fresh()
			if c.stored != nil {
				require.NoError(t, w.record.Doc().Assign("progress.awaiting_approval", c.stored))
			}
			var want []string
			for _, phase := range c.want {
				want = append(want, "Approval of phase "+phase+" is pending")
			}
			assert.Equal(t, want, w.judge().Warnings())
		})
	}
}

// Tokens that are read from a cache do not count, and 0 is no limit.
func TestTokensUpToTheLimit(t *testing.T) {
	for limit, want := range map[int64]Action{0: Resume, 999: PromptUser, 1000: Resume} {
		w := fresh()
		w.record.SetSpent([]checkpoint.Spent{{Tokens: checkpoint.Tokens{Input: 500, CacheRead: 9000}}, {Phase: "docs", Tokens: checkpoint.Tokens{Output: 200, CacheWrite: 300}}})
		w.rules.MaxTokens = limit
		assert.Equal(t, want, w.judge().Action, limit)
		assert.Equal(t, want == Resume, w.judge().AutoResume, limit)
	}
}

// TestHostileText checks that control characters and shell syntax in a record never reach
// a terminal or command line unquoted.
func TestHostileText(t *testing.T) {
	w := fresh()
	w.record.SetBranch("x\x1b[2J")
	w.facts.Branch.State = BranchUnseen
	w.facts.Issue.Title, w.facts.Issue.Body = "\x1b]0;t\a", "\x1b[1m\u202e"
	w.facts.Issue.Labels = []string{"\x9b31m"}
	w.facts.Files.Changed, w.facts.Outputs.Missing = []string{"\r\nok"}, []string{"\x00"}
	w.record.SetWarnings([]string{"\x1b[0m"})
	for _, r := range w.judge().Reasons {
		for _, s := range append(r.Detail, r.Message, r.Hint) {
			assert.Equal(t, s, strings.Map(func(c rune) rune {
				if c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u202e' {
					return -1
				}
				return c
			}, s))
		}
	}

	w = fresh()
	w.record.SetBranch("$(reboot)'s")
	w.facts.Branch.State = BranchGone
	assert.Equal(t, `git switch -c '$(reboot)'\''s' c0ffee00c0ff^2^`, w.judge().Reasons[0].Hint)
	w.facts.Commit = ""
	assert.Empty(t, w.judge().Reasons[0].Hint, "no commit, no command")
}

// order lists all checks in documented order; the caller's findings come last.
var order = []string{
	"labels", "body", "branch", "can_resume", "head", "base", "files", "outputs",
	"time", "progress", "tasks", "story", "approval", TokensCheck, "workflow", "command", "issue", "record", "loop", "gate",
}

// TestWorstWins evaluates random sets of findings. The worst action wins, and all reasons are in
// documented order.
func TestWorstWins(t *testing.T) {
	for seed := range int64(2000) {
		r := rand.New(rand.NewSource(seed))
		w := fresh()
		for range r.Intn(8) {
			findings[r.Intn(len(findings))].change(apartFromNil(w))
		}
		v := w.judge()
		worst, place := Resume, 0
		for _, reason := range v.Reasons {
			worst = max(worst, reason.Action)
			require.NotEmpty(t, reason.Message)
			next := slices.Index(order, reason.Check)
			require.GreaterOrEqual(t, next, place, "seed %d", seed)
			place = next
		}
		require.Equal(t, worst, v.Action, "seed %d", seed)
		require.Equal(t, worst != StartFresh, v.CanResume)

		again := w.judge()
		require.Equal(t, v, again, "seed %d: judging changes nothing", seed)
		if w.facts.Issue != nil {
			slices.Reverse(w.facts.Issue.Labels)
			require.Equal(t, v, w.judge(), "seed %d: order of labels", seed)
		}
	}
}

// apartFromNil adds an issue if an earlier change removed it.
func apartFromNil(w *world) *world {
	if w.facts.Issue == nil {
		w.facts.Issue = &SourceIssue{}
	}
	return w
}

func FuzzBody(f *testing.F) {
	for _, s := range []string{"", "a\r\nb", "\n\n", "\xff", "a\x00"} {
		f.Add(s, "b")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		w := fresh()
		s := w.record.IssueSnapshot()
		s.Body = a
		w.record.SetIssueSnapshot(s)
		w.facts.Issue.Body = b
		changed := w.judge().Action == PromptUser
		require.Equal(t, normal(a) != normal(b), changed)
		require.Equal(t, BodyDigest(a) != BodyDigest(b), changed)
	})
}
