package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"git-checkpoint/commands/internal/guard"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// BisectCommand declares git checkpoint bisect.
var BisectCommand = invoke.Command{
	Name: "bisect", Usage: "find the first checkpoint at which a command fails", Args: "[ISSUE] -- CMD...", Max: 1, Category: "Look",
	ShortHelp: []string{"from", "to", "jobs"},
	Description: "Runs CMD at some of the checkpoints, in a temporary copy of their whole state, and prints\n" +
		"the first one at which CMD fails: its turn, its request and its changes. Index, worktree,\n" +
		"HEAD and refs do not change. The exit codes of CMD are those of git bisect run: 0 is good,\n" +
		"125 skips the checkpoint, others up to 127 are bad, and higher ones end the search.\n" +
		"CMD runs in the directory that corresponds to this one. GIT_CHECKPOINT_ID names the\n" +
		"checkpoint.",
	Examples: []string{
		"git checkpoint bisect -- go test ./...",
		"git checkpoint bisect 42 --from first --jobs 4 -- make test",
	},
	ReadsOnly: true,
	New:       invoke.Bind((*bisectOptions).flags, runBisect),
}

type bisectOptions struct {
	from, to string // names of checkpoints: good, and bad
	jobs     int
}

func (o *bisectOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "from", Usage: "CMD succeeds at checkpoint `ID`: look only at later ones", Destination: &o.from},
		&cli.StringFlag{Name: "to", Usage: "CMD fails at checkpoint `ID`: look only at earlier ones", Destination: &o.to},
		&cli.IntFlag{Name: "jobs", Usage: "test `N` checkpoints at once", Value: 1, Destination: &o.jobs},
	}
}

func runBisect(c *invoke.Invocation, o *bisectOptions) error {
	if o.jobs < 1 || o.jobs > 64 {
		return failure.Usagef("bisect: --jobs: %d: want 1 to 64", o.jobs)
	}
	if len(c.Line.Paths) == 0 {
		return failure.Errorf(failure.Usage, "git checkpoint bisect -- CMD", "bisect: no command is given: put it after --")
	}
	if err := c.Open(); err != nil {
		return err
	}
	issue, err := c.Issue()
	if err != nil {
		return err
	}
	gitstore.RemoveLeftTemporaries()
	line, err := c.Store.Line(c.Ctx, issue)
	if err != nil {
		return err
	}
	defer line.Close()
	b := &bisection{c: c, line: line, records: map[checkpoint.ID]*checkpoint.Record{}}
	if err := b.bound(o, issue); err != nil {
		return err
	}
	guard.SurviveClosedPipes() // the copies are removed then too
	err = b.run(o.jobs)
	for _, t := range b.trials {
		t.Close()
	}
	if err != nil {
		return err
	}
	return b.show(issue)
}

// bound sets the states that can be the first bad state: the checkpoint of --to, or the newest one, and
// its ancestors, without those of the checkpoint of --from.
func (b *bisection) bound(o *bisectOptions, issue checkpoint.Issue) error {
	states := b.line.States
	find := func(flag, name string) (int, error) {
		cp, err := b.c.Find(issue, name)
		if err != nil {
			return 0, err
		}
		if at := slices.IndexFunc(states, func(st gitstore.LineState) bool { return st.Checkpoint.ID == cp.ID }); at >= 0 {
			return at, nil
		}
		return 0, failure.Errorf(failure.Invalid, "git checkpoint list "+view.IssueArg(issue), "bisect: --%s: %s is not in the chain", flag, cp.Name())
	}
	b.search = search{results: make([]outcome, len(states)), last: len(states) - 1, lastBad: o.to != "", good: -1}
	b.search.before = view.Each(states, func(st gitstore.LineState) []int { return st.Before })
	var err error
	if o.to != "" {
		if b.search.last, err = find("to", o.to); err != nil {
			return err
		}
	}
	if o.from != "" {
		if b.search.good, err = find("from", o.from); err != nil {
			return err
		}
		if b.search.good == b.search.last || !b.line.Reached(b.search.last)[b.search.good] {
			return failure.Errorf(failure.Usage, "git checkpoint list "+view.IssueArg(issue), "bisect: %s is not before %s", states[b.search.good].Checkpoint.ID, states[b.search.last].Checkpoint.ID)
		}
	}
	list, _, _ := b.search.part()
	b.among = len(list)
	return nil
}

type bisection struct {
	c      *invoke.Invocation
	line   *gitstore.Line
	search search
	among  int // states at the begin of the search
	runs   int

	mu      sync.Mutex
	trials  []*gitstore.Trial                    // idle ones
	records map[checkpoint.ID]*checkpoint.Record // of tested states, which can be dropped meanwhile
}

