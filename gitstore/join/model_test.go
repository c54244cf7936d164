package join

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"

	"github.com/stretchr/testify/require"
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
	shared      bool // has been seen by others, or has seen them
	flight      *flight
	knows       *truth
}

// A remote is a bare repository.
type remote struct {
	name  string
	ref   *chain
	past  []*chain // values that it had
	knows *truth
}

// A flight is a sync that is under way.
type flight struct {
	to          *remote
	phase       int
	seen        *chain
	seenKnows   *truth
	public, own *chain // as they were when the result was made
	result      *chain
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
	doubt   map[checkpoint.ID]bool // touched by an operation that was killed
	gone    *truth                 // what was dropped, archived and pruned at all
	expired bool                   // a pruned line did, in a join
	broken  string                 // the invariant that was violated
}

func newWorld(seed uint64, ru rules) *world {
	w := &world{
		r: rand.New(rand.NewPCG(seed, 7)), rules: ru, now: time.Unix(1_700_000_000, 0),
		kinds: map[string]int{}, saved: map[checkpoint.ID]bool{}, doubt: map[checkpoint.ID]bool{}, gone: newTruth(),
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

// local is an operation on one clone's own chain, in one transaction: change
// gets a copy of the state. It first brings back what plain git took.
func (w *world) local(c *clone, kind string, change func(s *State, order []checkpoint.ID) []checkpoint.ID) bool {
	w.absorb(c)
	base := c.public.asChain().State
	s := State{maps.Clone(base.Checkpoints), c.public.ledger().Clone()}
	if s.Checkpoints == nil {
		s.Checkpoints = map[checkpoint.ID]Checkpoint{}
	}
	var order []checkpoint.ID
	if c.public != nil {
		order = slices.Clone(c.public.order)
	}
	order = change(&s, order)
	if order == nil {
		return false
	}
	mark := ""
	if kind != "save" {
		mark = w.mark(c)
	}
	c.public = write(s, order, mark)
	if w.r.IntN(40) == 0 { // killed between two refs
		w.kinds["killed"]++
		return false
	}
	c.own = c.public
	w.kinds[kind]++
	return true
}

// absorb joins what plain git made of the public ref with what this clone
// wrote last.
func (w *world) absorb(c *clone) {
	if c.own == c.public {
		return
	}
	c.shared = true
	if !w.rules.own {
		c.own = c.public
		return
	}
	c.knows.add(truthOf(c.public))
	joined := w.join(c, c.public, c.own)
	c.public, c.own = joined, joined
}

// join is what a clone makes of chains: one of them, or a new one.
func (w *world) join(c *clone, chains ...*chain) *chain {
	list := make([]Chain, len(chains))
	for k := range chains {
		list[k] = chains[k].asChain()
	}
	s, as := w.rules.merge(w.at(c), list...)
	for _, in := range list {
		if in.State.Ledger != nil {
			w.expired = w.expired || forgot(in.State.Ledger.Pruned, s.Ledger)
		}
	}
	if as >= 0 {
		return chains[as]
	}
	if len(s.Checkpoints) == 0 && s.Ledger.IsEmpty() {
		return nil
	}
	newest := s.Ledger.NewestPruned()
	for _, cp := range s.Checkpoints {
		newest = max(newest, cp.Clock)
	}
	for id, at := range s.Ledger.Pruned {
		if at < newest-30*day {
			w.violate("%s keeps an old line about %s", c.name, id)
		}
	}
	return write(s, w.rules.order(s), w.mark(c))
}

// forgot reports whether a ledger no longer knows of one that it was pruned,
// and nothing stronger.
func forgot(pruned map[checkpoint.ID]checkpoint.Clock, l *ledger.Ledger) bool {
	for id := range pruned {
		if _, ok := l.Pruned[id]; !ok && !l.Deleted[id] {
			return true
		}
	}
	return false
}

func (w *world) save(c *clone) {
	now := w.at(c)
	w.made++
	id := checkpoint.ID(fmt.Sprintf("CP-%04d-%s", (w.made*7919)%10_000, c.name))
	var clock, below checkpoint.Clock
	done := w.local(c, "save", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		below = c.public.newest()
		clock = w.rules.tick(below, now)
		s.Checkpoints[id] = Checkpoint{clock, fmt.Sprintf("%04x", w.r.IntN(1<<16))}
		return append(order, id)
	})
	w.saved[id] = true
	switch {
	case clock.Ahead(now):
		w.violate("%s follows a clock that is far ahead", c.name)
	case clock <= below && !below.Ahead(now):
		w.violate("%s saves before what it has", c.name)
	}
	if done {
		c.knows.live[id] = c.public.state.Checkpoints[id].Tree
	} else {
		w.doubt[id] = true
	}
}

// forge gives a checkpoint another content, as somebody may who rewrites a
// chain by hand.
func (w *world) forge(c *clone) {
	id := w.one(c.public)
	if !w.forged || id == "" {
		return
	}
	if w.local(c, "forge", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		cp, ok := s.Checkpoints[id]
		if !ok {
			return nil
		}
		cp.Tree = fmt.Sprintf("%04x", w.r.IntN(1<<16))
		s.Checkpoints[id] = cp
		return order
	}) {
		w.doubt[id] = true
	}
}

