// Refs move in one way: a transaction makes objects durable, moves refs from their expected
// old values to the objects, with a reflog entry, and makes the moves durable. This process
// writes plain files of refs itself, because a git process costs more than the rest of a save
// (rows save and turn of testdata/bench); git moves all others. The note in the issue lock
// says how to settle the transaction if the process is killed.

package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/trace"
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
	defer k.ReleaseKeptPack()
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
var ErrRefMoved = errors.New("lost the race")

// A transaction is one try to move refs to objects.
type transaction struct {
	s       *Repo
	k       *ObjectWriter
	message string
	moves   []refs.Move
}

// try moves the refs, in this process if possible, else through git. It also reports whether
// the objects were stored.
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
		if err != nil {
			return false, err
		}
		t.moves = append(slices.Clip(t.moves), more...)
	}
	synced, err := t.s.syncOthers(t.k)
	if err != nil {
		return false, err
	}
	many := len(t.moves) > manyMoves && canSyncAll
	if many { // a git before 2.34 prints "prepare: ok" only when it ends
		version, err := t.s.Git.Version(ctx)
		many = err == nil && version.AtLeast(2, 34)
	}
	stored, err = false, refs.ErrNeedsGit
	if !many && t.s.MovesHere() {
		stored, err = t.here(ctx)
	}
	if errors.Is(err, refs.ErrNeedsGit) {
		stored, err = t.throughGit(ctx, many)
	}
	synced(err)
	if err == nil || IsDone(err) {
		t.k.message, t.k.moves = t.message, t.moves
		if records {
			t.s.Recorder.Recorded()
		}
	}
	return stored, err
}

// here moves the refs in this process. It fails with refs.ErrNeedsGit if git must move them.
func (t *transaction) here(ctx context.Context) (stored bool, err error) {
	staged, err := t.s.RefDir().Stage(t.moves)
	if err != nil {
		return false, refs.ErrNeedsGit
	}
	defer staged.Discard()
	settle, err := t.k.install(ctx, staged.Files()...)
	if err != nil {
		return false, err
	}
	if err := t.k.KeepFromGC(ctx, t.moves[0].Name); err != nil {
		return false, err
	}
	if err := settle(); err != nil {
		return false, err
	}
	if err := t.k.checkExist(); err != nil {
		return true, err
	}
	for _, move := range t.moves {
		if !t.s.Objects.Has(move.New) { // a gc may have deleted it, or the ref is deleted
			return true, refs.ErrNeedsGit
		}
	}
	defer traceMoves(t.moves)()
	by := t.s.people.Committer()
	t.s.IssueLock.Begin(t.message, t.moves)
	defer t.s.IssueLock.Done()
	err = staged.Commit(refs.ReflogEntry{Name: by.Name, Email: by.Email, At: t.s.Now(), Message: t.message})
	var moved *refs.MovedError
	switch {
	case err == nil:
		t.s.noteOwn(t.moves)
		return true, AfterMove(t.s.syncRefDirs(t.moves))
	case errors.Is(err, refs.ErrNeedsGit):
		return true, err
	case errors.As(err, &moved):
		if err := t.s.checkTaken(t.moves); err != nil {
			return true, err
		}
		return true, fmt.Errorf("%w: %w", ErrRefMoved, moved)
	}
	return true, t.settle(ctx, true, err)
}

// manyMoves is the number of moves above which one sync of the whole disk replaces a sync
// for each ref, if the system supports it. Otherwise 3,000 syncs take seconds.
const manyMoves = 64

// throughGit moves the refs with git update-ref, which starts and locks the refs while the
// objects are written. With many refs, one sync of the disk between git's writing and git's
// renaming of all lock files replaces the syncs of git.
func (t *transaction) throughGit(ctx context.Context, many bool) (stored bool, err error) {
	begun := t.start(ctx, many)
	settle, err := t.k.install(ctx)
	run, startErr := begun()
	if startErr != nil {
		return false, startErr
	}
	if err == nil {
		err = t.k.KeepFromGC(ctx, t.moves[0].Name)
	}
	prepared := err == nil
	if prepared {
		t.prepare(run)
		err = settle()
	}
	if err == nil && many && run.Await("prepare: ok") { // otherwise commit reports why git ended
		err = syncAll(t.s.Info.CommonDir)
	}
	if err == nil {
		err = t.k.checkExist()
	}
	if err != nil { // git ends without the command commit, and moves no ref
		_, ended := run.Finish(nil)
		if prepared {
			t.s.IssueLock.Failed(ended)
			t.s.IssueLock.Done()
		}
		return errors.Is(err, errVanished), err
	}
	return true, t.commit(ctx, run)
}

