package join

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// The model simulates clones and remotes that run the steps of gitstore, with
// interruptions at any step. The expected result comes from separate, simpler code
// without joins.

// A chain is the immutable value of a ref.
type chain struct {
	tip   string
	state State
	order []Member // oldest first
	below *chain   // chain that this chain extends by commits, nil if it was rewritten
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

// newest returns the newest clock, as a save reads it.
func (c *chain) newest() checkpoint.Clock {
	if c == nil || len(c.order) == 0 {
		return 0
	}
	newest := checkpoint.Clock(0)
	for _, cp := range c.state.Members {
		newest = max(newest, cp.Clock)
	}
	return newest
}

// A clone is a local repository.
type clone struct {
	name        string
	dead        bool
	skew        time.Duration
	keep        int // retention policy: the number of newest checkpoints to keep
	public, own *chain
	archive     *chain
	undo        []map[Member]Checkpoint // checkpoints moved by each archiving, newest last
	shallow     bool                    // shallow clone: append only
	shared      bool                    // the chain was synced or changed by plain git
	flight      *flight
	knows       *truth
}

// A remote is a bare repository.
type remote struct {
	name    string
	ref     *chain
	archive *chain
	past    []*chain // former values
	knows   *truth
}

// A flight is a sync in progress.
type flight struct {
	to          *remote
	phase       int
	seen        *chain
	seenKnows   *truth
	public, own *chain // values at the time of the merge
	result      *chain
	looked      bool   // the sync includes the remote's archive
	seenArchive *chain // remote archive as read
	archive     *chain // local archive at the time of the merge
	shared      *chain // new archive of the remote
	filed       *chain // new local archive
	pushed      *truth // facts in the result
}

// A world is the state of one random run.
type world struct {
	r       *rand.Rand
	breaks  rule // the rule that no clone keeps
	now     time.Time
	clones  []*clone
	remotes []*remote
	far     bool // clocks differ by years
	hostile bool // a stranger pushes other contents and facts
	jobs    bool // most clones are shallow and save only, like those of CI jobs
	made    int
	steps   int
	kinds   map[string]int // number of effective steps of each kind
	saved   map[checkpoint.ID]bool
	clocks  map[checkpoint.ID]checkpoint.Clock // clock of each saved checkpoint
	doubt   map[checkpoint.ID]bool             // touched by a killed operation
	gone    *truth                             // all facts that were ever written
	expired bool                               // a merge expired a pruned line
	healing bool                               // final phase: all clones sync with all remotes
	broken  string                             // violated invariant
}

func newWorld(seed uint64, breaks rule) *world {
	w := &world{
		r: rand.New(rand.NewPCG(seed, 7)), breaks: breaks, now: time.Unix(1_700_000_000, 0),
		kinds: map[string]int{}, saved: map[checkpoint.ID]bool{}, clocks: map[checkpoint.ID]checkpoint.Clock{}, doubt: map[checkpoint.ID]bool{}, gone: newTruth(),
	}
	w.far, w.hostile, w.jobs = seed%2 == 0, seed%8 == 1 || seed%8 == 2, seed%4 == 3
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
	c.shallow = w.r.IntN(6) == 0 || w.jobs && w.r.IntN(4) > 0
	w.clones = append(w.clones, c)
	return c
}

func (w *world) violate(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf("step %d: ", w.steps) + fmt.Sprintf(format, args...)
	}
}

func (w *world) at(c *clone) time.Time { return w.now.Add(c.skew) }

// alive returns a random live clone, nil if all are dead.
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

// one returns a random checkpoint of a chain, the zero value if the chain is empty.
func (w *world) one(c *chain) Member {
	if c == nil || len(c.order) == 0 {
		return Member{}
	}
	return c.order[w.r.IntN(len(c.order))]
}

// write returns a chain. Its tip is a digest of the inputs of the commit hash: the
// commits, and the author and time of a ledger commit. mark is "" if the newest
// checkpoint stores the ledger.
func write(s State, order []Member, mark string) *chain {
	h := fnv.New64a()
	for _, m := range order {
		fmt.Fprintln(h, m, s.Members[m])
	}
	if mark != "" {
		h.Write(s.Ledger.Encode())
		fmt.Fprintln(h, mark)
	}
	return &chain{fmt.Sprintf("%016x", h.Sum64()), s, order, nil}
}

func (w *world) mark(c *clone) string { return fmt.Sprint(c.name, " ", w.steps) }
