package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/treediff"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Line is the work on an issue as commits, so that git blame, git log and git diff work on the
// states of an agent's turns. Each valid checkpoint has a commit with its whole state as the
// tree. The parents are the commits of the checkpoints that it came after. If HEAD has moved
// since, the last parent is a step: a commit with the tree of HEAD and the same parents. HEAD
// itself is no parent, because git blame prefers a parent with the same file, so a turn's line
// that HEAD has too would be attributed to the commit. The first checkpoint has HEAD as its
// parent.
//
// The commits are not stored in the repository. Their objects are in a directory of their own,
// as a cache by content: git-checkpoint/lines/<issue>/ in the git directory. SweepLines removes it
// a week after its last use. The file "states" there has a line for each checkpoint:
//
//	<id> <tree of the checkpoint> <whole state> <HEAD or zero> <commit> <parents...>
//
// and a last line with the SHA-256 of the lines before. States whose commit or tree is lost are
// stored again.
//
// Equal chains give equal commits in every clone that has the same objects.
type Line struct {
	States []LineState // oldest first
	Git    git.Git     // reads the commits of the line, and the repository
	Cut    bool        // older checkpoints are missing: the chain ends at a shallow boundary

	store  *Store
	dir    string
	number map[plumbing.Hash]int           // index in States, by commit
	steps  map[plumbing.Hash]plumbing.Hash // HEAD by step
}

// A LineState is a checkpoint in a Line.
type LineState struct {
	Checkpoint Checkpoint
	Commit     plumbing.Hash
	Tree       plumbing.Hash // the whole state
	Head       plumbing.Hash // HEAD at the save, zero if unborn
	Parents    []plumbing.Hash
}