// moveLimit is the timeout per answer of git update-ref. Git may wait for locks, hooks
// and slow disks, hence the long timeout.
const moveLimit = 10 * time.Minute

// start starts git in the background; the result waits for the start. Git moves no ref before it
// reads the commit command. If the caller is killed, git's input ends without this command.
func (t *transaction) start(ctx context.Context, many bool) (begun func() (*git.Run, error)) {
	type started struct {
		run *git.Run
		err error
	}
	done := make(chan started, 1)
	go func() {
		// Reflog entries get the present time. A hook may have inherited the date of an old commit,
		// and git would expire an entry with an old date at once.
		by := t.s.people.Committer()
		g := t.s.Git.With("GIT_COMMITTER_NAME="+by.Name, "GIT_COMMITTER_EMAIL="+by.Email,
			fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", t.s.Now().Unix()))
		g.Apart, g.Hold, g.Limit = true, t.s.IssueLock.Locks(), moveLimit
		begin, fsync := git.Git.Start, "core.fsync=reference"
		if many {
			begin, fsync = git.Git.Talk, "core.fsync=none"
		}
		run, err := begin(g, context.WithoutCancel(ctx), slices.Concat([]string{"-c", fsync}, refConfig,
			[]string{"update-ref", "--no-deref", "--create-reflog", "-m", t.message, "--stdin", "-z"})...)
		if err != nil {
			err = fmt.Errorf("move refs: %w", err)
		}
		done <- started{run, err}
	}()
	return func() (*git.Run, error) {
		got := <-done
		return got.run, got.err
	}
}

// prepare sends the moves to git. While the caller continues, git locks the refs, checks
// their old values, and writes the new values into the lock files. commit reports errors.
func (t *transaction) prepare(run *git.Run) {
	in := []byte("start\x00")
	for _, move := range t.moves {
		switch {
		case move.New.IsZero():
			in = fmt.Appendf(in, "delete %s\x00%s\x00", move.Name, move.Old)
		case move.Old.IsZero():
			in = fmt.Appendf(in, "create %s\x00%s\x00", move.Name, move.New)
		default:
			in = fmt.Appendf(in, "update %s\x00%s\x00%s\x00", move.Name, move.New, move.Old)
		}
	}
	t.s.IssueLock.Begin(t.message, t.moves)
	_, _ = run.Write(append(in, "prepare\x00"...))
}

// commit makes git move the refs.
func (t *transaction) commit(ctx context.Context, run *git.Run) error {
	defer traceMoves(t.moves)()
	said, err := run.Finish([]byte("commit\x00"))
	defer t.s.IssueLock.Done()
	if err == nil {
		if err = t.s.RemoveStrayFiles(t.moves); err != nil {
			return fmt.Errorf("move %s: %w", t.moves[0].Name, err)
		}
		t.s.noteOwn(t.moves)
		return AfterMove(t.s.syncRefDirs(t.moves))
	}
	t.s.IssueLock.Failed(err)
	return t.settle(ctx, bytes.Contains(said, []byte("prepare: ok")), err)
}

// settle handles the failure of a move, based on the current refs. Git and this process
// rename one lock file after the other. If git was killed or the disk was full
// meanwhile, some refs may have moved. Then settle moves the remaining refs.
func (t *transaction) settle(ctx context.Context, prepared bool, failed error) error {
	t.s.Refs.Release()
	var left []refs.Move
	for _, move := range t.moves {
		now, err := t.s.ReadRef(ctx, move.Name)
		switch {
		case err != nil:
			return fmt.Errorf("move %s: %w", move.Name, failed)
		case now == move.Old:
			left = append(left, move)
		case now != move.New || !prepared:
			return fmt.Errorf("%w: %s is at %s", ErrRefMoved, move.Name, now)
		}
	}
	switch {
	case len(left) < len(t.moves):
		return t.moveRemaining(ctx, left)
	case strings.Contains(failed.Error(), " but expected "):
		// Git may have read an old packed-refs, if a new one has the same size, date and inode.
		if err := t.s.checkTaken(t.moves); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w", ErrRefMoved, failed)
	}
	return fmt.Errorf("move %s: %w", t.moves[0].Name, t.s.nameLock(t.moves[0].Name, failed))
}

// moveRemaining moves the remaining refs. If a ref cannot be moved, the transaction's
// note stays. The next command for the issue then completes the transaction or rolls it
// back. moveRemaining fails only if that ref is a chain or an archive; other refs, such
// as own/, are bookkeeping. The note is necessary: without it, a repair would treat an
// old own/ as lost work and revert the rewrite.
func (t *transaction) moveRemaining(ctx context.Context, left []refs.Move) error {
	if len(left) > 0 {
		t.s.IssueLock.Hold()
		err := t.s.MoveRefs(ctx, t.message, left...)
		switch {
		case IsDone(err):
			t.s.IssueLock.Release()
			return err
		case err == nil:
			if at, err := t.s.progressOf(ctx, left); err == nil && len(at.left) == 0 {
				t.s.IssueLock.Release() // otherwise the chain has moved, but own/ has not
			}
		case slices.ContainsFunc(left, func(m refs.Move) bool {
			return !slices.ContainsFunc([]string{OwnRefs, fetchedRefs, LineRefs, HereRefs, refs.Operations}, func(prefix string) bool { return strings.HasPrefix(m.Name, prefix) })
		}):
			return fmt.Errorf("%s was moved, but not all that belongs to it, and the next command of the issue settles that: %w", t.moves[0].Name, err)
		case t.s.IssueLock == nil: // without a lock there is no note
			return AfterMove(err)
		}
	}
	t.s.noteOwn(t.moves)
	return AfterMove(t.s.syncRefDirs(t.moves))
}

// takeBack moves the refs of Move back to their former values.
func (s *Repo) takeBack(ctx context.Context, k *ObjectWriter) error {
	var back []refs.Move
	for _, m := range slices.Backward(k.moves) {
		back = append(back, refs.Move{Name: m.Name, Old: m.New, New: m.Old})
	}
	if len(back) == 0 || !s.haveAll(back) {
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
	return s.Noted("rollback", []refs.Move{{Name: back.Name, Old: back.New, New: back.New}}, func(g git.Git) error {
		for i, e := range slices.Backward(entries) {
			if e.Old != back.Old && e.New != back.Old {
				continue
			}
			if _, err := g.Output(ctx, "reflog", "delete", fmt.Sprintf("%s@{%d}", back.Name, i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// pause calls the hook of a test.
func (s *Repo) pause(point string) {
	if s.AtPoint != nil {
		s.AtPoint(point)
	}
}

// MovesHere reports whether this process may move refs itself. The refs must be files,
// without a hook and outside of a quarantine. All affected issues must be locked: the
// issue locks exclude other processes of this program, and their notes allow a recovery
// if this process is killed.
func (s *Repo) MovesHere() bool {
	return refs.Here && s.IssueLock.HeldAll() && s.Info.RefFormat == "files" && os.Getenv("GIT_QUARANTINE_PATH") == "" && !s.hooked()
}

// hooked reports whether a reference-transaction hook may exist. Only git runs hooks.
func (s *Repo) hooked() bool {
	if slices.ContainsFunc(s.Config, func(e git.ConfigEntry) bool { return strings.HasPrefix(e.Key, "hook.") }) {
		return true
	}
	dir := filepath.Join(s.Info.CommonDir, "hooks")
	if path, set := git.Last(s.Config, "core.hookspath"); set {
		switch {
		case filepath.IsAbs(path):
			dir = path
		case path == "" || strings.ContainsAny(path[:1], "~%:") || s.Info.Root == "":
			return true
		default:
			dir = filepath.Join(s.Info.Root, path)
		}
	}
	_, err := os.Lstat(filepath.Join(dir, "reference-transaction"))
	return !errors.Is(err, fs.ErrNotExist)
}

// traceMoves begins the lines of moves in the trace; the result ends them.
func traceMoves(moves []refs.Move) (end func()) {
	if !trace.On() {
		return func() {}
	}
	var spans []trace.Span
	for _, m := range moves {
		spans = append(spans, trace.Begin(trace.Ref, fmt.Sprintf("%s %.12s..%.12s", m.Name, m.Old, m.New)))
	}
	return func() {
		for _, s := range spans {
			s.End()
		}
	}
}
