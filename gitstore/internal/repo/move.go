package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// Collections limits how many successive gc runs may delete new objects before Move fails.
const Collections = 20

// Move makes the objects of k durable and then moves the refs that moves returns, in one
// transaction. If a ref does not have its old value, Move changes nothing and fails with
// ErrRefMoved. A gc without a grace period may delete the objects before a ref points to them.
// Then Move writes missing objects again and repeats the move. If an object of another process
// is missing, Move changes no ref and fails with ErrObjectsGone.
func (s *Repo) Move(ctx context.Context, k *ObjectWriter, message string, moves func() ([]refs.Move, error)) error {
	if s.together != nil {
		return s.together.move(ctx, k, moves)
	}
	for tries := 0; ; tries++ {
		t := &transaction{s: s, k: k, message: message}
		settled, err := t.try(ctx, moves)
		if err == nil || errors.Is(err, ErrRefMoved) || IsDone(err) {
			return err
		}
		isVanished := errors.Is(err, errVanished) || len(k.batch.Missing()) > 0 // because of a gc
		if !settled || !isVanished || tries == Collections {
			return k.gone(err)
		}
	}
}

// MoveRefs is Move to objects that exist.
func (s *Repo) MoveRefs(ctx context.Context, message string, moves ...refs.Move) error {
	return s.Move(ctx, s.NewObjectWriter(), message, func() ([]refs.Move, error) { return moves, nil })
}

// A Recorder adds the entry of an operation to the transactions of writers with Records set.
type Recorder interface {
	// Record returns the moves of the entry, whose objects it adds to k.
	Record(ctx context.Context, k *ObjectWriter, moves []refs.Move) ([]refs.Move, error)
	Recorded()  // the transaction has succeeded
	TakenBack() // the refs have the values from before the last transaction
}

// ErrRefMoved reports that another process moved the ref first.
var ErrRefMoved = refs.ErrMoved

// A transaction is one try to move refs to objects.
type transaction struct {
	s       *Repo
	k       *ObjectWriter
	message string
	moves   []refs.Move
}

// try moves the refs once. It also reports whether the objects were stored.
func (t *transaction) try(ctx context.Context, moves func() ([]refs.Move, error)) (stored bool, err error) {
	t.s.Refs.Release() // a cached value may be old, and is old after the move
	if t.moves, err = moves(); err == nil {
		err = t.addStaleLines(ctx)
	}
	if err != nil {
		return false, err
	}
	records := t.k.Records && t.s.Recorder != nil
	if records {
		more, err := t.s.Recorder.Record(ctx, t.k, t.moves)
		switch {
		case err != nil:
			return false, err
		case len(more) > 0 && more[0].Old.IsZero(): // a kill between two refs must not leave a change without its entry
			t.moves = slices.Concat(more, t.moves)
		default:
			t.moves = slices.Concat(t.moves, more)
		}
	}
	synced, err := t.s.syncOthers(t.k)
	if err != nil {
		return false, err
	}
	defer func() { synced(err) }()
	if err := t.k.Flush(ctx); err != nil {
		return false, err
	}
	if err := t.k.copyFromGC(ctx); err != nil {
		return false, err
	}
	t.s.pause("written")
	if missing := t.k.batch.Missing(); len(missing) > 0 {
		return true, fmt.Errorf("object %s: %w", missing[0], errVanished)
	}
	t.s.pause("checked")
	if err = t.update(ctx); err == nil || IsDone(err) {
		t.k.message, t.k.moves = t.message, t.moves
		if records {
			t.s.Recorder.Recorded()
		}
	}
	return true, err
}

