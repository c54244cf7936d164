package restore

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
)

func sideOf(s string) Side {
	if s == "" {
		return Side{}
	}
	return Side{Mode: trees.ModeFile, Hash: plumbing.ComputeHash(plumbing.BlobObject, []byte(s))}
}

// TestPlanEveryCombination checks every combination of base, want and current content
// (absent and three contents) on both sides against a simple rule.
func TestPlanEveryCombination(t *testing.T) {
	t.Parallel()
	values := []string{"", "one", "two", "three"}
	n := 0
	for _, base := range values {
		for _, want := range values {
			for _, index := range values {
				for _, work := range values {
					for _, sparse := range []bool{false, true} {
						for _, choice := range []Changed{Mine, FromCheckpoint, Merged} {
							for _, force := range []bool{false, true} {
								n++
								name := fmt.Sprintf("%q %q %q %q %v %s %v", base, want, index, work, sparse, choice, force)
								checkCombination(t, name, base, want, index, work, sparse, choice, force)
							}
						}
					}
				}
			}
		}
	}
	assert.Equal(t, 3072, n)
}

func checkCombination(t *testing.T, name, base, want, index, work string, sparse bool, choice Changed, force bool) {
	tg := Target{Target: contents.Target{Path: "p", Index: true, Work: true, IndexBase: contents.Merged(sideOf(base)), IndexWant: contents.Merged(sideOf(want)), WorkBase: sideOf(base), WorkWant: sideOf(want)}}
	now := state{index: contents.Merged(sideOf(index)), work: sideOf(work), sparse: sparse}
	p := decide([]Target{tg}, func(string) state { return now }, rules{choice: choice, force: force})

	workCounts := !sparse
	done := index == want && (work == want || !workCounts)
	changed := index != want && index != base || workCounts && work != want && work != base
	unknown := index == "" && work != "" && work != want && work != base
	var outcome string
	switch {
	case done:
		outcome = "nothing"
	case !changed, force:
		outcome = "step"
	case unknown:
		outcome = "in the way"
	case choice == FromCheckpoint:
		outcome = "step"
	case choice == Merged && workCounts && work != want && work != "" && want != "":
		outcome = "merge"
	default:
		outcome = "changed"
	}
	got := "nothing"
	switch {
	case len(p.steps) == 1 && p.steps[0].merge:
		got = "merge"
	case len(p.steps) == 1:
		got = "step"
		assert.Equal(t, index != want, p.steps[0].index, name)
		assert.Equal(t, workCounts && work != want, p.steps[0].work, name)
	case len(p.changed) == 1:
		got = "changed"
	case len(p.inTheWay) == 1:
		got = "in the way"
	}
	// Sparse: an existing file outside the sparse checkout is ignored.
	if sparse && unknown && got == "in the way" {
		outcome = got
	}
	assert.Equal(t, outcome, got, name)
}

// TestPlanOneSide checks that unwanted sides are ignored.
func TestPlanOneSide(t *testing.T) {
	t.Parallel()
	now := func(string) state { return state{index: contents.Merged(sideOf("mine")), work: sideOf("mine")} }
	index := Target{Target: contents.Target{Path: "p", Index: true, IndexBase: contents.Merged(sideOf("mine")), IndexWant: contents.Merged(sideOf("want"))}}
	p := decide([]Target{index}, now, rules{choice: Mine})
	assert.Len(t, p.steps, 1)
	assert.False(t, p.steps[0].work)
	work := Target{Target: contents.Target{Path: "p", Work: true, WorkBase: sideOf("mine"), WorkWant: sideOf("want")}}
	p = decide([]Target{work}, now, rules{choice: Mine})
	assert.Len(t, p.steps, 1)
	assert.False(t, p.steps[0].index)
}

// TestPlanFit checks that a file replaces another path only if that path is removed.
func TestPlanFit(t *testing.T) {
	t.Parallel()
	put := func(path string) Target {
		return Target{Target: contents.Target{Path: path, Work: true, WorkWant: sideOf("new")}}
	}
	states := map[string]state{
		"d":     {work: sideOf("old")},
		"d/f":   {above: "d"},
		"e":     {inside: []string{"e/x", "e/y"}},
		"e/x":   {work: sideOf("old")},
		"e/y":   {work: sideOf("mine"), index: contents.Merged(sideOf("mine"))},
		"blind": {blockage: "neither a file nor a symlink"},
	}
	remove := func(path string) Target {
		return Target{Target: contents.Target{Path: path, Work: true, WorkBase: sideOf("old")}}
	}
	plan := func(targets ...Target) decision {
		return decide(targets, func(p string) state { return states[p] }, rules{choice: Mine})
	}
	assert.Len(t, plan(remove("d"), put("d/f")).steps, 2)
	assert.Equal(t, []string{"d/f"}, plan(put("d/f")).inTheWay)
	p := plan(put("e"), remove("e/x"), remove("e/y"))
	assert.Equal(t, []string{"e"}, p.inTheWay)
	assert.Equal(t, []string{"e/y"}, p.changed, "mine stays, so the file above it cannot come")
	assert.Equal(t, []string{"blind"}, plan(put("blind")).inTheWay)
}

