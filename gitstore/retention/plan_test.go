package retention

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/checkpoint"
)

var update = flag.Bool("update", false, "rewrite golden files")

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// planCases are histories, newest first. An item is the trigger's initials, an optional
// phase after a slash, and marks: ! pinned, ~ not resumable, ? invalid.
// want has one letter per item: K keep, d drop.
var planCases = []struct {
	name  string
	rules string
	items string
	want  string
}{
	{"empty chain", "", "", ""},
	{"one checkpoint", "", "ui", "K"},
	{"one checkpoint under keep none", "ui=0", "ui", "K"},
	{"phase transitions all stay", "", "pt/a pt/a pt/a pt/b", "KKKK"},
	{"conflict starts all stay", "", "cs cs cs cs cs", "KKKKK"},
	{"conflict resolutions all stay", "", "cr cr cr cr cr", "KKKKK"},
	{"manual ones all stay", "", "mn mn mn mn mn", "KKKKK"},
	{"batches keep three", "", "bc/a bc/a bc/a bc/a bc/a", "KKKdd"},
	{"batches keep three in each phase", "", "bc/a bc/b bc/a bc/b bc/a bc/b bc/a bc/b", "KKKKKKdd"},
	{"batches without a phase are a group", "", "bc bc/a bc bc bc bc/a", "KKKKdK"},
	{"exactly three batches", "", "bc/a bc/a bc/a", "KKK"},
	{"agents keep one a phase", "", "ac/a ac/a ac/b ac/b", "KdKd"},
	{"batch starts keep one a phase", "", "bs/a bs/a bs/b bs/b", "KdKd"},
	{"before agent keeps one a phase", "", "ba/a ba/a ba/b ba/b", "KdKd"},
	{"interrupts keep one", "", "ui/a ui/a ui/b", "Kdd"},
	{"session ends keep one", "", "se/a se/a se/b", "Kdd"},
	{"intervals keep one", "", "in/a in/a in/b", "Kdd"},
	{"phases do not split an interrupt", "", "mn ui/a ui/b ui/c", "KKdd"},
	{"a phase seen again is the same group", "", "ac/a ac/b ac/a", "KKd"},
	{"phases are compared as written", "", "ac/A ac/a ac/A", "KKd"},
	{"triggers do not share a count", "", "ui se in ui se in", "KKKddd"},
	{"batch start and complete are apart", "", "bs/a bc/a bs/a bc/a", "KKdK"},
	{"task updates keep one a phase", "", "tu/a tu/b tu/a", "KKd"},
	{"no row for a known trigger", "", "bp bp bp", "KKK"},
	{"unknown trigger stays", "", "mn xx xx xx", "KKKK"},
	{"unknown trigger with a rule", "xx=1", "mn xx xx xx", "KKdd"},
	{"known trigger without row, with a rule", "bp=1", "mn bp bp", "KKd"},
	{"minus one removes nothing", "bc=-1", "bc/a bc/a bc/a bc/a bc/a", "KKKKK"},
	{"minus one for interrupts", "ui=-1", "ui ui ui ui ui", "KKKKK"},
	{"none but the tip", "mn=0", "mn mn mn", "Kdd"},
	{"none below another tip", "ui=0", "mn ui ui", "Kdd"},
	{"none of one trigger only", "bc=0", "mn bc/a ui bc/b mn", "KdKdK"},
	{"one batch a phase", "bc=1", "bc/a bc/a bc/b bc/b", "KdKd"},
	{"a thousand keeps all there are", "bc=1000", "bc/a bc/a bc/a bc/a", "KKKK"},
	{"two manual ones", "mn=2", "mn mn mn mn", "KKdd"},
	{"two interrupts over phases", "ui=2", "ui/a ui/b ui/a", "KKd"},
	{"later rule wins", "ui=5 ui=1", "ui ui ui", "Kdd"},
	{"the tip counts in its group", "", "bc/a mn bc/a bc/a bc/a", "KKKKd"},
	{"invalid tip stays", "ui=0", "ui? ui", "KK"},
	{"resume would pick the second", "ui=0", "ui~ ui ui", "KKd"},
	{"resume would pick a deep one", "ui=0", "ui~ ui? ui~ ui? ui ui", "KdddKd"},
	{"nothing can be resumed", "ui=0", "ui~ ui? ui~", "Kdd"},
	{"not resumable and not valid", "ui=0", "mn~ ui~? ui", "KdK"},
	{"resume pick counts in its group", "", "ui~ ui ui", "KKd"},
	{"resume pick beyond three batches", "", "bc/a~ bc/a~ bc/a~ bc/a bc/a", "KKKKd"},
	{"tip is the resume pick", "ui=0", "ui ui", "Kd"},
	{"pinned stays", "", "ui ui! ui", "KKd"},
	{"pinned stays under keep none", "ui=0", "mn ui ui! ui", "KdKd"},
	{"pinned counts in its group", "", "mn ui! ui", "KKd"},
	{"several pins", "", "ui ui! ui! ui ui!", "KKKdK"},
	{"pinned and invalid stays", "ui=0", "mn ui?!", "KK"},
	{"pinned batch beyond three", "", "bc/a bc/a bc/a bc/a! bc/a", "KKKKd"},
	{"all protections at once", "ui=0", "ui~ ui! ui ui ui", "KKKdd"},
	{"a session as it happens", "", "ui/impl bc/impl bc/impl ac/impl bc/impl ac/impl bc/impl pt/ready ui/ready se/ready bc/ready mn/ready pt/enrich", "KKKKKddKdKKKK"},
	{"two conflicts in a long phase", "", "cr/v cs/v bs/v bc/v bs/v cr/v cs/v", "KKKKdKK"},
	{"everything none", "pt=0 cs=0 cr=0 mn=0 bc=0 ac=0 bs=0 ba=0 ui=0 se=0 in=0", "pt cs cr mn bc ac bs ba ui se in", "Kdddddddddd"},
	{"everything all", "pt=-1 bc=-1 ac=-1 bs=-1 ba=-1 ui=-1 se=-1 in=-1", "ui ui bc bc bc bc ac ac bs bs ba ba se se in in", "KKKKKKKKKKKKKKKK"},
}