func (w *world) prune(c *clone) {
	var ids []checkpoint.ID
	var at checkpoint.Clock
	marked := false
	done := w.local(c, "prune", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		for k, id := range order {
			if k < len(order)-c.keep && !s.Ledger.Pinned(id) {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		at = s.Ledger.NewestPruned()
		for _, cp := range s.Checkpoints {
			at = max(at, cp.Clock)
		}
		if marked = c.shared; marked {
			for _, id := range ids {
				s.Ledger.Pruned[id] = at
			}
			s.Ledger.Expire(at)
		}
		return remove(s, order, ids...)
	})
	for _, id := range ids {
		if w.gone.pruned[id] = max(w.gone.pruned[id], at); !done {
			w.doubt[id] = true
			continue
		}
		delete(c.knows.live, id)
		if marked {
			c.knows.pruned[id] = max(c.knows.pruned[id], at)
		}
	}
}

func remove(s *State, order []checkpoint.ID, ids ...checkpoint.ID) []checkpoint.ID {
	for _, id := range ids {
		delete(s.Checkpoints, id)
	}
	return slices.DeleteFunc(order, func(id checkpoint.ID) bool { return slices.Contains(ids, id) })
}

func (w *world) drop(c *clone) {
	id := w.one(c.public)
	if id == "" {
		return
	}
	w.gone.deleted[id] = true
	if w.local(c, "drop", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		s.Ledger.Deleted[id] = true
		delete(s.Ledger.Archived, id)
		delete(s.Ledger.Pruned, id)
		delete(s.Ledger.Pins, id)
		return remove(s, order, id)
	}) {
		c.knows.deleted[id] = true
	} else {
		w.doubt[id] = true
	}
}

func (w *world) archive(c *clone) {
	id := w.one(c.public)
	if id == "" {
		return
	}
	w.gone.archived[id] = ledger.Archival{}
	how := ledger.Archival{Reason: []string{"aged", "failed"}[w.r.IntN(2)], Clock: checkpoint.Clock(w.at(c).UnixNano())}
	if w.local(c, "archive", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		if s.Ledger.Dead(id) {
			return nil
		}
		s.Ledger.Archived[id] = how
		return remove(s, order, id)
	}) {
		c.knows.archive(id, how)
	} else {
		w.doubt[id] = true
	}
}

