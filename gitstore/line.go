package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Line is the work on an issue as commits, so that git blame, git log and git diff work on the
// states of an agent's turns. Each valid checkpoint has a commit with its state as the
// tree. The parents are the commits of the checkpoints that it came after. If HEAD has moved
// since, the last parent is a step: a commit with the tree of HEAD and the same parents. HEAD
// itself is no parent, because git blame prefers a parent with the same file, so a turn's line
// that HEAD has too would be attributed to the commit. The first checkpoint has HEAD as its
// parent.
//
// The commits are not stored in the repository, but in a cache (lineCache). Equal chains give
// equal commits in every clone that has the same objects.
type Line struct {
	States []LineState // oldest first
	Git    git.Git     // reads the commits of the line, and the repository
	Cut    bool        // older checkpoints are missing: the chain ends at a shallow boundary

	store  *Store
	dir    string
	number map[plumbing.Hash]int           // index in States, by commit
	steps  map[plumbing.Hash]plumbing.Hash // HEAD by step
	has    map[plumbing.Hash]bool          // whether the repository has a HEAD
}

// A LineState is a checkpoint in a Line.
type LineState struct {
	Checkpoint Checkpoint
	Commit     plumbing.Hash
	Tree       plumbing.Hash // the state
	Head       plumbing.Hash // HEAD at the save, zero if unborn
	Parents    []plumbing.Hash
}

// Line returns the line of commits of an issue, and stores the commits that the cache lacks. It
// fails with *NoneError if the issue has no valid checkpoint.
func (s *Store) Line(ctx context.Context, issue checkpoint.Issue) (*Line, error) {
	defer trace.Begin(trace.Step, "line of commits").End()
	s.chain.RepairIfRewritten(ctx, issue)
	return s.completeLine(ctx, issue, s.readLineCache(issue))
}

// knownLine is Line without the chain if the cache is complete: a Checkpoint in the States then has
// only id, issue, trigger, commit and tree.
func (s *Store) knownLine(ctx context.Context, issue checkpoint.Issue) (*Line, error) {
	defer trace.Begin(trace.Step, "line of commits").End()
	s.chain.RepairIfRewritten(ctx, issue)
	cache := s.readLineCache(issue)
	tip, err := s.repo.ReadRef(ctx, repo.LiveRef(issue))
	if err != nil || tip.IsZero() || tip != cache.tip || s.repo.Info.Shallow {
		return s.completeLine(ctx, issue, cache)
	}
	l := s.newLine(cache)
	l.States = cache.states
	for i := range l.States {
		st := &l.States[i]
		l.number[st.Commit] = i
		if n := len(st.Parents); n > 0 && st.Parents[n-1] != st.Head && l.StateOf(st.Parents[n-1]) == nil {
			l.steps[st.Parents[n-1]] = st.Head
		}
	}
	return l, nil
}

// newLine returns an empty line.
func (s *Store) newLine(cache *lineCache) *Line {
	l := &Line{store: s, dir: cache.dir, number: make(map[plumbing.Hash]int, len(cache.states)), steps: map[plumbing.Hash]plumbing.Hash{}, has: map[plumbing.Hash]bool{}}
	l.Git = s.repo.Git.With(l.alternates(s.repo.Info))
	return l
}

// completeLine builds the line of a chain, with the states of the cache that are still right.
func (s *Store) completeLine(ctx context.Context, issue checkpoint.Issue, cache *lineCache) (*Line, error) {
	c, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	if err != nil {
		return nil, err
	}
	if len(cache.packs) >= maxLinePacks && c.Tip != cache.tip {
		cache = &lineCache{dir: cache.dir, issue: issue}
	}
	b := &lineBuilder{
		store: s, objects: newLineObjects(s.repo.Objects), known: cache.byID(), line: s.newLine(cache), byID: map[checkpoint.ID]int{},
	}
	list := &List{Checkpoints: c.Checkpoints(), Complete: true}
	b.lineage, b.line.Cut = s.Lineage(ctx, list), c.Cut
	for i := range slices.Backward(list.Checkpoints) {
		if list.Checkpoints[i].Valid() {
			if err := b.add(i); err != nil {
				return nil, err
			}
		}
	}
	if len(b.line.States) == 0 {
		return nil, &repo.NoneError{Issue: issue}
	}
	tip := c.Tip
	if c.Deleted {
		tip = plumbing.ZeroHash
	}
	if b.made || tip != cache.tip {
		if err := s.writeLineCache(ctx, cache, b.line.States, tip, b.objects); err != nil {
			return nil, fmt.Errorf("line of commits of issue %s: %w", issue, err)
		}
	}
	return b.line, nil
}