var initials = map[string]checkpoint.Trigger{
	"pt": checkpoint.PhaseTransition, "cs": checkpoint.ConflictStart,
	"cr": checkpoint.ConflictResolved, "mn": checkpoint.Manual,
	"bc": checkpoint.BatchComplete, "ac": checkpoint.AgentComplete,
	"bs": checkpoint.BatchStart, "ba": checkpoint.BeforeAgent,
	"ui": checkpoint.UserInterrupt, "se": checkpoint.SessionEnd,
	"in": checkpoint.Interval, "tu": checkpoint.TaskUpdate, "bp": checkpoint.BeforeParallel, "xx": "frobnicated",
}

func parseItems(t *testing.T, s string) []Item {
	t.Helper()
	var items []Item
	for i, f := range strings.Fields(s) {
		it := Item{ID: checkpoint.ID(fmt.Sprintf("c%d", i)), Created: noon, Resumable: true, Valid: true}
		trigger, ok := initials[f[:2]]
		require.True(t, ok, "trigger of %q", f)
		it.Trigger = trigger
		rest := f[2:]
		if strings.HasPrefix(rest, "/") {
			phase := strings.TrimRight(rest[1:], "!~?")
			it.Phase, rest = phase, rest[1+len(phase):]
		}
		for _, m := range rest {
			switch m {
			case '!':
				it.Pinned = true
			case '~':
				it.Resumable = false
			case '?':
				it.Valid = false
			default:
				require.Failf(t, "bad mark", "%q in %q", m, f)
			}
		}
		items = append(items, it)
	}
	return items
}

func parsePolicy(t *testing.T, s string) Policy {
	t.Helper()
	p := Default()
	for _, f := range strings.Fields(s) {
		name, count, _ := strings.Cut(f, "=")
		trigger, n, err := ParseKeep(string(initials[name]) + "=" + count)
		require.NoError(t, err)
		p = p.With(trigger, n)
	}
	return p
}

func marks(ds []Decision) string {
	var b strings.Builder
	for _, d := range ds {
		if d.Keep {
			b.WriteByte('K')
		} else {
			b.WriteByte('d')
		}
	}
	return b.String()
}

// TestPlanGolden compares the rule texts of all decisions and the plan ids with a golden file.
func TestPlanGolden(t *testing.T) {
	var b strings.Builder
	for _, c := range planCases {
		ds := Plan(parsePolicy(t, c.rules), parseItems(t, c.items))
		fmt.Fprintf(&b, "# %s\nrules: %s\nplan: %s\n", c.name, c.rules, PlanID(ds))
		for i, f := range strings.Fields(c.items) {
			fmt.Fprintf(&b, "%c %-10s %s\n", marks(ds)[i], f, ds[i].Rule)
		}
		b.WriteByte('\n')
	}
	golden(t, "plan.golden", b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "run with -update after checking")
}

func TestRuleHidesControlCharacters(t *testing.T) {
	items := []Item{{Trigger: checkpoint.Manual}, {Trigger: checkpoint.BatchComplete, Phase: "a\x1b[2Jb"}}
	got := Plan(Default(), items)
	assert.Equal(t, `batch_complete: newest 3 per phase ("a\x1b[2Jb"): 1 of 3`, got[1].Rule)
}

// dropped returns the drop decisions in their original order.
func dropped(ds []Decision) []Decision {
	var drop []Decision
	for _, d := range ds {
		if !d.Keep {
			drop = append(drop, d)
		}
	}
	return drop
}