func (w *world) pin(c *clone) {
	id := w.one(c.public)
	var p ledger.Pin
	if id == "" {
		return
	}
	now := w.at(c)
	if w.r.IntN(2) == 0 { // several clones, one checkpoint, one moment
		now, id = now.Truncate(24*time.Hour), c.public.order[0]
	}
	on := !c.public.ledger().Pinned(id)
	if w.local(c, "pin", func(s *State, order []checkpoint.ID) []checkpoint.ID {
		if _, there := s.Checkpoints[id]; !there || s.Ledger.Pinned(id) == on {
			return nil
		}
		s.Ledger.SetPin(id, on, now)
		p = s.Ledger.Pins[id]
		return order
	}) {
		c.knows.pin(id, p)
	} else if p != (ledger.Pin{}) {
		w.doubt[id] = true
	}
}

// sync takes a sync one step further, or begins one. It mirrors gitstore's:
// look at the remote, join, push with a lease, move the refs here in one
// transaction.
func (w *world) sync(c *clone, to *remote) {
	f := c.flight
	if f == nil {
		c.flight = &flight{to: to, seen: to.ref, seenKnows: to.knows.clone()}
		return
	}
	f.phase++
	switch f.phase {
	case 1:
		w.decide(c, f)
	case 2:
		w.push(c, f)
	default:
		c.flight = nil
		w.land(c, f)
	}
}

func (w *world) decide(c *clone, f *flight) {
	f.public, f.own = c.public, c.own
	list := []*chain{c.public, c.own, f.seen}
	switch {
	case !w.rules.own:
		list = []*chain{c.public, f.seen}
	case w.rules.takeTheirs && f.seen != nil:
		list = []*chain{f.seen}
	}
	if w.rules.absenceDeletes && f.seen == nil && c.shared {
		list = []*chain{nil}
	}
	f.result = w.join(c, list...)
	f.pushed = c.knows.clone()
	f.pushed.add(truthOf(f.result))
}

func (w *world) push(c *clone, f *flight) {
	switch {
	case f.result == f.seen || f.result == nil:
		return
	case f.to.ref != f.seen && w.rules.lease:
		w.kinds["refused"]++
		c.flight = nil
		return
	}
	f.to.set(f.result)
	f.to.knows.add(f.pushed)
	w.kinds["pushed"]++
}

func (r *remote) set(c *chain) {
	r.past = append(r.past, r.ref)
	r.ref = c
}

// land moves the refs here; where somebody moved them meanwhile, the sync has
// to begin again.
func (w *world) land(c *clone, f *flight) {
	c.shared = c.shared || f.result != nil
	if c.public != f.public || c.own != f.own {
		w.kinds["lost the race"]++
		return
	}
	if f.result != f.public {
		w.kinds["landed"]++
	}
	c.public = f.result
	if w.r.IntN(40) == 0 { // killed between two refs
		w.kinds["killed"]++
		return
	}
	c.own = f.result
	c.knows.add(f.pushed)
	c.knows.add(f.seenKnows)
}

// plainGit does what somebody may do without this program.
func (w *world) plainGit(c *clone) {
	to := w.remotes[w.r.IntN(len(w.remotes))]
	kind := []string{"fetch", "fetch +", "fetch --prune", "reset", "delete", "push", "push --force", "push :ref", "reset remote", "mirror"}[w.r.IntN(10)]
	switch kind {
	case "fetch": // fast-forward only
		if to.ref == nil || c.public != nil && !starts(to.ref, c.public) {
			return
		}
		c.public = to.ref
	case "fetch +":
		if to.ref == nil {
			return
		}
		c.public = to.ref
	case "fetch --prune":
		c.public = to.ref
	case "reset":
		c.public = to.past1(w.r)
	case "delete":
		c.public = nil
	case "push":
		if c.public == nil || to.ref != nil && !starts(c.public, to.ref) {
			return
		}
		to.force(c.public)
	case "push --force":
		if c.public == nil {
			return
		}
		to.force(c.public)
	case "push :ref":
		to.force(nil)
	case "reset remote":
		to.force(to.past1(w.r))
	case "mirror":
		to.force(w.remotes[w.r.IntN(len(w.remotes))].ref)
	}
	w.kinds[kind]++
}

// force sets a remote's ref by hand: whatever was only there is lost, which
// nobody can help.
func (r *remote) force(c *chain) {
	r.set(c)
	r.knows = truthOf(c)
}