func (t *transaction) update(ctx context.Context) error {
	for _, m := range t.moves {
		if trace.On() {
			defer trace.Begin(trace.Ref, fmt.Sprintf("%s %.12s..%.12s", m.Name, m.Old, m.New)).End()
		}
	}
	// Reflog entries get the present time. A hook may have inherited the date of an old commit,
	// and git would expire an entry with an old date at once.
	by := t.s.people.Committer()
	u := refs.Update{Message: t.message, Moves: t.moves, Locked: t.s.IssueLock.HasAll()}
	u.Git = t.s.Git.With("GIT_COMMITTER_NAME="+by.Name, "GIT_COMMITTER_EMAIL="+by.Email,
		fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", t.s.Now().Unix()))
	u.Git.Apart, u.Git.Hold = true, t.s.IssueLock.Files()
	err := t.s.Refs.Update(ctx, u)
	if err == nil || IsDone(err) {
		t.s.noteOwn(t.moves)
	}
	return err
}

// takeBack moves the refs of Move back to their former values.
func (s *Repo) takeBack(ctx context.Context, k *ObjectWriter) error {
	var back []refs.Move
	for _, m := range slices.Backward(k.moves) {
		back = append(back, refs.Move{Name: m.Name, Old: m.New, New: m.Old})
	}
	isMissing := func(m refs.Move) bool { return !m.New.IsZero() && !s.Objects.Has(m.New) }
	if len(back) == 0 || slices.ContainsFunc(back, isMissing) {
		return errVanished
	}
	if err := s.MoveRefs(ctx, Shorten(refs.RollbackPrefix+k.message), back...); err != nil {
		return err
	}
	if k.Records && s.Recorder != nil {
		s.Recorder.TakenBack()
	}
	for _, m := range back {
		if err := s.forgetEntries(ctx, m); err != nil {
			s.Notify("the reflog of %s has an incomplete commit: %v", m.Name, err)
		}
	}
	return nil
}

// forgetEntries removes the reflog entries of a move and of its rollback back. For git fsck,
// an entry with an incomplete commit is an error.
func (s *Repo) forgetEntries(ctx context.Context, back refs.Move) error {
	entries, err := s.EveryEntry(ctx, back.Name)
	if err != nil || back.New.IsZero() { // git deletes the reflog with the ref
		return err
	}
	for i, e := range slices.Backward(entries) {
		if e.Old != back.Old && e.New != back.Old {
			continue
		}
		if _, err := s.Git.Output(ctx, "reflog", "delete", fmt.Sprintf("%s@{%d}", back.Name, i)); err != nil {
			return err
		}
	}
	return nil
}

// Shorten limits a reflog message to one readable line.
func Shorten(message string) string {
	const limit = 1000
	if len(message) <= limit {
		return message
	}
	cut := strings.LastIndex(message[:limit], ", ")
	return message[:max(cut, 0)] + " and more"
}

// DeleteRefs deletes bookkeeping refs in one transaction, since there may be thousands of refs. If a ref
// does not have its seen value, DeleteRefs fails and deletes no ref.
func (s *Repo) DeleteRefs(ctx context.Context, seen map[string]plumbing.Hash) error {
	if len(seen) == 0 {
		return nil
	}
	u := refs.Update{Message: "delete"}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		u.Moves = append(u.Moves, refs.Move{Name: name, Old: seen[name]})
	}
	remove := func() error {
		u.Git, u.Locked = s.Git, s.IssueLock.HasAll()
		u.Git.Apart, u.Git.Hold = true, s.IssueLock.Files()
		return s.Refs.Update(ctx, u)
	}
	if s.IssueLock != nil {
		return remove()
	}
	return s.WithNamedLocks(ctx, []string{refs.Bookkeeping}, remove)
}

// pause calls the hook of a test.
func (s *Repo) pause(point string) {
	if s.AtPoint != nil {
		s.AtPoint(point)
	}
}

// A together collects the moves of several operations.
type together struct {
	k     *ObjectWriter
	moves []refs.Move // each ref once
	at    map[string]int
}