// TestPlanFailsIfHeadCannotBeRead checks that a path counts as changed if its history is
// unknown, and that other errors, such as an unreadable HEAD, are returned.
func TestPlanFailsIfHeadCannotBeRead(t *testing.T) {
	t.Parallel()
	now := func(string) state { return state{index: contents.Merged(sideOf("base"))} }
	targets := []Target{{Target: contents.Target{Path: "p", Index: true, IndexBase: contents.Merged(sideOf("base")), IndexWant: contents.Merged(sideOf("want"))}}}
	var failed error
	s := &Worktree{Touched: func(context.Context, []string) (map[string]bool, error) { return nil, failed }}
	failed = syscall.EMFILE
	_, err := s.decide(t.Context(), targets, now, rules{choice: Mine})
	assert.ErrorIs(t, err, syscall.EMFILE)
	failed = fmt.Errorf("%w: cut", facts.ErrUnknownHistory)
	p, err := s.decide(t.Context(), targets, now, rules{choice: Mine})
	assert.NoError(t, err)
	assert.Equal(t, []string{"p"}, p.changed)
}

// TestFilesThatDifferOnlyInCase checks which files a restore creates if the worktree ignores
// case. A file whose name exists in another case is created only if the other path is removed.
// Of two new files with one name, one is created.
func TestFilesThatDifferOnlyInCase(t *testing.T) {
	t.Parallel()
	one, two := sideOf("one"), sideOf("two")
	add := func(path string) Target {
		return Target{Target: contents.Target{Path: path, Index: true, Work: true, IndexWant: contents.Merged(two), WorkWant: two}}
	}
	remove := func(path string) Target {
		return Target{Target: contents.Target{Path: path, Index: true, Work: true, IndexBase: contents.Merged(one), WorkBase: one}}
	}
	there := state{index: contents.Merged(one), work: one, disk: fileOnDisk{mode: trees.ModeFile, hash: one.Hash}}
	for name, c := range map[string]struct {
		targets         []Target
		now             map[string]state
		steps, inTheWay []string
	}{
		"renamed":                {[]Target{remove("A"), add("a")}, map[string]state{"A": there, "a": {above: "A"}}, []string{"A", "a"}, nil},
		"the other file stays":   {[]Target{add("a")}, map[string]state{"a": {above: "A"}}, nil, []string{"a"}},
		"two new files":          {[]Target{add("A"), add("a"), add("b")}, map[string]state{}, []string{"A", "b"}, []string{"a"}},
		"one of them exists":     {[]Target{add("A"), {Target: contents.Target{Path: "a", Work: true, WorkBase: one, WorkWant: two}}}, map[string]state{"a": there}, []string{"a"}, []string{"A"}},
		"in folders":             {[]Target{add("D/x"), add("d/x"), add("d/y")}, map[string]state{}, []string{"D/x", "d/y"}, []string{"d/x"}},
		"entries without a file": {[]Target{{Target: contents.Target{Path: "A", Index: true, IndexWant: contents.Merged(two)}}, {Target: contents.Target{Path: "a", Index: true, IndexWant: contents.Merged(two)}}}, map[string]state{}, []string{"A", "a"}, nil},
	} {
		now := func(path string) state {
			s := c.now[path]
			s.folded = strings.ToLower(path)
			return s
		}
		for _, force := range []bool{false, true} {
			d := decide(c.targets, now, rules{force: force})
			var steps []string
			for _, st := range d.steps {
				steps = append(steps, st.path)
			}
			assert.Equal(t, c.steps, steps, name)
			assert.Equal(t, c.inTheWay, d.inTheWay, name)
		}
	}
}