// Line returns the line of commits of an issue, and stores the commits that the cache lacks. It
// fails with *NoneError if the issue has no valid checkpoint.
func (s *Store) Line(ctx context.Context, issue checkpoint.Issue) (*Line, error) {
	defer trace.Begin(trace.Step, "line of commits").End()
	s.chain.RepairIfRewritten(ctx, issue)
	c, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	if err != nil {
		return nil, err
	}
	dir := s.repo.NotePath("lines/" + issue.RefName())
	if now := time.Now(); fsutil.Exists(filepath.Join(dir, "states")) && !fsutil.IsYounger(filepath.Join(dir, "states"), linesUsed) {
		_ = os.Chtimes(filepath.Join(dir, "states"), now, now) // in use
	}
	b := &lineBuilder{
		store: s, whole: s.snapshot.NewWhole(), known: readLineStates(filepath.Join(dir, "states")),
		line: &Line{store: s, dir: dir, number: map[plumbing.Hash]int{}, steps: map[plumbing.Hash]plumbing.Hash{}}, byID: map[checkpoint.ID]int{},
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
	if err := b.write(); err != nil {
		return nil, fmt.Errorf("line of commits of issue %s: %w", issue, err)
	}
	b.line.Git = s.repo.Git.With(b.line.alternates(s.repo.Info))
	return b.line, nil
}

// linesKept is the time after which an unused cache of a line is removed, and linesUsed the time
// after which a use is recorded.
const (
	linesKept = 7 * 24 * time.Hour
	linesUsed = time.Hour
)

// SweepLines removes the caches of lines that were not used for a week. Objects of former states
// accumulate there.
func (s *Store) SweepLines() {
	dirs, _ := os.ReadDir(s.repo.NotePath("lines"))
	for _, d := range dirs {
		dir := s.repo.NotePath("lines/" + d.Name())
		if !fsutil.IsYounger(filepath.Join(dir, "states"), linesKept) && !fsutil.IsYounger(dir, linesUsed) {
			os.RemoveAll(dir)
		}
	}
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
	whole   *treediff.Whole
	known   map[checkpoint.ID]LineState // of the cache; their Checkpoint has only id and tree
	line    *Line
	byID    map[checkpoint.ID]int
	made    bool // the cache lacks a state
}

// add adds the checkpoint at an index of the list.
func (b *lineBuilder) add(at int) error {
	cp := &b.lineage.List.Checkpoints[at]
	st := LineState{Checkpoint: *cp}
	known, ok := b.known[cp.ID]
	if ok = ok && known.Checkpoint.Tree == cp.Tree && b.isStored(&known); ok {
		st.Tree, st.Head = known.Tree, known.Head
	} else {
		var err error
		if st.Tree, err = b.store.snapshot.WholeTree(cp, b.whole); err != nil {
			return err
		}
		st.Head, err = b.store.chain.HeadOf(cp)
		if b.line.Cut && errors.Is(err, plumbing.ErrObjectNotFound) {
			err = nil // the index commit of a checkpoint at a shallow boundary
		}
		if err != nil {
			return err
		}
	}
	before := b.before(at)
	var err error
	if st.Parents, err = b.line.parents(b.whole, before, st.Head); err != nil {
		return err
	}
	if ok && slices.Equal(known.Parents, st.Parents) {
		st.Commit = known.Commit
	} else {
		data, err := b.line.encode(&st, st.Parents)
		if err != nil {
			return err
		}
		st.Commit, b.made = b.whole.Add(plumbing.CommitObject, data), true
	}
	b.byID[cp.ID] = len(b.line.States)
	b.line.number[st.Commit] = len(b.line.States)
	b.line.States = append(b.line.States, st)
	return nil
}

// isStored reports whether the cache has the commit of a state, and the cache or the repository
// its tree.
func (b *lineBuilder) isStored(st *LineState) bool {
	isHere := func(hash plumbing.Hash) bool {
		name := hash.String()
		info, err := os.Stat(filepath.Join(b.line.dir, name[:2], name[2:]))
		return err == nil && info.Size() > 0
	}
	return isHere(st.Commit) && (isHere(st.Tree) || b.store.repo.Objects.Has(st.Tree))
}

// before returns the states that a checkpoint came after. Unlike Lineage.Before it has those of
// other branches too: only contents count here, and a step follows HEAD.
func (b *lineBuilder) before(at int) []*LineState {
	after, known := b.lineage.List.Checkpoints[at].CameAfter()
	if !known { // of an earlier version
		from, _ := b.lineage.Before(at)
		if from == nil {
			return nil
		}
		after = []checkpoint.ID{from.ID}
	}
	var before []*LineState
	inherited := map[checkpoint.ID]bool{}
	for _, id := range after {
		i, ok := b.byID[id]
		if !ok || inherited[id] {
			continue
		}
		before = append(before, &b.line.States[i])
		more, _ := b.line.States[i].Checkpoint.CameAfter()
		for _, id := range more {
			inherited[id] = true
		}
	}
	return before
}

// parents returns the parents of a state with the given HEAD: the states before it and, if HEAD
// has moved, a step, or HEAD if no state is before it. A shallow clone may lack HEAD.
func (l *Line) parents(w *treediff.Whole, before []*LineState, head plumbing.Hash) ([]plumbing.Hash, error) {
	moved := !head.IsZero() && l.store.repo.Objects.Has(head)
	var parents []plumbing.Hash
	for _, st := range before {
		parents = append(parents, st.Commit)
		moved = moved && st.Head != head
	}
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

// write stores new objects, then the list of states.
func (b *lineBuilder) write() error {
	if !b.made && len(b.known) == len(b.line.States) {
		return nil
	}
	if err := b.store.repo.Objects.MakeDirs(b.line.dir); err != nil {
		return err
	}
	if err := b.whole.Write(b.line.dir); err != nil {
		return err
	}
	var out strings.Builder
	for _, st := range b.line.States {
		fmt.Fprintf(&out, "%s %s %s %s %s", st.Checkpoint.ID, st.Checkpoint.Tree, st.Tree, st.Head, st.Commit)
		for _, p := range st.Parents {
			out.WriteString(" " + p.String())
		}
		out.WriteString("\n")
	}
	fmt.Fprintf(&out, "%x\n", sha256.Sum256([]byte(out.String())))
	return b.store.repo.WriteNote("lines/"+b.line.States[0].Checkpoint.Issue.RefName()+"/states", []byte(out.String()))
}

// readLineStates reads the list of states. An incomplete or damaged list is empty.
func readLineStates(path string) map[checkpoint.ID]LineState {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	end := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n') + 1
	if string(data[end:]) != fmt.Sprintf("%x\n", sha256.Sum256(data[:end])) {
		return nil
	}
	known := map[checkpoint.ID]LineState{}
	for line := range strings.Lines(string(data[:end])) {
		words := strings.Fields(line)
		if len(words) < 5 {
			return nil
		}
		var hashes []plumbing.Hash
		for _, word := range words[1:] {
			if !plumbing.IsHash(word) {
				return nil
			}
			hashes = append(hashes, plumbing.NewHash(word))
		}
		id := checkpoint.ID(words[0])
		known[id] = LineState{
			Checkpoint: chain.Checkpoint{ID: id, Tree: hashes[0]},
			Tree:       hashes[1], Head: hashes[2], Commit: hashes[3], Parents: hashes[4:],
		}
	}
	return known
}

// Now returns a commit on top of the line: HEAD with the present content of a file, relative to
// the root, if it is in the worktree. Its parents are the newest states of this worktree, and
// HEAD. A line of the file that only this commit has is not saved yet. If neither the worktree
// nor HEAD has the file, the error says so.
func (l *Line) Now(ctx context.Context, path string) (plumbing.Hash, error) {
	s := l.store
	w := s.snapshot.NewWhole()
	var tree, head plumbing.Hash
	out, err := s.repo.Git.Output(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	if text := strings.TrimSpace(string(out)); err == nil && plumbing.IsHash(text) {
		head = plumbing.NewHash(text)
		if tree, err = s.repo.TreeOfCommit(head); err != nil {
			return head, err
		}
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
		if tree, err = w.Replace(tree, trees.FileEntry{Path: path, Mode: trees.ModeOf(info), Hash: blob}); err != nil {
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
	return now, w.Write(l.dir)
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

// hashFile stores the content of a file in the worktree beside the line, with git's filters, or
// the target of a symlink.
func (l *Line) hashFile(ctx context.Context, w *treediff.Whole, path string, info os.FileInfo) (plumbing.Hash, error) {
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
