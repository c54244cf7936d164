package operation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Log is the list of operations of a repository. It records the moves of the running operation.
type Log struct {
	repo   *repo.Repo
	open   *Entry // the running operation, or nil
	coming *Entry // the entry in a transaction that has not ended
	former *Entry // the entry before the last transaction

	Unsettled bool // the last entry that was stored or found is pending
}

// New returns the log of a repository.
func New(r *repo.Repo) *Log {
	l := &Log{repo: r}
	r.Recorder = l
	return l
}

// Worktree returns the name of this worktree in refs.
func (l *Log) Worktree() string { return l.repo.WorktreeName() }

// A Start describes an operation that begins.
type Start struct {
	Command string
	Issue   checkpoint.Issue
	Files   bool   // it changes the worktree, so its state files belong to it
	From    *Place // HEAD before the operation, nil for HEAD now
	Made    *Place // branch that the operation has created, or nil
}

// Run runs f as one operation, which records the chains and archives that f moves. Inside of a
// running operation, f is a part of that one. An operation that changes nothing has no entry.
func (l *Log) Run(ctx context.Context, o Start, f func() error) error {
	if l.open != nil {
		return f()
	}
	head, _ := l.repo.ReadHead(ctx) // a chain can also be changed if HEAD is broken
	e := &Entry{Worktree: l.Worktree(), Facts: Facts{
		State: Done, Way: Do, Command: o.Command, At: l.repo.Now().UTC(), Process: os.Getpid(), Before: placeOf(head), Made: o.Made,
	}}
	if o.From != nil {
		e.Before = *o.From
	}
	if o.Issue != "" {
		e.Issues = []checkpoint.Issue{o.Issue}
	}
	if o.Files {
		note := StateFile{Name: resumed + o.Issue.RefName()}
		note.Before = l.ReadState(note.Name)
		e.Notes = append(e.Notes, note)
		e.Here = &Move{Ref: l.repo.HereRef(o.Issue), Old: l.valueOf(ctx, l.repo.HereRef(o.Issue))}
	}
	l.open = e
	err := f()
	l.open = nil
	failed := l.end(context.WithoutCancel(ctx), e)
	if failed == nil {
		failed = l.SweepKept(context.WithoutCancel(ctx))
	}
	if failed != nil {
		l.repo.Notify("the operation %s is not recorded completely, and undo may revert a part of it: %v", e.Command, failed)
	}
	return err
}

// Current returns the running operation, or nil. The caller may change it.
func (l *Log) Current() *Entry { return l.open }

func placeOf(h repo.Head) Place { return Place{h.Branch, h.Commit.String()} }

// end stores the state at the end of an operation, unless its transaction has stored it.
func (l *Log) end(ctx context.Context, e *Entry) error {
	head, err := l.repo.ReadHead(ctx)
	if err != nil {
		return err
	}
	if e.Commit.IsZero() && placeOf(head).Branch == e.Before.Branch {
		return nil // a resume that restored nothing is no operation
	}
	if !e.Commit.IsZero() && len(e.Notes) == 0 && placeOf(head) == e.Before {
		return nil // the transaction has stored it
	}
	return l.Finish(ctx, e)
}

// Finish stores an entry as done or undone, with the present state of HEAD and of the state files.
func (l *Log) Finish(ctx context.Context, e *Entry) error {
	head, err := l.repo.ReadHead(ctx)
	if err != nil {
		return err
	}
	if e.Way != Undo {
		e.State, e.After = Done, placeOf(head)
		for i := range e.Notes {
			e.Notes[i].After = l.ReadState(e.Notes[i].Name)
		}
		if e.Here != nil {
			e.Here = &Move{e.Here.Ref, e.Here.Old, l.valueOf(ctx, e.Here.Ref)}
		}
	} else {
		there, err := l.list(ctx, e.Worktree)
		if err != nil {
			return err
		}
		e.State, e.UndoneOn, e.Last = Undone, placeOf(head), newest(there, e.Worktree)
	}
	e.Tips = nil
	for _, issue := range e.Issues {
		if tip, err := l.repo.ReadRef(ctx, repo.LiveRef(issue)); err == nil {
			e.Tips = append(e.Tips, Move{Ref: repo.LiveRef(issue), New: tip.String()})
		}
	}
	return l.Write(ctx, e, l.repo.NewObjectWriter())
}

