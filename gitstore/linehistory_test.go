package gitstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A lineHistory is a generated history of an issue and its forks: turns, changes by hand, commits of a
// person and of turns, restores of older states and of single files, joins, forks and adoptions; and
// checkpoints that are dropped, archived and pruned. It logs who wrote each line. All lines are unique.
type lineHistory struct {
	*world
	r      *rand.Rand
	lines  int
	turns  int
	author map[string]string // by line: "turn 3", "hand 4", "commit 5", or "" until the next save or commit
	states []*loggedState
	left   map[checkpoint.Issue]*loggedState // newest state when the worktree went back, until the next save
	events []string
}

// A loggedState is a saved checkpoint of a lineHistory.
type loggedState struct {
	*Saved
	by    string
	files map[string][]string
	after []*loggedState
	from  []*loggedState // sources of single files, of an adoption and of a fork
	made  []string       // commits of the turn
	alive bool
}

const lineFiles = 4

func lineFile(n int) string { return fmt.Sprintf("dir%d/f.txt", n) }

// read returns the lines of the files in the worktree.
func (h *lineHistory) read() map[string][]string {
	files := map[string][]string{}
	for n := range lineFiles {
		data, _ := os.ReadFile(h.Dir + "/" + lineFile(n))
		files[lineFile(n)] = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	return files
}

// edit inserts, changes and deletes lines of some of the files.
func (h *lineHistory) edit(from, to int) {
	files := h.read()
	for range 1 + h.r.IntN(3) {
		name := lineFile(from + h.r.IntN(to-from))
		f := files[name]
		for range 1 + h.r.IntN(3) {
			h.lines++
			text := fmt.Sprintf("line %d", h.lines)
			switch at := h.r.IntN(len(f) + 1); {
			case at == len(f) || h.r.IntN(3) == 0:
				f = slices.Insert(f, at, text)
			case h.r.IntN(2) == 0 && len(f) > 4:
				f = slices.Delete(f, at, at+1)
			default:
				f[at] = text
			}
		}
		files[name] = f
		h.Write(name, strings.Join(f, "\n")+"\n")
	}
}

// credit names the author of all lines that have none.
func (h *lineHistory) credit(by string) {
	for _, f := range h.read() {
		for _, text := range f {
			if h.author[text] == "" {
				h.author[text] = by
			}
		}
	}
}

func (h *lineHistory) save(issue checkpoint.Issue, trigger checkpoint.Trigger, by string, commits []string, from []*loggedState, after ...*loggedState) *loggedState {
	req := h.request(trigger, func(rec *checkpoint.Record) {
		rec.SetAgentTurn(checkpoint.AgentTurn{Number: h.turns, Agent: "claude", Hand: trigger != checkpoint.Turn, Commits: commits})
		rec.SetNote(by)
	})
	req.Issue = issue
	h.credit(by)
	if left := h.left[issue]; left != nil {
		after = append(after, left)
		delete(h.left, issue)
	}
	st := &loggedState{Saved: h.world.save(req), by: by, files: h.read(), after: after, from: from, made: commits, alive: true}
	h.states, h.events = append(h.states, st), append(h.events, fmt.Sprintf("%s: save %s %s", by, issue, st.ID.Short()))
	return st
}

// restore reports whether it had something to restore.
func (h *lineHistory) restore(req RestoreRequest) bool {
	req.Asked, req.AnyHead, req.AnyBranch = true, true, true
	_, err := h.s.Restore(ctx, req)
	if errors.As(err, new(*UnchangedPathError)) {
		return false
	}
	require.NoError(h.t, err, "restore of %s after %s", req.Checkpoint.ID, strings.Join(h.events, "\n"))
	h.events = append(h.events, fmt.Sprintf("restore %s %v", req.Checkpoint.ID.Short(), req.Paths))
	return true
}

func (h *lineHistory) commit(by string) string {
	h.credit(by)
	h.Git("add", "-A")
	h.Commit(by)
	h.events = append(h.events, by)
	return h.Git("rev-parse", "HEAD")
}

// work does a step of the work on an issue with some of the files, and returns the new state.
func (h *lineHistory) work(issue checkpoint.Issue, at *loggedState, from, to int) *loggedState {
	switch h.r.IntN(10) {
	case 0:
		h.edit(from, to)
		return h.save(issue, checkpoint.Manual, fmt.Sprintf("hand %d", h.lines), nil, nil, at)
	case 1: // a person commits all, with own lines
		h.edit(from, to)
		h.commit(fmt.Sprintf("commit %d", h.lines))
		return at
	case 2, 3: // the turn commits its work, or a part of it
		h.turns++
		by := fmt.Sprintf("turn %d", h.turns)
		h.edit(from, to)
		h.credit(by)
		commits := []string{h.commit("work of " + by)}
		if h.r.IntN(2) == 0 {
			h.edit(from, to)
			h.Git("commit", "-qa", "--amend", "--no-edit")
			h.credit(by)
			commits = append([]string{h.Git("rev-parse", "HEAD")}, commits...)
		}
		if h.r.IntN(2) == 0 {
			h.edit(from, to)
		}
		return h.save(issue, checkpoint.Turn, by, commits, nil, at)
	case 4: // files of an older state, with changes
		old := h.any(issue)
		path := lineFile(from + h.r.IntN(to-from))
		if !h.restore(RestoreRequest{Checkpoint: &old.Checkpoint, Request: RestoreOptions{Paths: []string{path}, Force: true}}) {
			return at
		}
		h.turns++
		h.edit(from, to)
		return h.save(issue, checkpoint.Turn, fmt.Sprintf("turn %d", h.turns), nil, []*loggedState{old}, at)
	}
	h.turns++
	h.edit(from, to)
	return h.save(issue, checkpoint.Turn, fmt.Sprintf("turn %d", h.turns), nil, nil, at)
}

// any returns a live state of an issue.
func (h *lineHistory) any(issue checkpoint.Issue) *loggedState {
	for {
		if st := h.states[h.r.IntN(len(h.states))]; st.alive && st.Checkpoint.Issue == issue {
			return st
		}
	}
}

// back gives the worktree the files of a state.
func (h *lineHistory) back(to *loggedState) {
	h.restore(RestoreRequest{Checkpoint: &to.Checkpoint, Request: RestoreOptions{Force: true}})
	for _, st := range h.states {
		if st != to && st.alive && st.Checkpoint.Issue == to.Checkpoint.Issue {
			h.left[st.Checkpoint.Issue] = st
		}
	}
	for name, f := range to.files { // a restore keeps the files of later commits
		h.Write(name, strings.Join(f, "\n")+"\n")
	}
}

// lose drops, archives or prunes some states of an issue, but not those that stay.
func (h *lineHistory) lose(stay ...*loggedState) {
	var gone []checkpoint.ID
	for _, st := range h.states {
		if st.Checkpoint.Issue == "42" && st.alive && !slices.Contains(stay, st) && h.r.IntN(4) == 0 {
			gone = append(gone, st.ID)
		}
	}
	switch {
	case h.r.IntN(4) == 0:
		done, err := h.s.Prune(ctx, PruneRequest{Issue: "42", Policy: retention.Policy{checkpoint.Turn: {Keep: 5 + h.r.IntN(5)}}})
		require.NoError(h.t, err)
		gone = done.Removed
	case len(gone) == 0:
	case h.r.IntN(2) == 0:
		_, err := h.s.Archive(ctx, "42", gone, "")
		require.NoError(h.t, err)
	default:
		require.NoError(h.t, h.s.Drop(ctx, "42", gone))
	}
	for _, st := range h.states {
		st.alive = st.alive && !slices.Contains(gone, st.ID)
	}
	h.events = append(h.events, fmt.Sprint("gone: ", gone))
}

// reaches reports whether a state is another one or its descendant. The sources of a removed state do not
// count.
func (st *loggedState) reaches(other *loggedState) bool {
	to := func(p *loggedState) bool { return p.reaches(other) }
	return st == other || slices.ContainsFunc(st.after, to) || st.alive && slices.ContainsFunc(st.from, to)
}

// lacked reports whether the nearest live ancestors of a state lack a line that a removed state in between
// had. Behind a removed state, an ancestor of another result does not count.
func (st *loggedState) lacked(path, text string) bool {
	var near, behind []*loggedState
	lost := false
	var visit func(p *loggedState, direct bool)
	visit = func(p *loggedState, direct bool) {
		switch {
		case p.alive && direct:
			near = append(near, p)
		case p.alive:
			behind = append(behind, p)
		default:
			lost = lost || slices.Contains(p.files[path], text)
			for _, q := range p.from {
				lost = lost || slices.Contains(q.files[path], text)
			}
			for _, q := range p.after {
				visit(q, false)
			}
		}
	}
	for _, p := range slices.Concat(st.after, st.from) {
		visit(p, true)
	}
	for _, p := range behind {
		if !slices.ContainsFunc(slices.Concat(near, behind), func(q *loggedState) bool { return q != p && q.reaches(p) }) {
			near = append(near, p)
		}
	}
	return lost && !slices.ContainsFunc(near, func(p *loggedState) bool { return slices.Contains(p.files[path], text) })
}

// check blames files of the worktree and of some states, and compares each line with the log.
func (h *lineHistory) check() {
	byName, byID := map[string]*loggedState{}, map[checkpoint.ID]*loggedState{}
	for _, st := range h.states {
		byName[st.by], byID[st.ID] = st, st
	}
	blame := func(req BlameRequest) {
		lines, err := h.s.Blame(ctx, req)
		require.NoError(h.t, err, "%v\n%s", req, strings.Join(h.events, "\n"))
		for _, l := range lines {
			by, got := h.author[l.Text], l.Source.Summary
			said := fmt.Sprintf("%v:%d: %q of %s is given to %s\n%s", req, l.Number, l.Text, by, got, strings.Join(h.events, "\n"))
			author := byName[by]
			switch {
			case by == "":
				require.True(h.t, l.Source.NotSaved, said)
			case got == by:
				require.Equal(h.t, author != nil, l.Source.Checkpoint != nil, said)
			case l.Source.Checkpoint != nil && byID[l.Source.Checkpoint.ID].lacked(req.Path, l.Text): // the state that had it is gone
				next := byID[l.Source.Checkpoint.ID]
				require.True(h.t, next.alive && slices.Contains(next.files[req.Path], l.Text), said)
			default: // and HEAD had it before the next state that is left
				hasLost := func(st *loggedState) bool { return !st.alive && slices.Contains(st.files[req.Path], l.Text) }
				require.True(h.t, slices.ContainsFunc(h.states, hasLost), said)
				commits := []string{l.Source.Commit.String()}
				if l.Source.Checkpoint != nil {
					commits = byID[l.Source.Checkpoint.ID].made
				}
				require.NotEmpty(h.t, commits, said)
				require.Contains(h.t, h.Git(append([]string{"show"}, commits...)...), "+"+l.Text, said)
			}
		}
	}
	for n := range lineFiles {
		blame(BlameRequest{Issue: "42", Path: lineFile(n)})
		st := h.states[h.r.IntN(len(h.states))]
		if st.alive {
			blame(BlameRequest{Issue: st.Checkpoint.Issue, At: st.ID, Path: lineFile(n)})
		}
	}

	// A fresh clone makes the same line, and the ref reaches no removed state.
	line := h.lineOf("42")
	fresh := h.In(h.t.TempDir())
	fresh.Git("init", "-q", "--bare", ".")
	fresh.Git("fetch", "-q", h.Dir, "+refs/checkpoints/*:refs/checkpoints/*", "+refs/checkpoints-archive/*:refs/checkpoints-archive/*")
	other := h.open(fresh.Dir)
	again, err := other.Line(ctx, "42")
	require.NoError(h.t, err)
	defer again.Close()
	assert.Equal(h.t, line.Tips, again.Tips)
	assert.Equal(h.t, line.Tips.String(), h.Git("rev-parse", repo.LineRef("42")))
	for id := range strings.FieldsSeq(h.Git("log", "--format=%(trailers:key=Checkpoint-Id,valueonly)", repo.LineRef("42"))) {
		if st := byID[checkpoint.ID(id)]; st != nil && st.Checkpoint.Issue == "42" {
			require.True(h.t, st.alive, id)
		}
	}
}

// TestBlameOfGeneratedLines checks blame against the log of generated histories, and the stored line
// against a line that is made from nothing.
func TestBlameOfGeneratedLines(t *testing.T) {
	histories := 2
	if gittest.Torture() {
		histories = 200
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			lineHistoryOf(t, uint64(seed))
		})
	}
}

