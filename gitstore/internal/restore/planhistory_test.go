package restore

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
)

// A history is a random history of two worktrees with two paths, as a model: each content is a
// number, and 0 is an absent path. Its promises are checked against the whole history, and not
// against the facts that a plan reads.
type history struct {
	r         *rand.Rand
	mutation  string
	next      int
	commits   []modelCommit
	saves     []modelSave
	worktrees [2]*modelWorktree
	broken    map[string]bool
}

type files [2]int

type modelCommit struct {
	parent int // -1 for the first
	files  files
}

type modelSave struct {
	files    files
	head     int
	after    int // -1 without one
	captured [2]bool
}

type modelWorktree struct {
	head     int
	now      files
	last     int // checkpoint that the files come after, or -1
	here     files
	origin   [2]int // checkpoint of here, or -1
	hereHead [2]int // HEAD at the save of here
	entries  []modelEntry
	open     map[[2]int]int // content that a resume of a checkpoint left open at a path
}

type modelEntry struct {
	before, after, here files
	last, head          int
	origin, hereHead    [2]int
}

func newHistory(seed uint64, mutation string) *history {
	h := &history{r: rand.New(rand.NewPCG(seed, 40)), mutation: mutation, next: 10, commits: []modelCommit{{-1, files{1, 2}}}, broken: map[string]bool{}}
	for i := range h.worktrees {
		h.worktrees[i] = &modelWorktree{now: files{1, 2}, last: -1, here: files{1, 2}, origin: [2]int{-1, -1}, open: map[[2]int]int{}}
	}
	return h
}

// lineage returns the checkpoints that a checkpoint came after, with itself.
func (h *history) lineage(id int) map[int]bool {
	ids := map[int]bool{}
	for ; id >= 0; id = h.saves[id].after {
		ids[id] = true
	}
	return ids
}

// isIn reports whether a commit or one of its ancestors has a version of a path.
func (h *history) isIn(commit, path, x int) bool {
	for ; commit >= 0; commit = h.commits[commit].parent {
		if h.commits[commit].files[path] == x {
			return true
		}
	}
	return false
}

func (h *history) contains(commit, ancestor int) bool {
	for ; commit >= 0; commit = h.commits[commit].parent {
		if commit == ancestor {
			return true
		}
	}
	return false
}

func (h *history) isStored(path, x int) bool {
	return slices.ContainsFunc(h.commits, func(c modelCommit) bool { return c.files[path] == x }) ||
		slices.ContainsFunc(h.saves, func(s modelSave) bool { return s.files[path] == x })
}

// storedAt returns where a version of a path is stored, seen from a checkpoint.
func (h *history) storedAt(id, path, x int) stored {
	line := h.lineage(id)
	f := stored{history: h.isIn(h.saves[id].head, path, x), beside: h.isStored(path, x)}
	for i, s := range h.saves {
		has := s.files[path] == x
		f.before = f.before || has && line[i]
		f.after = f.after || has && i != id && h.lineage(i)[id]
	}
	return f
}

// versions returns the facts about a path for the restore of a checkpoint.
func (h *history) versions(w *modelWorktree, id, path int) versions[int] {
	s := h.saves[id]
	v := versions[int]{
		want: s.files[path], headThen: h.commits[s.head].files[path], headNow: h.commits[w.head].files[path], now: w.now[path], here: w.here[path],
		nowIn: h.storedAt(id, path, w.now[path]), hereIn: h.storedAt(id, path, w.here[path]), carried: !s.captured[path],
	}
	for c := w.head; c >= 0 && !h.contains(s.head, c); c = h.commits[c].parent {
		v.landed = v.landed || h.commits[c].files[path] == v.want
	}
	of := w.origin[path]
	if of < 0 {
		return v
	}
	mine, theirs := h.lineage(of), h.lineage(id)
	switch {
	case of == id:
		v.origin = equal
	case theirs[of]:
		v.origin = before
	case mine[id]:
		v.origin = after
	default:
		v.origin = beside
	}
	for _, common := range slices.Backward(slices.Sorted(maps.Keys(mine))) {
		if theirs[common] {
			v.common = &h.saves[common].files[path]
			break
		}
	}
	return v
}

// plan is the plan of the program, or a mutation of it.
func (h *history) plan(v versions[int], c choices) action {
	p := v.position(c.back)
	base := v.base(p, c)
	switch h.mutation {
	case "base is HEAD":
		base = v.headThen
	case "base is not on the lineage":
		if v.hereIn.before = true; v.origin != unset {
			base = v.here
		}
	case "carried is captured":
		v.carried = false
	case "what is stored is overwritten":
		if a := v.decide(p, base, c); (p == committed || p == parallel) && (a == merge || a == changed || a == edited) {
			return write
		}
	}
	return v.decide(p, base, c)
}

func (h *history) check(ok bool, promise string) {
	if !ok {
		h.broken[promise] = true
	}
}

func (h *history) step() {
	w := h.worktrees[h.r.IntN(2)]
	path := h.r.IntN(2)
	event := h.r.IntN(12)
	if event != 8 {
		clear(w.open)
	}
	switch event {
	case 0, 1, 2:
		h.next++
		w.now[path] = h.next
	case 3:
		w.now[path] = 0
	case 4, 5:
		h.save(w, [2]bool{true, true})
	case 6:
		h.save(w, [2]bool{path == 0, path == 1})
	case 7:
		w.head, h.commits = len(h.commits), append(h.commits, modelCommit{w.head, w.now})
	case 8, 9:
		h.restore(w, event == 9)
	case 10:
		h.undo(w)
	case 11: // git reset --hard
		w.now = h.commits[w.head].files
	}
}