// Together runs f with issues locked, see Store.Together. The operations in f read the new values of
// the refs that they move. A transaction for each operation would start git for each new ref.
func (s *Repo) Together(ctx context.Context, message string, issues []checkpoint.Issue, f func()) error {
	return s.WithIssueLocks(ctx, issues, func() error {
		t := &together{k: s.NewObjectWriter(), at: map[string]int{}}
		s.together, s.Refs.Pending = t, map[string]plumbing.Hash{}
		defer func() { s.together, s.Refs.Pending = nil, nil }()
		f()
		s.together, s.Refs.Pending = nil, nil
		moves := slices.DeleteFunc(t.moves, func(m refs.Move) bool { return m.Old == m.New })
		if len(moves) == 0 {
			return nil
		}
		ctx := context.WithoutCancel(ctx)
		if err := s.Move(ctx, t.k, message, func() ([]refs.Move, error) { return moves, nil }); err != nil {
			return err
		}
		return t.k.Protect(ctx)
	})
}

// move stores the objects of an operation and adds its moves. Move makes them later.
func (t *together) move(ctx context.Context, k *ObjectWriter, moves func() ([]refs.Move, error)) error {
	list, err := moves()
	if err != nil {
		return err
	}
	if err := k.Flush(ctx); err != nil { // later operations read the objects
		return err
	}
	k.batch.AddTo(t.k.batch)
	t.k.Records = t.k.Records || k.Records
	for _, m := range list {
		if at, moved := t.at[m.Name]; moved {
			t.moves[at].New = m.New
		} else {
			t.at[m.Name] = len(t.moves)
			t.moves = append(t.moves, m)
		}
		k.store.Refs.Pending[m.Name] = m.New
	}
	return nil
}

// SetLineRef stores the objects of k, and sets the ref of a line to tip if the chains that the line
// was made from still have their tips. The ref gets no reflog, so that git gc can delete the states of
// dropped checkpoints. It fails if another process has moved one of the refs.
func (s *Repo) SetLineRef(ctx context.Context, k *ObjectWriter, issue checkpoint.Issue, tip plumbing.Hash, from map[string]plumbing.Hash) error {
	if err := k.Flush(ctx); err != nil {
		return err
	}
	in := fmt.Appendf(nil, "update %s\x00%s\x00\x00", LineRef(issue), tip)
	for _, name := range slices.Sorted(maps.Keys(from)) {
		in = fmt.Appendf(in, "verify %s\x00%s\x00", name, from[name])
	}
	_, err := s.Git.Pipe(ctx, in, "-c", "core.logAllRefUpdates=false", "update-ref", "--no-deref", "--stdin", "-z")
	return err
}

// addStaleLines adds the deletion of each line that can have states which a chain loses: those of its
// issue, and of the issue's source and forks. A chain that only grows loses none.
func (t *transaction) addStaleLines(ctx context.Context) error {
	roots := map[checkpoint.Issue]bool{}
	for _, m := range t.moves {
		name, isChain := strings.CutPrefix(m.Name, LiveRefs)
		if !isChain {
			name, isChain = strings.CutPrefix(m.Name, ArchiveRefs)
		}
		if issue, err := checkpoint.IssueFromRef(name); isChain && err == nil && !m.Old.IsZero() && m.Old != m.New && !t.grows(m) {
			roots[issue.Root()] = true
		}
	}
	if len(roots) == 0 {
		return nil
	}
	names, err := t.s.Refs.Names(ctx, LineRefs)
	if err != nil {
		return err
	}
	for _, name := range names {
		issue, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, LineRefs))
		if err != nil || !roots[issue.Root()] {
			continue
		}
		if tip, err := t.s.ReadRef(ctx, name); err == nil && !tip.IsZero() { // a broken ref keeps nothing
			t.moves = append(t.moves, refs.Move{Name: name, Old: tip})
		}
	}
	return nil
}

// grows reports whether a move adds one checkpoint to a chain. A ledger commit can hide others.
func (t *transaction) grows(m refs.Move) bool {
	kind, data, err := t.k.Read(m.New)
	if err != nil || kind != plumbing.CommitObject {
		return false
	}
	c, err := ParseCommit(m.New, data)
	return err == nil && len(c.Parents) == 2 && c.Parents[0] == m.Old
}