func lineHistoryOf(t *testing.T, seed uint64) {
	h := &lineHistory{world: newWorld(t), r: rand.New(rand.NewPCG(seed, 77)), author: map[string]string{}, left: map[checkpoint.Issue]*loggedState{}}
	for n := range lineFiles {
		h.Write(lineFile(n), fmt.Sprintf("begin %d\nmiddle %d\nend %d\n", n, n, n))
	}
	h.commit("commit 0")
	at := h.save("42", checkpoint.Manual, "hand 0", nil, nil)
	for part := range 3 {
		for range 3 + h.r.IntN(5) {
			at = h.work("42", at, 0, lineFiles)
		}
		switch h.r.IntN(3) {
		case 0: // go back, work on other files, and join
			base, left := h.any("42"), at
			h.back(base)
			at = h.work("42", base, 0, 2)
			at = h.save("42", checkpoint.Turn, fmt.Sprintf("turn %d", h.turns+1000), nil, nil, at, left)
		case 1: // a fork, work on both sides with other files, and an adoption
			at = h.save("42", checkpoint.Manual, fmt.Sprintf("hand %d", h.lines+2000), nil, nil, at)
			name := fmt.Sprintf("x%d", part)
			forks, err := h.s.Fork(ctx, ForkRequest{From: &at.Checkpoint, Names: []string{name}})
			require.NoError(t, err)
			source, issue := at, checkpoint.Issue("42").ForkOf(name)
			fork := &loggedState{Saved: &Saved{Checkpoint: forks[0]}, by: "fork " + name, files: at.files, from: []*loggedState{at}, alive: true}
			h.states = append(h.states, fork)
			h.back(fork)
			for range 3 {
				fork = h.work(issue, fork, 2, lineFiles)
			}
			h.back(source)
			at = h.work("42", source, 0, 2)
			h.restore(RestoreRequest{Checkpoint: &fork.Checkpoint, Since: &source.Checkpoint, Request: RestoreOptions{Changed: MergeBoth}})
			at = h.save("42", checkpoint.Manual, "adopted "+name, nil, []*loggedState{fork}, at)
			_, err = h.s.Archive(ctx, issue, nil, retention.ReasonAdopted)
			require.NoError(t, err)
		}
		h.check()
		h.lose(at)
		at = h.work("42", at, 0, lineFiles)
		h.edit(0, lineFiles) // not saved
		h.check()
	}
	h.rename()
}

