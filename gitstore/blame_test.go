package gitstore

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A blamed is a file of a generated history, with the author of each line.
type blamed struct {
	path  string
	lines []string
	by    []string // "turn N", "hand N", "commit N" or "worktree", for each line
}

// edit changes the file as an editor would: it inserts, deletes, changes or reformats lines.
// All inserted lines are unique, so that git attributes each of them without doubt.
func (f *blamed) edit(r *rand.Rand, by string, n *int) {
	text := func() string { *n++; return fmt.Sprintf("line %d of %s", *n, by) }
	for range 1 + r.IntN(3) {
		at := r.IntN(len(f.lines) + 1)
		switch {
		case at == len(f.lines) || r.IntN(3) == 0:
			f.lines, f.by = slices.Insert(f.lines, at, text()), slices.Insert(f.by, at, by)
		case r.IntN(3) == 0 && len(f.lines) > 3:
			f.lines, f.by = slices.Delete(f.lines, at, at+1), slices.Delete(f.by, at, at+1)
		case r.IntN(3) == 0:
			f.lines[at], f.by[at] = "\t"+f.lines[at], by // reformatted
		default:
			f.lines[at], f.by[at] = text(), by
		}
	}
}

// TestBlameOfGeneratedHistories blames files that two agents and a person have edited in turn,
// with commits, renames and a rebase between, and compares each line with the generator.
func TestBlameOfGeneratedHistories(t *testing.T) {
	histories, files := 2, 10
	if !testing.Short() {
		histories, files = 10, 20
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			blameHistory(t, uint64(seed), files)
		})
	}
}

func blameHistory(t *testing.T, seed uint64, number int) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(seed, 31))
	n, turn, commits := 0, 0, 0
	type event struct {
		by string
		id checkpoint.ID // "" for a commit
	}
	var events []event // oldest first
	var all []*blamed
	for i := range number {
		f := &blamed{path: fmt.Sprintf("dir%d/f%d.txt", i%3, i)}
		for range 4 {
			f.edit(r, "commit 0", &n)
		}
		all = append(all, f)
	}
	write := func() {
		for _, f := range all {
			w.Write(f.path, strings.Join(f.lines, "\n")+"\n")
		}
	}
	write()
	w.Git("add", "-A")
	w.Commit("commit 0")
	save := func(by, agent string) {
		write()
		trigger := checkpoint.Manual
		if agent != "" {
			trigger = checkpoint.Turn
		}
		req := w.request(trigger, func(rec *checkpoint.Record) {
			rec.SetAgentTurn(checkpoint.AgentTurn{Number: turn, Agent: agent, Request: by})
			rec.SetNote(by)
		})
		events = append(events, event{by, w.save(req).ID})
	}
	for range 30 {
		switch r.IntN(8) {
		case 0: // a person commits all work, with own lines
			commits++
			by := fmt.Sprintf("commit %d", commits)
			all[r.IntN(len(all))].edit(r, by, &n)
			write()
			w.Git("add", "-A")
			w.Commit(by)
			events = append(events, event{by, ""})
		case 1: // by hand, saved between two turns
			by := fmt.Sprintf("hand %d", n)
			all[r.IntN(len(all))].edit(r, by, &n)
			save(by, "")
		case 2: // a rename in a turn
			turn++
			f := all[r.IntN(len(all))]
			w.Git("mv", "-f", f.path, "moved-"+strings.ReplaceAll(f.path, "/", "-"))
			f.path = "moved-" + strings.ReplaceAll(f.path, "/", "-")
			save(fmt.Sprintf("turn %d", turn), "claude")
		case 3: // the work of the last commit is rebased
			if commits == 0 {
				continue
			}
			write()
			w.Git("commit", "-q", "--amend", "--no-edit", "--reset-author", "--date=2030-01-01T00:00:00Z", "--allow-empty")
		default:
			turn++
			by := fmt.Sprintf("turn %d", turn)
			for range 1 + r.IntN(3) {
				all[r.IntN(len(all))].edit(r, by, &n)
			}
			save(by, []string{"claude", "codex"}[turn%2])
		}
	}
	all[0].edit(r, "worktree", &n)
	write()
	check := func(s *Store, renamed map[string]string) {
		for _, f := range all {
			lines, err := s.Blame(ctx, BlameRequest{Issue: "42", Path: f.path})
			require.NoError(t, err)
			require.Len(t, lines, len(f.lines), f.path)
			for k, l := range lines {
				want, got := f.by[k], l.Source.Summary
				if other, ok := renamed[want]; ok {
					want = other
				}
				if l.Source.NotSaved {
					got = "worktree"
				}
				assert.Equal(t, want, got, "%s:%d: %s", f.path, k+1, l.Text)
			}
		}
	}
	check(w.s, nil)
	check(w.s, nil) // from the cache

	// Lines of a dropped checkpoint belong to the next one, or to a commit before it.
	renamed := map[string]string{}
	for i := len(events) - 2; i >= 0; i-- {
		if e := events[i]; i%5 == 2 && e.id != "" {
			require.NoError(t, w.s.Drop(ctx, "42", []checkpoint.ID{e.id}))
			renamed[e.by] = cmp.Or(renamed[events[i+1].by], events[i+1].by)
		}
	}
	check(w.s, renamed)

	// A clone with the same files and chains sees the same.
	other := w.clone(w.Dir)
	other.fetch()
	for _, f := range all {
		other.Write(f.path, strings.Join(f.lines, "\n")+"\n")
	}
	check(other.s, renamed)
}