// valueOf returns the value of a ref in hex, "" if it is missing or broken.
func (l *Log) valueOf(ctx context.Context, ref string) string {
	if tip, err := l.repo.ReadRef(ctx, ref); err == nil && !tip.IsZero() {
		return tip.String()
	}
	return ""
}

// ReadState reads a state file of the worktree, "" if it is missing.
func (l *Log) ReadState(name string) string {
	data, err := os.ReadFile(filepath.Join(l.repo.StateDir(), filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return string(data)
}

// WriteState replaces or removes a state file of the worktree.
func (l *Log) WriteState(name, text string) error {
	path := filepath.Join(l.repo.StateDir(), filepath.FromSlash(name))
	if text == "" {
		return fsutil.IgnoreMissing(os.Remove(path))
	}
	return l.repo.WriteFile(path, []byte(text))
}

// Record adds the entry of the running operation to a transaction that moves chains or archives.
func (l *Log) Record(ctx context.Context, k *repo.ObjectWriter, moves []refs.Move) ([]refs.Move, error) {
	l.coming = nil
	if l.open == nil {
		return nil, nil
	}
	moves = slices.DeleteFunc(slices.Clone(moves), func(m refs.Move) bool {
		return m.Old == m.New || !strings.HasPrefix(m.Name, repo.LiveRefs) && !strings.HasPrefix(m.Name, repo.ArchiveRefs)
	})
	if len(moves) == 0 {
		return nil, nil
	}
	next := *l.open
	if !next.Commit.IsZero() {
		tip, err := l.repo.ReadRef(ctx, next.Name())
		if err != nil {
			return nil, err
		}
		if tip.IsZero() { // after a purge of the entry, a new one begins with the next move
			next.Commit, next.Moves, next.Tips, next.Content = tip, nil, nil, nil
		}
	}
	next.addMoves(moves)
	next.Tips = slices.Clone(next.Tips)
	for _, m := range moves {
		if strings.HasPrefix(m.Name, repo.LiveRefs) {
			next.Tips = append(slices.DeleteFunc(next.Tips, func(o Move) bool { return o.Ref == m.Name }), Move{Ref: m.Name, New: m.New.String()})
		}
	}
	more, err := l.moves(ctx, &next, k)
	l.coming = &next
	return more, err
}

// Recorded ends the transaction of Record.
func (l *Log) Recorded() {
	if l.coming != nil {
		former := *l.open
		l.Unsettled = l.coming.State == Pending
		l.former, *l.open, l.coming = &former, *l.coming, nil
	}
}

// TakenBack reports that the refs of the last transaction have their former values.
func (l *Log) TakenBack() {
	if l.open != nil && l.former != nil {
		*l.open, l.former = *l.former, nil
	}
}

// moves returns the move of the ref of an entry to its new commit. A new entry gets the next
// number, and old entries go.
func (l *Log) moves(ctx context.Context, e *Entry, k *repo.ObjectWriter) (moves []refs.Move, err error) {
	old := e.Commit
	if old.IsZero() {
		there, err := l.repo.Refs.Values(ctx, Refs)
		if err != nil {
			return nil, err
		}
		e.Number = newest(there, e.Worktree) + 1
		if moves, err = l.repo.ClaimWorktree(ctx, ""); err != nil {
			return nil, err
		}
		for _, m := range moves {
			delete(there, m.Name)
		}
		moves = append(moves, l.toExpire(ctx, there, e.Worktree)...)
	}
	if e.Commit, err = e.encode(l.repo, k); err != nil {
		return nil, err
	}
	return append([]refs.Move{{Name: e.Name(), Old: old, New: e.Commit}}, moves...), nil
}

func newest(there map[string]plumbing.Hash, of string) (n int) {
	for ref := range there {
		if worktree, number, ok := parseName(ref); ok && worktree == of && int64(number) < lastNumber {
			n = max(n, number)
		}
	}
	return n
}

// Write stores an entry with the objects of k. If another process has taken the number of a new
// entry, the entry gets the next one.
func (l *Log) Write(ctx context.Context, e *Entry, k *repo.ObjectWriter) error {
	names := []string{refs.Bookkeeping}
	for _, i := range e.Issues[:min(len(e.Issues), 1)] {
		names = []string{i.RefName()}
	}
	for tries := 0; ; tries++ {
		next := *e
		err := l.repo.WithNamedLocks(ctx, names, func() error {
			return l.repo.Move(ctx, k, "operation: "+e.Command, func() ([]refs.Move, error) {
				next = *e
				return l.moves(ctx, &next, k)
			})
		})
		if errors.Is(err, repo.ErrRefMoved) && e.Commit.IsZero() && tries < 100 {
			continue
		}
		if err == nil {
			err = k.Protect(ctx)
		}
		if err == nil || repo.IsDone(err) {
			*e, l.Unsettled = next, next.State == Pending
		}
		if err != nil {
			return fmt.Errorf("operation %s: %w", e.Command, err)
		}
		return nil
	}
}

// Forget deletes an entry.
func (l *Log) Forget(ctx context.Context, e *Entry) error {
	if e.Commit.IsZero() {
		return nil
	}
	err := l.repo.WithNamedLocks(ctx, []string{refs.Bookkeeping}, func() error {
		return l.repo.MoveRefs(ctx, "operation: forget", refs.Move{Name: e.Name(), Old: e.Commit})
	})
	if err == nil || repo.IsDone(err) {
		e.Commit, e.Number, l.Unsettled = plumbing.ZeroHash, 0, false
		err = errors.Join(err, l.SweepKept(ctx))
	}
	return err
}

// Entries returns the entries of a worktree, newest first. "" stands for all worktrees, whose
// entries follow each other.
func (l *Log) Entries(ctx context.Context, worktree string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		there, err := l.list(ctx, worktree)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, ref := range slices.Backward(slices.Sorted(maps.Keys(there))) {
			if e, err := read(l.repo, ref, there[ref]); !yield(e, err) {
				return
			}
		}
	}
}

// IsGone reports whether the worktree of an entry was removed.
func (l *Log) IsGone(e *Entry) bool {
	if e.Worktree == l.Worktree() {
		return !l.repo.OwnsWorktree()
	}
	return !fsutil.Exists(l.repo.WorktreeDir(e.Worktree))
}

func (l *Log) list(ctx context.Context, worktree string) (map[string]plumbing.Hash, error) {
	prefix := Refs
	if worktree == l.Worktree() && !l.repo.OwnsWorktree() {
		return nil, nil // these are of a removed worktree
	}
	if worktree != "" {
		prefix += worktree + "/"
	}
	return l.repo.Refs.Values(ctx, prefix)
}

// Unfinished returns the entry of this worktree that a killed command left, or nil.
func (l *Log) Unfinished(ctx context.Context) (*Entry, error) {
	there, err := l.list(ctx, l.Worktree())
	if err != nil {
		return nil, err
	}
	for _, ref := range slices.Backward(slices.Sorted(maps.Keys(there))) {
		c, err := l.repo.ReadCommit(there[ref])
		if err != nil {
			return nil, Damaged(ref, err)
		}
		if isPending(c.Message) {
			l.Unsettled = true
			return read(l.repo, ref, there[ref])
		}
	}
	return nil, nil
}

// pushed is the note of started pushes: a JSON object with the number of the newest entry at that time, by
// issue, worktree and remote.
const pushed = "pushed"

// NotePush notes that a push of issues to a remote begins, before the first byte is sent. From then on,
// another clone may know the changes of their operations.
func (l *Log) NotePush(ctx context.Context, remote string, issues []checkpoint.Issue) error {
	if len(issues) == 0 {
		return nil
	}
	there, err := l.list(ctx, "")
	if err != nil || len(there) == 0 {
		return err
	}
	numbers := l.readPushed()
	for e, err := range l.Entries(ctx, "") {
		if err != nil {
			continue
		}
		for _, issue := range issues {
			if key := pushOf(e, issue) + remote; e.Concerns(issue) {
				numbers[key] = max(numbers[key], e.Number)
			}
		}
	}
	text, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	return l.repo.WriteFile(l.repo.NotePath(pushed), text)
}

// pushOf begins the keys of the pushes of an issue. No ref contains a space.
func pushOf(e *Entry, issue checkpoint.Issue) string {
	return issue.RefName() + " " + e.Worktree + " "
}

// PushedTo returns the remotes to which a push of an issue was started after an operation.
func (l *Log) PushedTo(e *Entry, issue checkpoint.Issue) (remotes []string) {
	for key, number := range l.readPushed() {
		if remote, ok := strings.CutPrefix(key, pushOf(e, issue)); ok && number >= e.Number {
			remotes = append(remotes, remote)
		}
	}
	slices.Sort(remotes)
	return remotes
}

func (l *Log) readPushed() map[string]int {
	numbers := map[string]int{}
	if data, err := os.ReadFile(l.repo.NotePath(pushed)); err == nil {
		_ = json.Unmarshal(data, &numbers) // a note that a loss of power has cut is missing
	}
	return numbers
}

// Limits of the entries. A pending entry never goes.
const (
	mostInWorktree = 200
	mostInAll      = 1000
	lifetime       = 14 * 24 * time.Hour
	settled        = 24 * time.Hour // age of a time that confirms the age of an entry
)

// toExpire returns the moves that delete old entries, before a new entry of a worktree.
func (l *Log) toExpire(ctx context.Context, there map[string]plumbing.Hash, worktree string) (moves []refs.Move) {
	byWorktree, total := map[string][]string{}, 0
	for _, ref := range slices.Sorted(maps.Keys(there)) {
		if name, _, ok := parseName(ref); ok {
			byWorktree[name] = append(byWorktree[name], ref)
			total++
		}
	}
	drop := func(name string) bool {
		ref := byWorktree[name][0]
		c, err := l.repo.ReadCommit(there[ref])
		if err != nil || isPending(c.Message) {
			return false
		}
		byWorktree[name], total = byWorktree[name][1:], total-1
		moves = append(moves, refs.Move{Name: ref, Old: there[ref]})
		return true
	}
	for name := range byWorktree {
		for len(byWorktree[name]) > 0 && l.isOld(ctx, byWorktree[name], there) && drop(name) {
		}
	}
	for len(byWorktree[worktree]) >= mostInWorktree && drop(worktree) {
	}
	bySize := func(a, b string) int { return len(byWorktree[a]) - len(byWorktree[b]) }
	for total >= mostInAll && drop(slices.MaxFunc(slices.Sorted(maps.Keys(byWorktree)), bySize)) {
	}
	return moves
}

// isOld reports whether the oldest of some entries is older than lifetime. One clock alone is no
// proof, because it may be wrong: the time of another entry or of the commit of HEAD has to be past
// the end of the entry too, and a day old by now.
func (l *Log) isOld(ctx context.Context, names []string, there map[string]plumbing.Hash) bool {
	now := l.repo.Now()
	end := l.repo.CommittedAt(there[names[0]]).Add(lifetime)
	if end.Equal(time.Time{}.Add(lifetime)) || !now.After(end) {
		return false
	}
	confirms := func(at time.Time) bool { return at.After(end) && now.Sub(at) >= settled }
	if head, err := l.repo.ReadHead(ctx); err == nil && confirms(l.repo.CommittedAt(head.Commit)) {
		return true
	}
	return slices.ContainsFunc(names[1:], func(ref string) bool { return confirms(l.repo.CommittedAt(there[ref])) })
}