func (b *bisection) run(jobs int) error {
	for {
		picked := b.search.next(jobs)
		if len(picked) == 0 {
			return nil
		}
		left, _, _ := b.search.part()
		b.c.Infof("%s left, testing %s", view.Plural(len(left), "checkpoint"), b.names(picked))
		results, errs := make([]outcome, len(picked)), make([]error, len(picked))
		ctx, stop := context.WithCancel(b.c.Ctx)
		var wait sync.WaitGroup
		for k, i := range picked {
			wait.Go(func() {
				if results[k], errs[k] = b.test(ctx, &b.line.States[i]); errs[k] != nil {
					stop()
				}
			})
		}
		wait.Wait()
		stop()
		b.runs += len(picked)
		if err := b.c.Ctx.Err(); err != nil {
			return err
		}
		for k, i := range picked {
			if errs[k] != nil && !errors.Is(errs[k], context.Canceled) {
				return errs[k]
			}
			b.search.results[i] = results[k]
			b.c.Infof("%s: %s", b.name(i), [...]string{"not tested", "good", "bad", "skipped"}[results[k]])
		}
	}
}

func (b *bisection) name(i int) string { return b.line.States[i].Checkpoint.ID.Short() }

func (b *bisection) names(list []int) string { return view.List(view.Each(list, b.name)) }

func (b *bisection) test(ctx context.Context, st *gitstore.LineState) (outcome, error) {
	if r, err := b.c.Store.Record(&st.Checkpoint); err == nil {
		b.mu.Lock()
		b.records[st.Checkpoint.ID] = r
		b.mu.Unlock()
	}
	t, err := b.trial(ctx)
	if err != nil {
		return untested, err
	}
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.trials = append(b.trials, t)
	}()
	code, err := work.RunInTrial(ctx, b.c, t, st, b.c.Line.Paths)
	switch {
	case err != nil:
		return untested, err
	case code == 0:
		return good, nil
	case code == work.SkippedCode:
		return skipped, nil
	case code >= 1 && code <= 127:
		return bad, nil
	case code < 0:
		return untested, failure.Errorf(failure.Failure, "", "bisect: a signal ended CMD at %s: the search ends", st.Checkpoint.ID)
	}
	return untested, failure.Errorf(failure.Failure, "", "bisect: CMD ended with exit status %d at %s: the search ends", code, st.Checkpoint.ID)
}

// trial returns an idle trial, or a new one.
func (b *bisection) trial(ctx context.Context) (*gitstore.Trial, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.trials); n > 0 {
		t := b.trials[n-1]
		b.trials = b.trials[:n-1]
		return t, nil
	}
	return b.line.NewTrial(ctx)
}

// show prints the result: the first bad checkpoint with its changes, or the checkpoints that may
// be it.
func (b *bisection) show(issue checkpoint.Issue) error {
	c := b.c
	found := b.search.result()
	skips := 0
	for _, r := range b.search.results {
		if r == skipped {
			skips++
		}
	}
	switch {
	case len(found) == 0:
		return failure.Errorf(failure.None, "git checkpoint list "+view.IssueArg(issue), "bisect: CMD fails at none of %s", view.Plural(b.among, "checkpoint"))
	case len(found) > 1:
		return failure.Errorf(failure.Partial, "", "bisect: only skipped checkpoints are left: CMD begins to fail at one of %s", b.names(found))
	}
	st := &b.line.States[found[0]]
	r := b.records[st.Checkpoint.ID]
	if r == nil { // the command did not run at the state of --to
		r, _ = c.Store.Record(&st.Checkpoint)
	}
	before := b.line.StateBefore(st)
	o := view.OriginOf(&gitstore.BlameSource{Checkpoint: &st.Checkpoint, Author: st.Checkpoint.Author, Summary: st.Checkpoint.Note}, r)
	if c.Line.JSON {
		rec := view.Bisect{Type: "bisect", Issue: string(issue), CheckpointID: string(st.Checkpoint.ID), Runs: b.runs, Skipped: skips, Commits: b.line.HasStep(st)}
		if before != nil {
			rec.Before = string(before.Checkpoint.ID)
			rec.Restore = fmt.Sprintf("git checkpoint restore %s %s", view.IssueArg(issue), before.Checkpoint.ID)
		}
		if o.IsTurn {
			rec.Turn, rec.Agent, rec.Session, rec.Request = new(o.Turn.Number), o.Turn.Agent, o.Session, o.Turn.Request
		}
		return c.WriteJSON(rec)
	}
	c.Printf("%s, %s, is the first checkpoint at which CMD fails (%s, %d skipped)\n", st.Checkpoint.ID, view.Clean(o.Who()), view.Plural(b.runs, "run"), skips)
	if o.IsTurn && o.Session != "" {
		c.Printf("Session: %s\n", view.Clean(o.Session))
	}
	if what := o.What(); what != "" {
		c.Printf("Request: %s\n", view.Clean(view.FirstLine(what)))
	}
	if b.line.HasStep(st) {
		c.Infof("commits came between it and the checkpoint before: they can be the cause too")
	}
	name := view.IssueArg(issue)
	if before == nil {
		return b.showChanges(nil, st, "git checkpoint show "+name+" "+string(st.Checkpoint.ID))
	}
	c.Infof("hint: git checkpoint diff %s %s %s", name, before.Checkpoint.ID, st.Checkpoint.ID)
	return b.showChanges(&before.Checkpoint, st, "git checkpoint restore "+name+" "+string(before.Checkpoint.ID))
}