// alternates returns the variable by which git reads the objects of the line.
func (l *Line) alternates(info repository.Info) string {
	dirs := append([]string{l.dir}, odb.SplitAlternates(info.Alternates)...)
	return repository.AlternatesVariable + "=" + odb.JoinAlternates(dirs)
}

// StateOf returns the state of a commit of the line, or nil.
func (l *Line) StateOf(commit plumbing.Hash) *LineState {
	if i, ok := l.number[commit]; ok {
		return &l.States[i]
	}
	return nil
}

// ByID returns the state of a checkpoint, or nil.
func (l *Line) ByID(id checkpoint.ID) *LineState {
	for i := range l.States {
		if l.States[i].Checkpoint.ID == id {
			return &l.States[i]
		}
	}
	return nil
}

// A lineBuilder adds checkpoints to a Line, oldest first.
type lineBuilder struct {
	store   *Store
	lineage *Lineage
	objects *lineObjects
	known   map[checkpoint.ID]*LineState // of the cache
	line    *Line
	byID    map[checkpoint.ID]int
	made    bool // the cache lacks a state
}

// add adds the checkpoint at an index of the list.
func (b *lineBuilder) add(at int) error {
	cp := &b.lineage.List.Checkpoints[at]
	st := LineState{Checkpoint: *cp}
	known := b.known[cp.ID]
	if known != nil && known.Checkpoint.Tree != cp.Tree {
		known = nil
	}
	if known != nil {
		st.Tree, st.Head = known.Tree, known.Head
	} else if err := b.read(&st); err != nil {
		return err
	}
	before := b.before(at)
	if known != nil && b.line.isBetween(before, known) {
		st.Parents, st.Commit = known.Parents, known.Commit
	} else {
		var err error
		if st.Parents, err = b.line.parents(b.objects, before, st.Head); err != nil {
			return err
		}
		data, err := b.line.encode(&st, st.Parents)
		if err != nil {
			return err
		}
		st.Commit, b.made = b.objects.Add(plumbing.CommitObject, data), true
	}
	b.byID[cp.ID] = len(b.line.States)
	b.line.number[st.Commit] = len(b.line.States)
	b.line.States = append(b.line.States, st)
	return nil
}

// read sets tree and HEAD of a state.
func (b *lineBuilder) read(st *LineState) (err error) {
	if st.Tree, err = b.store.snapshot.StateTree(&st.Checkpoint); err != nil {
		return err
	}
	st.Head, err = b.store.chain.HeadOf(&st.Checkpoint)
	if b.line.Cut && errors.Is(err, plumbing.ErrObjectNotFound) {
		err = nil // the index commit of a checkpoint at a shallow boundary
	}
	return err
}

// before returns the states that a checkpoint came after. Unlike Lineage.Before it has those of
// other branches too: only contents count here, and a step follows HEAD.
func (b *lineBuilder) before(at int) []*LineState {
	after, _ := b.lineage.List.Checkpoints[at].CameAfter()
	var before []*LineState
	for _, cp := range direct(after, func(id checkpoint.ID) *Checkpoint {
		if i, ok := b.byID[id]; ok {
			return &b.line.States[i].Checkpoint
		}
		return nil
	}) {
		before = append(before, &b.line.States[b.byID[cp.ID]])
	}
	return before
}