func (r *remote) past1(rnd *rand.Rand) *chain {
	if len(r.past) == 0 {
		return nil
	}
	return r.past[rnd.IntN(len(r.past))]
}

// starts reports whether b is a continuation of a, commit for commit.
func starts(b, a *chain) bool {
	if len(a.order) > len(b.order) || !slices.Equal(b.order[:len(a.order)], a.order) {
		return false
	}
	for _, id := range a.order {
		if a.state.Checkpoints[id] != b.state.Checkpoints[id] {
			return false
		}
	}
	return a.ledger().Equal(b.ledger()) // what ledger commits say is in the newest
}

func (w *world) step() {
	w.steps++
	w.now = w.now.Add(time.Duration(w.r.Int64N(int64([]time.Duration{1, time.Second, time.Hour, 20 * time.Hour}[w.r.IntN(4)]))))
	if w.r.IntN(200) == 0 {
		w.now = w.now.Add(40 * 24 * time.Hour)
	}
	c := w.alive()
	if c == nil {
		w.addClone()
		return
	}
	switch n := w.r.IntN(100); {
	case n < 22:
		w.save(c)
	case n < 27:
		w.prune(c)
	case n < 33:
		w.pin(c)
	case n < 35:
		w.drop(c)
	case n < 37:
		w.archive(c)
	case n < 38:
		w.forge(c)
	case n < 40:
		c.flight = nil // the sync was killed
	case n < 43:
		w.plainGit(c)
	case n < 44:
		w.die(c)
	default:
		w.sync(c, w.remotes[w.r.IntN(len(w.remotes))])
	}
}

// die ends a clone, as a runner ends, and another one may come.
func (w *world) die(c *clone) {
	if w.r.IntN(3) > 0 {
		return
	}
	c.dead, c.flight = true, nil
	w.kinds["died"]++
	if len(w.clones) < 12 {
		w.addClone()
	}
}

func (w *world) run(steps int) {
	for w.steps < steps && w.broken == "" {
		w.step()
	}
	if w.broken == "" {
		w.heal()
	}
}

// heal lets everybody finish and look again, as often as it takes to hear of
// everything: twice for one remote, once more for another.
func (w *world) heal() {
	if w.alive() == nil {
		w.addClone()
	}
	w.expired = false
	for range 1 + len(w.remotes) {
		w.round()
	}
	if w.expired { // what one brought back has to get around, too
		w.round()
	}
	w.checkEnd()
	before := w.kinds["pushed"] + w.kinds["landed"]
	w.round()
	if w.kinds["pushed"]+w.kinds["landed"] != before {
		w.violate("a sync changes something when everybody knows everything")
	}
}

func (w *world) round() {
	for _, c := range w.clones {
		if c.dead {
			continue
		}
		for _, to := range w.remotes {
			c.flight = nil
			w.sync(c, to)
			for c.flight != nil {
				w.sync(c, to)
			}
		}
	}
}

// modelSteps are the steps of all worlds together; a world has worldSteps.
// GIT_CHECKPOINT_MODEL=full does a million, in about half a minute.
func modelSteps() int {
	if os.Getenv("GIT_CHECKPOINT_MODEL") == "full" {
		return 1_000_000
	}
	return 80_000
}

const worldSteps = 400

func TestModel(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(modelSteps() / worldSteps) {
		w := newWorld(seed, keepAll())
		w.run(worldSteps)
		require.Emptyf(t, w.broken, "seed %d", seed)
		for kind, n := range w.kinds {
			kinds[kind] += n
		}
	}
	for _, kind := range []string{
		"save", "prune", "pin", "drop", "archive", "forge", "killed", "died", "pushed", "landed", "refused", "lost the race",
		"fetch", "fetch +", "fetch --prune", "reset", "delete", "push", "push --force", "push :ref", "reset remote", "mirror",
	} {
		require.NotZerof(t, kinds[kind], "no world had a %q: %v", kind, kinds)
	}
	t.Log(kinds)
}
