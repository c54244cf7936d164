package gitstore

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

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// Namespaces of the stored form.
const (
	liveRefs    = "refs/checkpoints/"
	archiveRefs = "refs/checkpoints-archive/"
	ownRefs     = "refs/git-checkpoint/own/"
	fetchedRefs = "refs/git-checkpoint/fetched/"
	remoteRefs  = "refs/git-checkpoint/remote/"
	undoRefs    = "refs/git-checkpoint/undo/"
)

// LiveRef is the ref of an issue's chain.
func LiveRef(i checkpoint.Issue) string { return liveRefs + i.RefName() }

// ArchiveRef is the ref of an issue's archive.
func ArchiveRef(i checkpoint.Issue) string { return archiveRefs + i.RefName() }

func ownRef(i checkpoint.Issue) string     { return ownRefs + i.RefName() }
func fetchedRef(i checkpoint.Issue) string { return fetchedRefs + i.RefName() }

// readRef returns what a ref points to, the zero hash when there is none.
// With the files backend it reads the file, as git does: loose first, then
// packed-refs. A stale answer is harmless, since every move names the value it
// expects. Other backends are asked through git.
func (s *Store) readRef(ctx context.Context, name string) (plumbing.Hash, error) {
	if s.repo.refFormat != "files" {
		return s.askRef(ctx, name)
	}
	data, err := os.ReadFile(filepath.Join(s.repo.commonDir, filepath.FromSlash(name)))
	switch {
	case err == nil:
		return parseRef(name, data)
	case errors.Is(err, fs.ErrNotExist) || isDirectory(err):
		return s.packedRef(name)
	}
	return plumbing.ZeroHash, fmt.Errorf("read %s: %w", name, err)
}

func parseRef(name string, data []byte) (plumbing.Hash, error) {
	text := strings.TrimRight(string(data), "\n\r \t")
	if !plumbing.IsHash(text) {
		return plumbing.ZeroHash, corrupt(name, "broken ref: %q is not an object name", text)
	}
	return plumbing.NewHash(text), nil
}

// packedRef looks in packed-refs; a line is "<hex> <name>".
func (s *Store) packedRef(name string) (plumbing.Hash, error) {
	data, err := os.ReadFile(filepath.Join(s.repo.commonDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return plumbing.ZeroHash, nil
	}
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read packed-refs: %w", err)
	}
	needle := []byte(" " + name + "\n")
	for from := 0; ; {
		i := bytes.Index(data[from:], needle)
		if i < 0 {
			return plumbing.ZeroHash, nil
		}
		at := from + i
		if start := at - 40; start == 0 || start > 0 && data[start-1] == '\n' {
			return parseRef(name, data[start:at])
		}
		from = at + 1
	}
}

func (s *Store) askRef(ctx context.Context, name string) (plumbing.Hash, error) {
	refs, err := s.refs(ctx, name) // also what is below name, where it is a directory
	return refs[name], err
}

// head is HEAD: the branch it is on ("" when detached) and its commit (zero
// when the branch is unborn).
type head struct {
	branch string
	commit plumbing.Hash
}

// readHead reads HEAD of this worktree.
func (s *Store) readHead(ctx context.Context) (head, error) {
	if s.repo.refFormat != "files" {
		return s.askHead(ctx)
	}
	file := filepath.Join(s.repo.dir, "HEAD")
	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return s.askHead(ctx) // core.preferSymlinkRefs
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return head{}, fmt.Errorf("read HEAD: %w", err)
	}
	target, symbolic := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: ")
	if !symbolic {
		commit, err := parseRef("HEAD", data)
		return head{commit: commit}, err
	}
	branch, ok := strings.CutPrefix(target, "refs/heads/")
	if !ok {
		return s.askHead(ctx)
	}
	commit, err := s.readRef(ctx, target)
	if err != nil { // a branch may be a symbolic ref itself
		if h, askErr := s.askHead(ctx); askErr == nil && !h.commit.IsZero() {
			return h, nil
		}
	}
	return head{branch: branch, commit: commit}, err
}