// parents returns the parents of a state with the given HEAD: the states before it and, if HEAD
// has moved, a step, or HEAD if no state is before it.
func (l *Line) parents(w *lineObjects, before []*LineState, head plumbing.Hash) ([]plumbing.Hash, error) {
	parents, moved := l.after(before, head)
	switch {
	case !moved:
		return parents, nil
	case len(parents) == 0:
		return []plumbing.Hash{head}, nil
	}
	commit, err := l.store.repo.ReadCommit(head)
	if err != nil {
		return nil, err
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(commit.Message), "\n")
	data := encodeLineCommit(commit.Tree, parents, commit.Rest, fmt.Sprintf("%s\n\nCommit: %s\n", subject, head))
	step := w.Add(plumbing.CommitObject, data)
	l.steps[step] = head
	return append(parents, step), nil
}

// after returns the commits of the states before a state with the given HEAD, and whether HEAD has
// moved since. A shallow clone may lack HEAD.
func (l *Line) after(before []*LineState, head plumbing.Hash) (commits []plumbing.Hash, moved bool) {
	has, asked := l.has[head]
	if !asked {
		has = !head.IsZero() && l.store.repo.Objects.Has(head)
		l.has[head] = has
	}
	moved = has
	for _, st := range before {
		commits = append(commits, st.Commit)
		moved = moved && st.Head != head
	}
	return commits, moved
}

// isBetween reports whether a state of the cache has the parents of a state after those before it,
// and notes its step.
func (l *Line) isBetween(before []*LineState, known *LineState) bool {
	commits, moved := l.after(before, known.Head)
	n := len(commits)
	if rest := len(known.Parents) - n; rest != 0 && !moved || rest != 1 && moved || !slices.Equal(known.Parents[:n], commits) {
		return false
	}
	if moved && n > 0 {
		l.steps[known.Parents[n]] = known.Head
	}
	return true
}

// encodeLineCommit returns a commit with the author and the committer of another one.
func encodeLineCommit(tree plumbing.Hash, parents []plumbing.Hash, headers []byte, message string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&out, "parent %s\n", p)
	}
	for header := range bytes.Lines(headers) {
		if bytes.HasPrefix(header, []byte("author ")) || bytes.HasPrefix(header, []byte("committer ")) {
			out.Write(header)
		}
	}
	out.WriteString("\n" + message)
	return out.Bytes()
}

