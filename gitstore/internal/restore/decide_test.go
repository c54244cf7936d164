package restore

import (
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/contents"
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

// decideAt decides about targets in the states that now returns.
func decideAt(targets []Target, now func(path string) state, c choices) decision {
	targets = slices.Clone(targets)
	for i := range targets {
		targets[i].now = now(targets[i].Path)
	}
	return decide(targets, c)
}

// TestPlanFit checks that a file replaces another path only if that path is removed.
func TestPlanFit(t *testing.T) {
	t.Parallel()
	put := func(path string) Target {
		return Target{Target: contents.Target{Path: path, Work: true, WorkWant: sideOf("new")}}
	}
	states := map[string]state{
		"d":     {version: version{Work: sideOf("old")}},
		"d/f":   {above: "d"},
		"e":     {inside: []string{"e/x", "e/y"}},
		"e/x":   {version: version{Work: sideOf("old")}},
		"e/y":   {version: version{Work: sideOf("mine"), Index: contents.Merged(sideOf("mine"))}},
		"blind": {blockage: "neither a file nor a symlink"},
	}
	remove := func(path string) Target {
		return Target{Target: contents.Target{Path: path, Work: true, WorkBase: sideOf("old")}}
	}
	plan := func(targets ...Target) decision {
		return decideAt(targets, func(p string) state { return states[p] }, choices{back: true, choice: Mine})
	}
	assert.Len(t, plan(remove("d"), put("d/f")).steps, 2)
	assert.Equal(t, []string{"d/f"}, plan(put("d/f")).InTheWay)
	p := plan(put("e"), remove("e/x"), remove("e/y"))
	assert.Equal(t, []string{"e"}, p.InTheWay)
	assert.Equal(t, []string{"e/y"}, p.Skipped, "mine stays, so the file above it cannot come")
	assert.Equal(t, []string{"blind"}, plan(put("blind")).InTheWay)
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
	there := state{version: version{Index: contents.Merged(one), Work: one, Disk: fileOnDisk{Side: one}}}
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
			d := decideAt(c.targets, now, choices{back: true, force: force})
			var steps []string
			for _, st := range d.steps {
				steps = append(steps, st.Path)
			}
			assert.Equal(t, c.steps, steps, name)
			assert.Equal(t, c.inTheWay, d.InTheWay, name)
		}
	}
}

// TestDecideAboutFileAndEntry checks the decisions about a path with a file and an index entry.
func TestDecideAboutFileAndEntry(t *testing.T) {
	t.Parallel()
	side := func(s string) Stages { return contents.Merged(sideOf(s)) }
	changedThere := Target{Target: contents.Target{Index: true, Work: true, Captured: true, IndexBase: side("base"), IndexWant: side("want"), WorkBase: sideOf("base"), WorkWant: sideOf("want")}}
	untracked := Target{Target: contents.Target{Work: true, Captured: true, WorkWant: sideOf("want")}}
	clean := Target{Target: contents.Target{Index: true, Work: true, IndexBase: side("base"), IndexWant: side("base"), WorkBase: sideOf("base"), WorkWant: sideOf("base")}, clean: true}
	later := Target{Target: contents.Target{Work: true}, later: true}
	staged := Target{Target: contents.Target{Index: true, Work: true}, later: true}
	with := func(t Target, change func(*Target)) Target { change(&t); return t }
	old := func(t *Target) { t.file.nowIn.before, t.entry.nowIn.before = true, true }
	commits := func(t *Target) { t.file.headNow, t.entry.headNow = sideOf("mine"), side("mine") }
	resume, back := choices{}, choices{back: true}
	for name, tc := range map[string]struct {
		target      Target
		index, work string
		choices     choices
		want        string
	}{
		"as saved":                    {changedThere, "want", "want", resume, ""},
		"as HEAD":                     {changedThere, "base", "base", resume, "step"},
		"edited":                      {changedThere, "base", "mine", back, "changed"},
		"edited and staged":           {changedThere, "mine", "mine", resume, "merge"},
		"edited, to be merged":        {changedThere, "base", "mine", resume, "merge"},
		"older":                       {with(changedThere, old), "base", "old", resume, "step"},
		"file older, entry unknown":   {with(changedThere, func(t *Target) { t.file.nowIn.before = true }), "mine", "old", resume, "changed"},
		"committed since":             {with(changedThere, commits), "mine", "mine", back, "changed"},
		"deleted":                     {changedThere, "base", "", resume, "step"},
		"of another session":          {with(changedThere, func(t *Target) { t.session = "s2" }), "base", "base", back, "others"},
		"untracked, gone":             {untracked, "", "", resume, "step"},
		"untracked, edited":           {untracked, "", "mine", back, "changed"},
		"untracked, checkpoint's":     {untracked, "", "mine", choices{choice: FromCheckpoint}, "step"},
		"untracked, merge":            {untracked, "", "mine", choices{choice: Merged}, "merge"},
		"untracked over tracked":      {changedThere, "", "mine", choices{back: true, choice: FromCheckpoint}, "in the way"},
		"untracked over it, by force": {changedThere, "", "mine", choices{back: true, force: true}, "step"},
		"clean, edited":               {clean, "base", "mine", resume, "unsaved"},
		"clean, edited, back":         {clean, "base", "mine", back, "changed"},
		"clean, older":                {with(clean, old), "base", "old", resume, "step"},
		"clean, deleted":              {clean, "base", "", resume, "unsaved"},
		"clean, in a lost worktree":   {clean, "base", "", choices{lost: true}, "step"},
		"clean, deleted, back":        {clean, "base", "", back, "step"},
		"clean, committed since":      {with(clean, commits), "mine", "mine", back, "committed"},
		"later, in a checkpoint":      {with(later, old), "", "old", resume, "step"},
		"later, unknown":              {later, "", "mine", back, ""},
		"later, unknown, exact":       {later, "", "mine", choices{back: true, exact: true}, "step"},
		"staged later, unknown":       {staged, "mine", "mine", back, ""},
		"staged later, edited, exact": {staged, "mine", "more", choices{back: true, exact: true}, "step"},
		"staged later, older":         {with(staged, old), "old", "old", back, "step"},
	} {
		if tc.target.Path = "p"; tc.target.file.headNow == (Side{}) {
			tc.target.file.headNow, tc.target.entry.headNow = tc.target.WorkBase, tc.target.IndexBase
		}
		now := state{version: version{Index: side(tc.index), Work: sideOf(tc.work)}}
		d := decideAt([]Target{tc.target}, func(string) state { return now }, tc.choices)
		got := ""
		for what, paths := range map[string]int{"changed": len(d.Skipped), "in the way": len(d.InTheWay), "others": len(d.Others), "unsaved": len(d.Unsaved), "step": len(d.steps), "committed": len(d.Committed) - len(d.Skipped)} {
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