func (s *Store) askHead(ctx context.Context) (head, error) {
	var h head
	if name, err := s.git.Line(ctx, "symbolic-ref", "--quiet", "HEAD"); err == nil {
		h.branch = strings.TrimPrefix(name, "refs/heads/")
	}
	hex, err := s.git.Line(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
	if err != nil {
		if h.branch == "" {
			return head{}, fmt.Errorf("read HEAD: %w", err)
		}
		return h, nil
	}
	h.commit = plumbing.NewHash(hex)
	return h, nil
}

// A refMove is one line of a ref transaction. A zero new value deletes the
// ref; a zero old value means that it must not exist.
type refMove struct {
	name     string
	old, new plumbing.Hash
}

// moveRefs moves refs in one transaction through git, each from the value
// named, with a reflog entry, durably. It fails with errLost when a ref is not
// where it was expected, and as it was then.
func (s *Store) moveRefs(ctx context.Context, message string, moves ...refMove) error {
	m, err := s.startMove(ctx, message)
	if err != nil {
		return err
	}
	m.prepare(moves)
	return m.commit(ctx)
}

// A mover is a git that waits to be told which refs to move. It is started
// while there is still something to do, since starting takes it as long as
// moving.
type mover struct {
	s       *Store
	run     *gitcmd.Run
	message string
	moves   []refMove
}

// startMove starts git. Until it is told to commit it moves nothing, and a git
// whose caller died moves nothing at all: its input ends without a commit.
func (s *Store) startMove(ctx context.Context, message string) (*mover, error) {
	g := s.signed()
	g.Apart, g.Hold = true, s.turn.lock()
	run, err := g.Start(context.WithoutCancel(ctx), append(refConfig[:len(refConfig):len(refConfig)],
		"update-ref", "--no-deref", "--create-reflog", "-m", message, "--stdin", "-z")...)
	if err != nil {
		return nil, fmt.Errorf("move refs: %w", err)
	}
	return &mover{s: s, run: run, message: message}, nil
}

// beginMove is startMove, beside what the caller does until it asks for the
// mover.
func (s *Store) beginMove(ctx context.Context, message string) func() (*mover, error) {
	type started struct {
		m   *mover
		err error
	}
	done := make(chan started, 1)
	go func() {
		m, err := s.startMove(ctx, message)
		done <- started{m, err}
	}()
	return func() (*mover, error) {
		got := <-done
		return got.m, got.err
	}
}

// abandon ends the git without a move.
func (m *mover) abandon() {
	_, err := m.run.Finish(nil)
	if m.moves != nil {
		m.s.turn.done(err)
	}
}

// prepare tells git the moves. It locks the refs, checks the values expected
// and writes the new ones beside them, while the caller goes on. What goes
// wrong is told by commit.
func (m *mover) prepare(moves []refMove) {
	m.moves = moves
	in := []byte("start\x00")
	for _, move := range moves {
		switch {
		case move.new.IsZero():
			in = fmt.Appendf(in, "delete %s\x00%s\x00", move.name, move.old)
		case move.old.IsZero():
			in = fmt.Appendf(in, "create %s\x00%s\x00", move.name, move.new)
		default:
			in = fmt.Appendf(in, "update %s\x00%s\x00%s\x00", move.name, move.new, move.old)
		}
	}
	m.s.turn.begin(moves)
	_, _ = m.run.Write(append(in, "prepare\x00"...))
}

// commit makes git move the refs, with the errors of moveRefs.
func (m *mover) commit(ctx context.Context) error {
	said, err := m.run.Finish([]byte("commit\x00"))
	m.s.turn.done(err)
	if err == nil {
		return m.s.syncRefDirs(m.moves)
	}
	return m.settle(ctx, m.moves, bytes.Contains(said, []byte("prepare: ok")), err)
}

// refConfig makes refs durable, and lets git wait for another writer's lock:
// it is held while a disk syncs, which may take longer than git's 100 ms.
var refConfig = []string{
	"-c", "core.fsync=reference",
	"-c", "core.filesRefLockTimeout=10000",
	"-c", "core.packedRefsTimeout=10000",
}

// signed is git with the identity and the time of reflog entries. A hook may
// have inherited the date of an old commit, and an old entry expires at once.
func (s *Store) signed() gitcmd.Git {
	by := s.ident()
	return s.git.With("GIT_COMMITTER_NAME="+by.name, "GIT_COMMITTER_EMAIL="+by.email,
		fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", s.now().Unix()))
}

// errLost says that another writer moved the ref first.
var errLost = errors.New("lost the race")

// syncRefDirs makes the renames of moved refs survive power loss: git syncs a
// ref's content, not its directory. A new ref may have come with new
// directories above it.
func (s *Store) syncRefDirs(moves []refMove) error {
	if s.repo.refFormat != "files" {
		return nil
	}
	var dirs []string
	for _, m := range moves {
		dir := filepath.Dir(filepath.FromSlash(m.name))
		dirs = append(dirs, filepath.Join(s.repo.commonDir, dir))
		for m.old.IsZero() && dir != "." {
			dir = filepath.Dir(dir)
			dirs = append(dirs, filepath.Join(s.repo.commonDir, dir))
		}
	}
	// A ref that was packed or deleted meanwhile may have taken its directory
	// along; git has synced what it wrote instead.
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Lstat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
	if err := syncDirs(dirs); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// refs lists the refs below a prefix.
func (s *Store) refs(ctx context.Context, prefix string) (map[string]plumbing.Hash, error) {
	out, err := s.git.Output(ctx, "for-each-ref", "--format=%(objectname) %(refname)", prefix)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	refs := map[string]plumbing.Hash{}
	for line := range strings.Lines(string(out)) {
		hex, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		refs[name] = plumbing.NewHash(hex)
	}
	return refs, nil
}

// Issues lists the issues that have a chain, in the order of their refs.
// A ref that is no canonical key is left out and named in strange.
func (s *Store) Issues(ctx context.Context, archived bool) (issues []checkpoint.Issue, strange []string, err error) {
	prefix := liveRefs
	if archived {
		prefix = archiveRefs
	}
	out, err := s.git.Output(ctx, "for-each-ref", "--format=%(refname)", prefix)
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	for line := range strings.Lines(string(out)) {
		name := strings.TrimSuffix(line, "\n")
		issue, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, prefix))
		if err != nil {
			strange = append(strange, name)
			continue
		}
		issues = append(issues, issue)
	}
	return issues, strange, nil
}

// checkName refuses a new issue whose ref differs from an existing one in
// case alone: file systems without case would make one of the two.
func (s *Store) checkName(ctx context.Context, i checkpoint.Issue) error {
	refs, err := s.refs(ctx, liveRefs)
	if err != nil {
		return err
	}
	for name := range refs {
		if name != LiveRef(i) && strings.EqualFold(name, LiveRef(i)) {
			return &RefusedError{Reason: fmt.Sprintf("issue %s: %s differs in case alone", i, name)}
		}
	}
	return nil
}