// encode returns the commit of a state. Its subject is the note, and trailers name the
// checkpoint and, for a turn of an agent, number, agent and session.
func (l *Line) encode(st *LineState, parents []plumbing.Hash) ([]byte, error) {
	cp := &st.Checkpoint
	r, err := l.store.chain.Record(cp)
	if err != nil {
		return nil, err
	}
	raw, err := l.store.repo.ReadCommit(cp.Commit)
	if err != nil {
		return nil, err
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(cp.Note), "\n")
	subject = strings.Map(func(r rune) rune { // escapes of a terminal
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ReplaceAll(subject, "\t", " "))
	if subject == "" {
		subject = "checkpoint, " + string(cp.Trigger)
	}
	message := fmt.Sprintf("%s\n\nCheckpoint-Id: %s\n", subject, cp.ID)
	if t := r.AgentTurn(); cp.Trigger == checkpoint.Turn && !t.Hand {
		message += fmt.Sprintf("Checkpoint-Turn: %d\n", t.Number)
		if t.Agent != "" {
			message += "Checkpoint-Agent: " + t.Agent + "\n"
		}
		if session := r.Session(); session != "" {
			message += fmt.Sprintf("Checkpoint-Session: %s\n", session)
		}
	}
	return encodeLineCommit(st.Tree, parents, raw.Rest, message), nil
}

// Now returns a commit on top of the line: HEAD with the present content of a file, relative to
// the root, if it is in the worktree. Its parents are the newest states of this worktree, and
// HEAD. A line of the file that only this commit has is not saved yet. If neither the worktree
// nor HEAD has the file, the error says so.
func (l *Line) Now(ctx context.Context, path string) (plumbing.Hash, error) {
	s := l.store
	w := newLineObjects(s.repo.Objects)
	var tree plumbing.Hash
	at, err := s.repo.ReadHead(ctx)
	head := at.Commit
	if err == nil && !head.IsZero() {
		tree, err = s.repo.TreeOfCommit(head)
	}
	if err != nil {
		return head, err
	}
	info, err := s.lstatInWorktree(ctx, path)
	if err != nil {
		return head, err
	}
	if info != nil && trees.ModeOf(info) != 0 {
		blob, err := l.hashFile(ctx, w, path, info)
		if err != nil {
			return blob, err
		}
		if tree, err = trees.Replace(w, w, tree, []trees.FileEntry{{Path: path, Mode: trees.ModeOf(info), Hash: blob}}); err != nil {
			return blob, err
		}
	}
	if _, blob, err := trees.Lookup(w, tree, path); err != nil || blob.IsZero() {
		return blob, cmp.Or[error](err, &NoLinesError{path, "no such file in the worktree or at HEAD"})
	}
	parents, err := l.parents(w, l.here(), head)
	if err != nil {
		return head, err
	}
	now := w.Add(plumbing.CommitObject, encodeLineCommit(tree, parents, s.repo.NewCommit(tree, time.Unix(0, 0), "").Rest, "not saved yet\n"))
	return now, w.write(l.dir)
}

// here returns the states that this worktree comes after, or the newest one.
func (l *Line) here() []*LineState {
	newest := &l.States[len(l.States)-1]
	var states []*LineState
	for _, id := range l.store.chain.Heads(newest.Checkpoint.Issue) {
		if st := l.ByID(id); st != nil && !slices.Contains(states, st) {
			states = append(states, st)
		}
	}
	if len(states) == 0 {
		states = append(states, newest)
	}
	return states
}

// lstatInWorktree returns the state of a file that is in the worktree as git sees it: behind no
// symlink, and in no repository's own directory. If there is no such file, the state is nil.
func (s *Store) lstatInWorktree(ctx context.Context, path string) (os.FileInfo, error) {
	if s.Root() == "" { // bare
		return nil, nil
	}
	for i := range path {
		if path[i] != '/' {
			continue
		}
		dir := filepath.Join(s.Root(), filepath.FromSlash(path[:i]))
		if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return nil, &NoLinesError{path, checkpoint.QuotePath(path[:i]) + " is a symlink"}
		}
	}
	if f := s.repo.Boundary(ctx).Find(path); f.Reason != "" {
		return nil, &NoLinesError{path, checkpoint.QuotePath(strings.TrimSuffix(f.Path, "/")) + " is " + f.Reason}
	}
	info, err := os.Lstat(filepath.Join(s.Root(), filepath.FromSlash(path)))
	switch {
	case err != nil:
		return nil, nil
	case info.IsDir():
		return nil, &NoLinesError{path, "it is a directory"}
	}
	return info, nil
}

// hashFile adds the content of a file in the worktree, with git's filters, or the target of a
// symlink. Git stores the content beside the line.
func (l *Line) hashFile(ctx context.Context, w *lineObjects, path string, info os.FileInfo) (plumbing.Hash, error) {
	s := l.store
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(filepath.Join(s.Root(), filepath.FromSlash(path)))
		return w.Add(plumbing.BlobObject, []byte(target)), err
	}
	dirs := odb.JoinAlternates(s.repo.Objects.Dirs())
	g := s.repo.Git.With("GIT_OBJECT_DIRECTORY="+l.dir, repository.AlternatesVariable+"="+dirs)
	g.Dir = s.Root()
	out, err := g.Output(ctx, "hash-object", "-w", "--", path)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return plumbing.NewHash(strings.TrimSpace(string(out))), nil
}

// Before returns the way to a state, oldest first: the state, the one before it, and so on. A
// joined state follows its first parent.
func (l *Line) Before(st *LineState) []*LineState {
	var way []*LineState
	for ; st != nil; st = l.StateBefore(st) {
		way = append(way, st)
	}
	slices.Reverse(way)
	return way
}

// StateBefore returns the state that a state came after, or nil.
func (l *Line) StateBefore(st *LineState) *LineState {
	if len(st.Parents) == 0 {
		return nil
	}
	return l.StateOf(st.Parents[0])
}