// TestPlanByOrigin checks what happens to a path by the origin of its present content: the save,
// HEAD, another checkpoint, or the user.
func TestPlanByOrigin(t *testing.T) {
	t.Parallel()
	side := func(s string) Stages { return contents.Merged(sideOf(s)) }
	changed := Target{Target: contents.Target{Index: true, Work: true, IndexBase: side("base"), IndexWant: side("want"), WorkBase: sideOf("base"), WorkWant: sideOf("want")}}
	untracked := Target{Target: contents.Target{Work: true, WorkWant: sideOf("want")}}
	clean := Target{Target: contents.Target{Index: true, Work: true, IndexBase: side("base"), IndexWant: side("base"), WorkBase: sideOf("base"), WorkWant: sideOf("base")}, clean: true}
	later := Target{Target: contents.Target{Work: true}, later: true}
	staged := Target{Target: contents.Target{Index: true, Work: true, IndexBase: side("mine"), WorkBase: sideOf("mine")}, later: true}
	touched, other, choice := changed, changed, changed
	touched.touched, other.session, choice.choice = true, "s2", Mine
	known := func(_ string, f Side) bool { return f == sideOf("old") || f == sideOf("base") }
	common := func(s string) func(string) Side { return func(string) Side { return sideOf(s) } }
	resume, restore := rules{known: known}, rules{known: known, asked: true}
	with := func(r rules, change func(*rules)) rules { change(&r); return r }
	tests := map[string]struct {
		target      Target
		index, work string
		rules       rules
		want        string
	}{
		"as saved":                     {changed, "want", "want", resume, ""},
		"as HEAD":                      {changed, "base", "base", resume, "step"},
		"edited":                       {changed, "base", "mine", restore, "changed"},
		"of another checkpoint":        {changed, "base", "old", resume, "step"},
		"another, but mine is wanted":  {changed, "base", "old", with(restore, func(r *rules) { r.choice = Mine }), "changed"},
		"another, mine for this path":  {choice, "base", "old", restore, "changed"},
		"another, to be merged":        {changed, "base", "old", with(restore, func(r *rules) { r.choice = Merged }), "merge"},
		"deleted":                      {changed, "base", "", resume, "step"},
		"removed from the index":       {changed, "", "", resume, "changed"},
		"removed, but asked":           {changed, "", "", restore, "step"},
		"committed since":              {touched, "base", "base", restore, "changed"},
		"committed, another's content": {touched, "base", "old", restore, "changed"},
		"of another session":           {other, "base", "old", restore, "others"},
		"both changed":                 {changed, "base", "mine", with(resume, func(r *rules) { r.common = common("old") }), "merge"},
		"both, mine is wanted":         {changed, "base", "mine", with(resume, func(r *rules) { r.common, r.choice = common("old"), Mine }), "changed"},
		"only mine changed":            {changed, "base", "mine", with(resume, func(r *rules) { r.common = common("want") }), "changed"},
		"both, committed since":        {touched, "base", "mine", with(resume, func(r *rules) { r.common = common("old") }), "changed"},
		"untracked, gone":              {untracked, "", "", resume, "step"},
		"untracked, edited":            {untracked, "", "mine", restore, "changed"},
		"untracked, both changed":      {untracked, "", "mine", with(resume, func(r *rules) { r.common = common("old") }), "merge"},
		"untracked, checkpoint's":      {untracked, "", "mine", with(resume, func(r *rules) { r.choice = FromCheckpoint }), "step"},
		"untracked, merge":             {untracked, "", "mine", with(resume, func(r *rules) { r.choice = Merged }), "merge"},
		"untracked over tracked":       {changed, "", "mine", with(restore, func(r *rules) { r.choice = FromCheckpoint }), "in the way"},
		"clean, edited":                {clean, "base", "mine", resume, "unsaved"},
		"clean, edited, asked":         {clean, "base", "mine", restore, "changed"},
		"clean, older content":         {clean, "base", "old", resume, "step"},
		"clean, deleted":               {clean, "base", "", resume, "unsaved"},
		"clean, in a lost worktree":    {clean, "base", "", with(resume, func(r *rules) { r.lost = true }), "step"},
		"clean, deleted, asked":        {clean, "base", "", restore, "step"},
		"clean, removed, asked":        {clean, "", "", restore, "step"},
		"later, in a checkpoint":       {later, "", "old", resume, "step"},
		"later, unknown":               {later, "", "mine", restore, ""},
		"later, unknown, exact":        {later, "", "mine", with(restore, func(r *rules) { r.exact = true }), "step"},
		"later, kept by choice":        {later, "", "old", with(restore, func(r *rules) { r.choice = Mine }), ""},
		"staged later, unknown":        {staged, "mine", "mine", restore, ""},
		"staged later, exact":          {staged, "mine", "mine", with(restore, func(r *rules) { r.exact = true }), "step"},
		"staged later, edited":         {staged, "mine", "more", with(restore, func(r *rules) { r.exact = true }), "changed"},
		"staged later, in checkpoints": {staged, "old", "old", restore, "step"},
	}
	for name, tc := range tests {
		tc.target.Path = "p"
		d := decide([]Target{tc.target}, func(string) state { return state{index: side(tc.index), work: sideOf(tc.work)} }, tc.rules)
		got := ""
		for what, paths := range map[string]int{"changed": len(d.changed), "in the way": len(d.inTheWay), "others": len(d.others), "unsaved": len(d.unsaved), "step": len(d.steps)} {
			if paths > 0 {
				got = what
			}
		}
		if got == "step" && d.steps[0].merge {
			got = "merge"
		}
		assert.Equal(t, tc.want, got, name)
	}
}
