package join

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"
)

// The model: worlds of clones and remotes that do what gitstore does, step by
// step, with everything in between that can go wrong. What must be true in the
// end is kept apart, in a plainer form that knows nothing of joins.

// A chain is a ref's value. It never changes.
type chain struct {
	tip   string
	state State
	order []checkpoint.ID // oldest first
}

func (c *chain) asChain() Chain {
	if c == nil {
		return Chain{}
	}
	return Chain{c.tip, c.state}
}

func (c *chain) ledger() *ledger.Ledger {
	if c == nil {
		return ledger.New()
	}
	return c.state.Ledger
}

// newest is the clock of the newest checkpoint, as a save reads it.
func (c *chain) newest() checkpoint.Clock {
	if c == nil || len(c.order) == 0 {
		return 0
	}
	return c.state.Checkpoints[c.order[len(c.order)-1]].Clock
}

// A clone is one repository.
type clone struct {
	name        string
	dead        bool
	skew        time.Duration
	keep        int // its policy: the newest so many
	public, own *chain
	archive     *chain
	undo        []map[checkpoint.ID]Checkpoint // what its archivings moved, the newest last
	shallow     bool                           // its chain is cut: it is only appended to
	shared      bool                           // has been seen by others, or has seen them
	flight      *flight
	knows       *truth
}

// A remote is a bare repository.
type remote struct {
	name    string
	ref     *chain
	archive *chain
	past    []*chain // values that it had
	knows   *truth
}

// A flight is a sync that is under way.
type flight struct {
	to          *remote
	phase       int
	seen        *chain
	seenKnows   *truth
	public, own *chain // as they were when the result was made
	result      *chain
	looked      bool   // at the remote's archive, which moves too
	seenArchive *chain // there
	archive     *chain // here, when the result was made
	shared      *chain // what the remote's archive becomes
	filed       *chain // what the archive here becomes
	pushed      *truth // what the result holds
}

// A world is one random run.
type world struct {
	r       *rand.Rand
	rules   rules
	now     time.Time
	clones  []*clone
	remotes []*remote
	far     bool // clocks are years apart
	forged  bool // checkpoints with one id and different contents
	made    int
	steps   int
	kinds   map[string]int // how often each kind of step did something
	saved   map[checkpoint.ID]bool
	on      map[checkpoint.ID][]checkpoint.ID  // the checkpoints below each one when it was saved
	clocks  map[checkpoint.ID]checkpoint.Clock // of every checkpoint that was saved
	doubt   map[checkpoint.ID]bool             // touched by an operation that was killed
	gone    *truth                             // what was dropped, archived and pruned at all
	expired bool                               // a pruned line did, in a join
	healing bool                               // everybody syncs everything
	broken  string                             // the invariant that was violated
}

func newWorld(seed uint64, ru rules) *world {
	w := &world{
		r: rand.New(rand.NewPCG(seed, 7)), rules: ru, now: time.Unix(1_700_000_000, 0),
		kinds: map[string]int{}, saved: map[checkpoint.ID]bool{}, on: map[checkpoint.ID][]checkpoint.ID{}, clocks: map[checkpoint.ID]checkpoint.Clock{}, doubt: map[checkpoint.ID]bool{}, gone: newTruth(),
	}
	w.far, w.forged = seed%2 == 0, seed%8 == 1
	for k := range 1 + w.r.IntN(2) {
		w.remotes = append(w.remotes, &remote{name: fmt.Sprint("r", k), knows: newTruth()})
	}
	for range 2 + w.r.IntN(5) {
		w.addClone()
	}
	return w
}

func (w *world) addClone() *clone {
	c := &clone{name: fmt.Sprint("c", len(w.clones)), keep: 2 + w.r.IntN(5), knows: newTruth()}
	switch {
	case w.far && w.r.IntN(3) == 0:
		c.skew = time.Duration(w.r.Int64N(int64(6*365*24*time.Hour))) - 3*365*24*time.Hour
	case w.r.IntN(2) == 0:
		c.skew = time.Duration(w.r.Int64N(int64(8*time.Hour))) - 4*time.Hour
	}
	c.shallow = w.r.IntN(6) == 0
	w.clones = append(w.clones, c)
	return c
}

func (w *world) violate(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf("step %d: ", w.steps) + fmt.Sprintf(format, args...)
	}
}

func (w *world) at(c *clone) time.Time { return w.now.Add(c.skew) }

// alive picks a clone, nil when there is none.
func (w *world) alive() *clone {
	var list []*clone
	for _, c := range w.clones {
		if !c.dead {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[w.r.IntN(len(list))]
}

// one picks a checkpoint of a chain, "" when it has none.
func (w *world) one(c *chain) checkpoint.ID {
	if c == nil || len(c.order) == 0 {
		return ""
	}
	return c.order[w.r.IntN(len(c.order))]
}

// write makes a chain. Its tip is a digest of all that a tip commit's hash
// depends on: the commits, and for a ledger commit who made it and when. mark
// is "" where the newest checkpoint carries the ledger.
func write(s State, order []checkpoint.ID, mark string) *chain {
	h := fnv.New64a()
	for _, id := range order {
		fmt.Fprintln(h, id, s.Checkpoints[id])
	}
	if mark != "" {
		h.Write(s.Ledger.Encode())
		fmt.Fprintln(h, mark)
	}
	return &chain{fmt.Sprintf("%016x", h.Sum64()), s, order}
}

func (w *world) mark(c *clone) string { return fmt.Sprint(c.name, " ", w.steps) }