// rename checks that the sources of lines stay when an agent renames and reformats a file, and a person
// amends the last commit.
func (h *lineHistory) rename() {
	const moved = "moved.txt"
	h.save("42", checkpoint.Manual, "hand before the rename", nil, nil)
	before, err := h.s.Blame(ctx, BlameRequest{Issue: "42", Path: lineFile(0)})
	require.NoError(h.t, err)
	h.Git("add", "-A")
	h.Git("mv", lineFile(0), moved)
	h.turns++
	renamed := h.save("42", checkpoint.Turn, "turn that renames", nil, nil)
	h.Git("commit", "-q", "--amend", "--no-edit", "--date=2030-01-01T00:00:00Z", "--allow-empty")
	text := []string{"\t" + before[0].Text}
	for _, l := range before[1:] {
		text = append(text, l.Text)
	}
	h.Write(moved, strings.Join(text, "\n")+"\n")
	h.turns++
	reformatted := h.save("42", checkpoint.Turn, "turn that reformats", nil, nil)
	after, err := h.s.Blame(ctx, BlameRequest{Issue: "42", Path: moved})
	require.NoError(h.t, err)
	require.Len(h.t, after, len(before))
	assert.Equal(h.t, reformatted.by, after[0].Source.Summary)
	for n := 1; n < len(before); n++ {
		assert.Equal(h.t, before[n].Source.Summary, after[n].Source.Summary, "%q after %s", before[n].Text, renamed.by)
	}
}