func (h *history) save(w *modelWorktree, captured [2]bool) {
	s := modelSave{head: w.head, after: w.last, captured: captured}
	id := len(h.saves)
	for path, head := range h.commits[w.head].files {
		switch was := h.commits[w.hereHead[path]].files[path]; {
		case captured[path]:
			s.files[path] = w.now[path]
		case h.mutation == "carried without a merge", head == was:
			s.files[path] = w.here[path]
		default: // also if both changed: the version of the index
			s.files[path] = head
		}
		if !captured[path] && w.here[path] == h.commits[w.hereHead[path]].files[path] {
			h.check(s.files[path] == head, "a state reverts no commit")
		}
	}
	h.saves, w.last = append(h.saves, s), id
	for path := range captured {
		if captured[path] {
			w.here[path], w.origin[path], w.hereHead[path] = s.files[path], id, w.head
		}
	}
}

func (h *history) restore(w *modelWorktree, back bool) {
	if len(h.saves) == 0 {
		return
	}
	id := len(h.saves) - 1
	if back {
		id = h.r.IntN(len(h.saves))
	}
	s := h.saves[id]
	if !h.contains(w.head, s.head) {
		return
	}
	entry := modelEntry{before: w.now, here: w.here, last: w.last, head: w.head, origin: w.origin, hereHead: w.hereHead}
	var actions [2]action
	var facts [2]versions[int]
	for path := range actions {
		facts[path] = h.versions(w, id, path)
		actions[path] = h.plan(facts[path], choices{back: back})
	}
	for path, a := range actions {
		now, result := w.now[path], w.now[path]
		if a == write {
			result = s.files[path]
		}
		stays := result == now || now == 0
		isOlder := facts[path].nowIn.history || facts[path].nowIn.before
		h.check(stays || h.isStored(path, now), "unknown content stays")
		if !back {
			h.check(stays || isOlder || w.head == s.head || now != h.commits[w.head].files[path], "a resume reverts no commit")
			h.check(stays || isOlder || !facts[path].nowIn.after, "a resume reverts no newer save")
			h.check(w.last != id || w.here[path] != s.files[path] || a != changed && a != merge, "an edit after the save is no conflict")
			h.check(now == 0 || w.open[[2]int{path, id}] != now || a != nothing && a != edited, "a second resume asks again")
		}
		h.check(s.captured[path] || stays || isOlder, "a carried version replaces no newer one")
		if s.captured[path] && w.head == s.head {
			isLost := now == h.commits[w.head].files[path] && (w.last == id || w.last < 0)
			h.check(back || !isLost || result == s.files[path], "a reset is put back")
			h.check(!back || now != 0 && !h.isStored(path, now) || result == s.files[path], "going back reaches the checkpoint")
		}
		delete(w.open, [2]int{path, id})
		if !back && (a == changed || a == merge) {
			w.open[[2]int{path, id}] = now
		}
		isOpen := a == merge || a.leavesOpen(back) // the model merges nothing
		if w.now[path] = result; !isOpen || h.mutation == "here moves as a whole" {
			w.here[path], w.hereHead[path] = s.files[path], s.head
		}
		if !isOpen || h.mutation == "the origin moves as a whole" {
			w.origin[path] = id
		}
	}
	w.last, entry.after = id, w.now
	w.entries = append(w.entries, entry)
}

func (h *history) undo(w *modelWorktree) {
	if len(w.entries) == 0 {
		return
	}
	e := w.entries[len(w.entries)-1]
	w.entries = w.entries[:len(w.entries)-1]
	isSame := w.now == e.after && w.head == e.head
	for path := range w.now {
		v := undoOf(e.before[path], e.after[path], w.now[path], h.commits[e.head].files[path], h.commits[w.head].files[path])
		if a, _ := v.plan(choices{back: true}); a == write {
			w.now[path] = e.before[path]
		}
	}
	if isSame {
		h.check(w.now == e.before, "undo is exact")
		redone := w.now
		for path := range redone {
			v := undoOf(e.after[path], e.before[path], redone[path], h.commits[e.head].files[path], h.commits[w.head].files[path])
			if a, _ := v.plan(choices{back: true}); a == write {
				redone[path] = e.after[path]
			}
		}
		h.check(redone == e.after, "redo is exact")
	}
	w.here, w.last, w.origin, w.hereHead = e.here, e.last, e.origin, e.hereHead
}

// brokenIn returns the promises that a history of 25 steps breaks.
func brokenIn(seed uint64, mutation string) map[string]bool {
	h := newHistory(seed, mutation)
	for range 25 {
		h.step()
	}
	return h.broken
}

// TestPlanInRandomHistories checks the promises of a restore in random histories of two
// worktrees, and that each mutation of the rules breaks a promise.
func TestPlanInRandomHistories(t *testing.T) {
	t.Parallel()
	rounds := uint64(1_000)
	if gittest.Torture() {
		rounds = 100_000
	}
	first := rand.Uint64N(1 << 40)
	for seed := first; seed < first+rounds; seed++ {
		if broken := brokenIn(seed, ""); !assert.Empty(t, broken, seed) {
			return
		}
	}
	for _, mutation := range []string{
		"base is HEAD", "base is not on the lineage", "carried is captured", "what is stored is overwritten",
		"here moves as a whole", "the origin moves as a whole", "carried without a merge",
	} {
		caught := false
		for seed := uint64(0); seed < 15_000 && !caught; seed++ {
			caught = len(brokenIn(seed, mutation)) > 0
		}
		assert.True(t, caught, mutation)
	}
}
