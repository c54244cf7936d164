package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// issues are the issues of a history. The last two differ only in case, so they cannot
// both exist.
var issues = []checkpoint.Issue{"42", "PROJ/1", "proj/1"}

// A step is an operation on a store that returns its result as text.
type step struct {
	says string
	do   func(s whole) string
}

// A chance generates the steps of a random history from the content of the memory store.
type chance struct {
	*rand.Rand
	now func() time.Time
	of  whole
}

// passes returns the seconds between two steps. Sometimes the clock is set back.
func (c *chance) passes() int64 {
	switch c.IntN(20) {
	case 0:
		return -c.Int64N(7200)
	case 1:
		return c.Int64N(5 * 86400)
	case 2, 3, 4:
		return 0
	}
	return 1 + c.Int64N(600)
}

func pick[T any](c *chance, of ...T) T { return of[c.IntN(len(of))] }

// fresh returns an id that is usually new.
func (c *chance) fresh() checkpoint.ID {
	n := c.IntN(120)
	return checkpoint.NewID([]string{"plan", "code"}[n%2], time.Unix(1_760_000_000+int64(n)*40_000, 0), []byte{byte(n), 1, byte(n % 5), byte(n % 3)})
}

// id returns an id that usually exists in the issue.
func (c *chance) id(i checkpoint.Issue) checkpoint.ID {
	live, _ := c.of.List(background, i, 0)
	archived, _ := c.of.Archived(background, i, 0)
	there := append(live.Checkpoints, archived.Checkpoints...)
	if len(there) == 0 || c.IntN(8) == 0 {
		return c.fresh()
	}
	return there[c.IntN(len(there))].ID
}

func (c *chance) ids(i checkpoint.Issue, n int) []checkpoint.ID {
	var ids []checkpoint.ID
	for range n {
		if id := c.id(i); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (c *chance) issue() checkpoint.Issue {
	return pick(c, "42", "42", "42", "42", issues[1], issues[2])
}

func (c *chance) step() step {
	i := c.issue()
	switch n := c.IntN(100); {
	case n < 50:
		return c.save(i)
	case n < 60:
		return c.pin(i)
	case n < 68:
		return c.drop(i)
	case n < 75:
		return c.archive(i)
	case n < 83:
		return c.prune(i)
	case n < 92:
		return step{"undo in " + string(i), func(s whole) string { return undo(s, i) }}
	case n < 94:
		return step{"purge " + string(i), func(s whole) string {
			_, err := s.Purge(background, i, nil)
			return kind(err)
		}}
	}
	return c.find(i)
}

var limits = map[checkpoint.Trigger]int{checkpoint.Manual: 3, checkpoint.BatchComplete: 1, checkpoint.Interval: 1}

func (c *chance) policy() retention.Policy {
	p := retention.Policy{}
	for t, n := range limits {
		p[t] = retention.Rule{Keep: n, PerPhase: t == checkpoint.BatchComplete}
	}
	return p
}

func (c *chance) save(i checkpoint.Issue) step {
	id, trigger := c.fresh(), pick(c, checkpoint.Manual, checkpoint.Manual, checkpoint.BatchComplete, checkpoint.Interval, "made_up")
	phase, note, resumable := pick(c, "plan", "code", ""), pick(c, "", "half\n\nof it", "done"), c.IntN(4) > 0
	key, value := pick(c, "a", "b", "c.d"), pick[any](c, "1", "\ttwo\n", nil, "\xff", []any{"x"})
	req := gitstore.SaveRequest{Issue: i, Keep: true, DryRun: c.IntN(12) == 0, IfChanged: c.IntN(5) == 0}
	if _, limited := limits[trigger]; limited && c.IntN(3) > 0 {
		req.Retention = c.policy()
	}
	fails := c.IntN(20) == 0
	req.Edit = func(before *checkpoint.Record) (*checkpoint.Record, error) {
		r := before
		if r == nil {
			r = checkpoint.New()
		}
		r.SetID(id)
		r.SetCreatedAt(c.now())
		r.SetTrigger(trigger)
		r.SetPhase(phase)
		r.SetNote(note)
		r.SetCanResume(resumable)
		if fails {
			return nil, errors.New("no")
		}
		return r, r.Doc().Assign(key, value)
	}
	return step{fmt.Sprintf("save %s in %s, %s, retention %t, dry %t", id, i, trigger, req.Retention != nil, req.DryRun), func(s whole) string {
		saved, err := s.Save(context.Background(), req)
		if err != nil {
			return kind(err)
		}
		return seen(&saved.Checkpoint) + plainRecord(saved.Record) + fmt.Sprint(saved.Pruned)
	}}
}

func (c *chance) pin(i checkpoint.Issue) step {
	id, on := c.id(i), c.IntN(3) > 0
	return step{fmt.Sprintf("pin %s in %s %t", id, i, on), func(s whole) string {
		changed, err := s.Pin(background, i, id, on)
		return fmt.Sprint(changed, kind(err))
	}}
}

func (c *chance) drop(i checkpoint.Issue) step {
	ids := c.ids(i, 1+c.IntN(2))
	return step{fmt.Sprintf("drop %s in %s", ids, i), func(s whole) string { return kind(s.Drop(background, i, ids)) }}
}

func (c *chance) archive(i checkpoint.Issue) step {
	ids, why := c.ids(i, c.IntN(3)), pick(c, reasons...)
	if len(ids) == 0 && c.IntN(3) > 0 {
		ids = c.ids(i, 1)
	}
	return step{fmt.Sprintf("archive %s in %s: %s", ids, i, why), func(s whole) string {
		moved, err := s.Archive(background, i, ids, why)
		return fmt.Sprint(moved, kind(err))
	}}
}

func (c *chance) prune(i checkpoint.Issue) step {
	req := gitstore.PruneRequest{Issue: i, Policy: c.policy(), DryRun: c.IntN(4) == 0, Closed: c.IntN(12) == 0}
	if c.IntN(6) == 0 {
		req.MaxAge = 2
	}
	if c.IntN(2) == 0 {
		req.Stay = &retention.Stay{Completed: 1, Other: 3, Last: pick(c, 0, 0, 2)}
	}
	if c.IntN(10) == 0 {
		req.Plan = "0badcafe"
	}
	return step{fmt.Sprintf("prune %s, dry %t, age %d, closed %t, stay %v", i, req.DryRun, req.MaxAge, req.Closed, req.Stay), func(s whole) string {
		p, err := s.Prune(background, req)
		if err != nil {
			return kind(err)
		}
		return fmt.Sprintf("%+v", *p)
	}}
}

func undo(s whole, i checkpoint.Issue) string {
	done, err := s.Undo(background, i)
	if err != nil {
		return kind(err)
	}
	return fmt.Sprint(done.What, slices.Sorted(slices.Values(done.IDs)))
}

func (c *chance) find(i checkpoint.Issue) step {
	id := string(c.id(i))
	name := pick(c, id, id[len(id)-4:], id[len(id)-8:len(id)-4], id[:len("CP-plan-2025")], "latest", "latest~1", "latest~7", "@{phase:code}", ":/half")
	return step{"find " + name + " in " + string(i), func(s whole) string {
		found, err := s.Find(background, i, name)
		if err != nil {
			return kind(err)
		}
		return seen(found)
	}}
}