func (b *bisection) showChanges(from *gitstore.Checkpoint, st *gitstore.LineState, command string) error {
	d, err := b.c.Store.Files.Compare(from, &st.Checkpoint)
	if err == nil {
		b.c.Printf("\n")
		err = d.Stat(b.c.Ctx, b.c.Out, 80)
	}
	if _, gone := b.c.Store.ByID(b.c.Ctx, st.Checkpoint.Issue, st.Checkpoint.ID); err != nil && gone != nil {
		b.c.Warnf("%s was dropped meanwhile, so its changes are not shown", st.Checkpoint.ID)
		return nil
	}
	if err == nil {
		b.c.Infof("hint: %s", command)
	}
	return err
}

// An outcome is the result of the command at one state.
type outcome int

const (
	untested outcome = iota
	good             // the command succeeds
	bad              // it fails
	skipped          // it cannot be tested
)

// A search looks for the first bad state of a history, as git bisect does. All descendants of a bad
// state are assumed to be bad, and all ancestors of a good state to be good.
type search struct {
	before  [][]int // parents of each state, with smaller indexes
	results []outcome
	last    int  // newest state of the search
	lastBad bool // last is bad, without a test
	good    int  // index of a good state that needs no test, or -1
}

// reach returns which states are among the given ones and their ancestors.
func (s *search) reach(from ...int) []bool {
	in := make([]bool, len(s.before))
	for _, i := range from {
		in[i] = true
	}
	for i := len(in) - 1; i >= 0; i-- {
		for _, k := range s.before[i] {
			in[k] = in[k] || in[i]
		}
	}
	return in
}

// part returns the states that can be the first bad state, oldest first: the state end and its ancestors,
// without ancestors of a good state. The state end is the oldest bad state, or last.
func (s *search) part() (list []int, end int, isBad bool) {
	var tested []int
	for i, r := range s.results {
		if r == good {
			tested = append(tested, i)
		}
	}
	if s.good >= 0 {
		tested = append(tested, s.good)
	}
	isGood := s.reach(tested...)
	pick := func(end int) (list []int) {
		for i, in := range s.reach(end) {
			if in && !isGood[i] {
				list = append(list, i)
			}
		}
		return list
	}
	list, end, isBad = pick(s.last), s.last, s.lastBad
	for _, i := range list {
		if s.results[i] != bad {
			continue
		}
		if more := pick(i); !isBad || len(more) < len(list) {
			list, end, isBad = more, i, true
		}
	}
	return list, end, isBad
}

// next returns up to n states to test, which divide the untested ones evenly. It returns none if
// the search has ended. If each state came after one other, and one is tested at a time, a search takes
// at most ceil(log2(states+1)) tests and one more for each skipped state.
func (s *search) next(n int) (picked []int) {
	list, end, isBad := s.part()
	var open []int
	isOpen := make([]bool, len(s.before))
	for _, i := range list {
		if isOpen[i] = s.results[i] == untested && (i != end || !isBad); isOpen[i] {
			open = append(open, i)
		}
	}
	// The weight of a state is the number of open states that its test decides if it is good.
	weight := make([]int, len(open))
	for k, i := range open {
		for j, in := range s.reach(i) {
			if in && isOpen[j] {
				weight[k]++
			}
		}
	}
	for k := 1; k <= n && len(open) > 0; k++ {
		want, best := len(open)*k/(n+1)+1, 0
		for j := range open {
			if abs(weight[j]-want) < abs(weight[best]-want) {
				best = j
			}
		}
		if !slices.Contains(picked, open[best]) {
			picked = append(picked, open[best])
		}
	}
	return picked
}

func abs(n int) int { return max(n, -n) }

// result returns the states that may be the first bad one: none if no state is bad, one if it is
// found, several if skipped states hide it.
func (s *search) result() []int {
	if list, _, isBad := s.part(); isBad {
		return list
	}
	return nil
}
