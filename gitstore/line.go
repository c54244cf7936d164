package gitstore

import (
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
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/ident"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Line is the work on an issue as commits, so that git blame, git log and git diff work on the
// states of an agent's turns. Each valid checkpoint of the chain has a commit with its state as the
// tree. If all checkpoints are archived, the archive is the chain. The parents are, in this order:
//
//   - the states of the checkpoints that it came after (chain.Descent);
//   - the states from which single files came: the checkpoints in restored_from, also of the issue's
//     source and forks;
//   - a step, if HEAD has moved by commits other than those of the turn itself: a commit with the tree
//     of HEAD and the parents above.
//
// HEAD itself is no parent, because git blame prefers a parent with the same file, so a turn's line
// that HEAD has too would be attributed to the commit. As an exception, the parent of a first state is
// the commit on which its turn began.
//
// The commits depend on nothing but these facts, so a state keeps its commit as long as they stay,
// and equal chains give equal commits in every clone. The ref repo.LineRef keeps them: it points to a
// commit with all newest states as parents. The chain's moves delete the ref if they can remove a
// state, and the next Line makes it again. If the repository cannot be written, the commits lie in a
// temporary folder.
type Line struct {
	States []LineState // parents first; the last one is the newest state of the issue
	Git    git.Git     // reads the commits of the line, and the repository
	Cut    bool        // older checkpoints are missing: the chain ends at a shallow boundary
	Tips   plumbing.Hash

	store  *Store
	own    *chain.Descent                  // of the issue
	number map[plumbing.Hash]int           // index in States, by commit
	steps  map[plumbing.Hash]plumbing.Hash // HEAD by step
	heads  map[plumbing.Hash]*repo.RawCommit
	made   map[plumbing.Hash]int // the state whose turn made a commit
	temp   string                // folder of objects, or ""
}

// A LineState is a checkpoint in a Line.
type LineState struct {
	Checkpoint Checkpoint
	Commit     plumbing.Hash
	Tree       plumbing.Hash // the state
	Head       plumbing.Hash // HEAD at the save, zero if unborn
	Before     []int         // indexes in States of the states among the parents, those of restored_from at last
	After      int           // number of the others
	Parents    []plumbing.Hash
}

// Line returns the line of commits of an issue, and stores the commits that the repository lacks. It
// fails with *NoneError if the issue has no valid checkpoint. The caller must close it.
func (s *Store) Line(ctx context.Context, issue checkpoint.Issue) (*Line, error) {
	return s.line(ctx, issue, false)
}

// line is Line, or the line of the archive alone, whose commits lie in a temporary folder.
func (s *Store) line(ctx context.Context, issue checkpoint.Issue, archived bool) (*Line, error) {
	defer trace.Begin(trace.Step, "line of commits").End()
	b := &lineBuilder{ctx: ctx, issue: issue, archived: archived, objects: s.repo.NewObjectWriter(), known: map[plumbing.Hash]int{}, from: map[string]plumbing.Hash{}, line: &Line{
		Git: s.repo.Git, store: s, number: map[plumbing.Hash]int{}, steps: map[plumbing.Hash]plumbing.Hash{},
		heads: map[plumbing.Hash]*repo.RawCommit{}, made: map[plumbing.Hash]int{},
	}}
	l := b.line
	var err error
	if l.own, err = b.read(issue); err != nil {
		return nil, err
	}
	l.Cut = l.own.Chain.Cut
	for at := range slices.Backward(l.own.List) {
		if _, err := b.add(l.own, at); err != nil {
			return nil, err
		}
	}
	if len(l.States) == 0 {
		return nil, &repo.NoneError{Issue: issue}
	}
	b.addTips()
	return l, b.store()
}

// Close removes the temporary folder of the line.
func (l *Line) Close() {
	if l.temp != "" {
		os.RemoveAll(l.temp)
	}
}

// ByID returns the state of a checkpoint, or nil.
func (l *Line) ByID(id checkpoint.ID) *LineState {
	for i := range slices.Backward(l.States) {
		if l.States[i].Checkpoint.ID == id {
			return &l.States[i]
		}
	}
	return nil
}

// StateBefore returns the first state that a state came after, or nil.
func (l *Line) StateBefore(st *LineState) *LineState {
	if len(st.Before) == 0 {
		return nil
	}
	return &l.States[st.Before[0]]
}

// Reached reports for each state whether it is the state at an index or an ancestor of it.
func (l *Line) Reached(n int) []bool {
	reached := make([]bool, len(l.States))
	reached[n] = true
	for i := n; i >= 0; i-- {
		for _, k := range l.States[i].Before {
			reached[k] = reached[k] || reached[i]
		}
	}
	return reached
}

// HasStep reports whether commits of others came between a state and the states before it.
func (l *Line) HasStep(st *LineState) bool {
	n := len(st.Parents)
	return n > 0 && !l.steps[st.Parents[n-1]].IsZero()
}

// A lineBuilder makes a Line.
type lineBuilder struct {
	ctx      context.Context
	issue    checkpoint.Issue
	archived bool // the line is of the archive alone
	objects  *repo.ObjectWriter
	line     *Line
	known    map[plumbing.Hash]int // index of the state of a checkpoint's commit; -1 while it is added
	others   []*chain.Descent      // of the issue's source and forks
	asked    bool                  // others is complete
	from     map[string]plumbing.Hash
}

// read reads the chain of an issue, or its archive if no checkpoint is in the chain.
func (b *lineBuilder) read(issue checkpoint.Issue) (*chain.Descent, error) {
	var chains [2]*chain.Chain
	for n, ref := range []string{repo.LiveRef(issue), repo.ArchiveRef(issue)} {
		c, err := b.line.store.chain.ReadChain(b.ctx, issue, ref, 0)
		if err != nil {
			return nil, err
		}
		chains[n], b.from[ref] = c, c.Tip
	}
	if d := chains[0].Descent(chains[1]); len(d.List) > 0 && !(b.archived && issue == b.issue) {
		return d, nil
	}
	return chains[1].Descent(chains[1]), nil
}

// find finds a source of the checkpoint at an index of a chain: in this chain, and in the chains of the
// issue's source and forks. If the source is missing, the result is its nearest present ancestors.
// Chains that cannot be read are skipped.
func (b *lineBuilder) find(in *chain.Descent, at int, id checkpoint.ID) (d *chain.Descent, found []int) {
	chains := append([]*chain.Descent{in, b.line.own}, b.others...)
	for _, d := range chains {
		if at, ok := d.At[id]; ok {
			return d, []int{at}
		}
	}
	if !b.asked {
		b.asked = true
		for _, archived := range []bool{false, true} {
			issues, _, _ := b.line.store.chain.Issues(b.ctx, archived)
			for _, i := range issues {
				isRead := func(d *chain.Descent) bool { return d.Chain.Issue == i }
				if i == b.issue || i.Root() != b.issue.Root() || slices.ContainsFunc(b.others, isRead) {
					continue
				}
				if d, err := b.read(i); err == nil {
					b.others = append(b.others, d)
				}
			}
		}
		return b.find(in, at, id)
	}
	source, _ := in.Chain.Issue.ForkSource()
	for _, d := range chains {
		if d == in || d.Chain.Issue == source {
			if found := d.Before(id, in.List[at].Clock); len(found) > 0 {
				return d, found
			}
		}
	}
	return in, nil
}

// add adds the checkpoint at an index of a chain, after the states before it, and returns its index in
// States. It returns -1 for a checkpoint that is just being added.
func (b *lineBuilder) add(d *chain.Descent, at int) (n int, err error) {
	cp, l := d.List[at], b.line
	if n, ok := b.known[cp.Commit]; ok {
		return n, nil
	}
	b.known[cp.Commit] = -1
	st := LineState{Checkpoint: cp.Checkpoint}
	state, err := l.store.repo.ReadCommit(append(cp.Raw.Parents, plumbing.ZeroHash, plumbing.ZeroHash)[1])
	switch {
	case err == nil && len(state.Parents) > 0:
		st.Tree, st.Head = state.Tree, state.Parents[0]
	case l.Cut && errors.Is(err, plumbing.ErrObjectNotFound): // at a shallow boundary
		if st.Tree, err = l.store.Files.StateTree(&st.Checkpoint); err != nil {
			return -1, err
		}
	default:
		return -1, cmp.Or(err, repo.Corrupt(cp.Name(), "its state commit has no parent"))
	}
	if c := l.head(st.Head); c != nil && len(c.Parents) == 0 && l.store.chain.IsGenesis(st.Head) {
		l.heads[st.Head], st.Head = nil, plumbing.ZeroHash
	}
	before := func(d *chain.Descent, list []int) error {
		for _, k := range list {
			n, err := b.add(d, k)
			if err != nil {
				return err
			}
			if n >= 0 && !slices.Contains(st.Before, n) {
				st.Before = append(st.Before, n)
			}
		}
		return nil
	}
	if err := before(d, d.Parents(at)); err != nil {
		return -1, err
	}
	st.After = len(st.Before)
	for id := range strings.FieldsSeq(cp.RestoredFrom) {
		if err := before(b.find(d, at, checkpoint.ID(id))); err != nil {
			return -1, err
		}
	}
	n = len(l.States)
	made := map[plumbing.Hash]bool{}
	if l.moved(st.Before, []plumbing.Hash{st.Head}) {
		if r, err := l.store.chain.Record(&st.Checkpoint); err == nil {
			for _, hex := range r.AgentTurn().Commits {
				commit := plumbing.NewHash(hex)
				made[commit], l.made[commit] = true, n
			}
		}
	}
	st.Parents = l.parents(b.objects, st.Before, st.Head, made)
	st.Commit = b.objects.Add(plumbing.CommitObject, l.encode(&st, cp.Raw, st.Parents).Encode())
	b.known[cp.Commit], l.number[st.Commit] = n, n
	l.States = append(l.States, st)
	return n, nil
}

// head returns a commit of HEAD. It is nil for an unborn branch, and for a commit that the repository
// lacks, such as one below a shallow boundary.
func (l *Line) head(hash plumbing.Hash) *repo.RawCommit {
	c, asked := l.heads[hash]
	if !asked {
		if raw, err := l.store.repo.ReadCommit(hash); err == nil && !hash.IsZero() {
			c = &raw
		}
		l.heads[hash] = c
	}
	return c
}

// moved reports whether HEAD was at none of these commits in the states before.
func (l *Line) moved(before []int, to []plumbing.Hash) bool {
	return slices.ContainsFunc(to, func(head plumbing.Hash) bool {
		return l.head(head) != nil && !slices.ContainsFunc(before, func(n int) bool { return l.States[n].Head == head })
	})
}

// parents returns the parents of a commit of the line: the states before it and, if HEAD has moved by
// commits that the turn has not made, a step. Without a state before it, the parents are the commits on
// which the turn began.
func (l *Line) parents(w *repo.ObjectWriter, before []int, head plumbing.Hash, made map[plumbing.Hash]bool) (parents []plumbing.Hash) {
	for _, n := range before {
		parents = append(parents, l.States[n].Commit)
	}
	began, seen := []plumbing.Hash{}, map[plumbing.Hash]bool{}
	for todo := []plumbing.Hash{head}; len(todo) > 0; todo = todo[1:] {
		c := l.head(todo[0])
		switch {
		case c == nil || seen[todo[0]]:
		case made[todo[0]]:
			todo = append(todo, c.Parents...)
		default:
			began = append(began, todo[0])
		}
		seen[todo[0]] = true
	}
	switch {
	case len(parents) == 0:
		return began
	case !l.moved(before, began):
		return parents
	}
	c := l.head(head)
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	step := lineCommit(c.Tree, parents, *c, c.Author(), fmt.Sprintf("%s\n\nCommit: %s\n", printable(subject), head))
	hash := w.Add(plumbing.CommitObject, step.Encode())
	l.steps[hash] = head
	return append(parents, hash)
}

// lineCommit returns a commit of the line with the time and the address of the author of another one.
func lineCommit(tree plumbing.Hash, parents []plumbing.Hash, of repo.RawCommit, author, message string) repo.RawCommit {
	_, address, _ := strings.Cut(of.AuthorLine(), "<")
	address, _, _ = strings.Cut(address, ">")
	at := of.Authored()
	if at.Unix() < 0 { // also the zero time
		at = time.Unix(0, 0)
	}
	by := ident.Person{Name: cmp.Or(strings.Trim(printable(author), " .,:;<>\"\\'"), "unknown"), Email: strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '<' || r == '>' {
			return -1
		}
		return r
	}, printable(address))}
	return repo.RawCommit{Tree: tree, Parents: parents, Message: message, Rest: fmt.Appendf(nil, "author %s\ncommitter %s\n", by.Signature(at), ident.Fallback.Signature(at))}
}

// printable replaces control characters, escapes of a terminal, and the marks around an address.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsPrint(r) && r != unicode.ReplacementChar:
			return r
		}
		return '?'
	}, text)
}

// encode returns the commit of a state, given the commit of its checkpoint. Its subject is the note. Trailers name the checkpoint and, for
// a turn of an agent, number and agent. The agent is the author of its turn.
func (l *Line) encode(st *LineState, of repo.RawCommit, parents []plumbing.Hash) repo.RawCommit {
	cp := &st.Checkpoint
	subject, _, _ := strings.Cut(strings.TrimSpace(cp.Note), "\n")
	message := fmt.Sprintf("%s\n\nCheckpoint-Id: %s\n", cmp.Or(printable(subject), "checkpoint, "+string(cp.Trigger)), cp.ID)
	author := cp.Author
	if cp.Trigger == checkpoint.Turn && cp.Turn > 0 && !l.isByHand(cp) {
		author = cmp.Or(cp.Agent, author)
		message += fmt.Sprintf("Checkpoint-Turn: %d\n", cp.Turn)
		if agent := strings.TrimSpace(printable(cp.Agent)); agent != "" {
			message += "Checkpoint-Agent: " + agent + "\n"
		}
	}
	return lineCommit(st.Tree, parents, of, author, message)
}

// isByHand reports whether a checkpoint has the changes of a person before a turn, or of another agent. It
// reads the record only if the note is that of such a checkpoint: a request can have the same words.
func (l *Line) isByHand(cp *Checkpoint) bool {
	if cp.Note != "by hand" && !strings.HasPrefix(cp.Note, "during a turn of ") {
		return false
	}
	r, err := l.store.chain.Record(cp)
	return err == nil && r.AgentTurn().Hand
}

// addTips adds the commit to which the ref points. It has the tree of the newest state, and all states
// as parents that no other state came after, the newest first.
func (b *lineBuilder) addTips() {
	l := b.line
	isBefore := map[int]bool{}
	for _, st := range l.States {
		for _, n := range st.Before {
			isBefore[n] = true
		}
	}
	var tips []plumbing.Hash
	for n := range slices.Backward(l.States) {
		if !isBefore[n] {
			tips = append(tips, l.States[n].Commit)
		}
	}
	newest := &l.States[len(l.States)-1]
	of, _ := l.store.repo.ReadCommit(newest.Checkpoint.Commit)
	tip := lineCommit(newest.Tree, tips, of, ident.Fallback.Name, fmt.Sprintf("newest states of issue %s\n", b.issue.RefName()))
	l.Tips = b.objects.Add(plumbing.CommitObject, tip.Encode())
}

// store stores the commits that the repository lacks, and moves the ref. If the repository cannot be
// written, it stores them in a temporary folder. The ref stays if a chain has moved meanwhile.
func (b *lineBuilder) store() error {
	l, r := b.line, b.line.store.repo
	k := b.objects.Lacking()
	if at, err := r.ReadRef(b.ctx, repo.LineRef(b.issue)); err == nil && at == l.Tips && k.IsEmpty() {
		return nil
	}
	if !b.archived {
		_ = r.SetLineRef(b.ctx, k, b.issue, l.Tips, b.from)
	}
	if k = k.Lacking(); k.IsEmpty() {
		return nil
	}
	return l.write(b.ctx, k)
}

// write stores objects in the temporary folder, which Git reads too.
func (l *Line) write(ctx context.Context, w *repo.ObjectWriter) error {
	if l.temp == "" {
		dir, err := os.MkdirTemp("", "git-checkpoint-line-")
		if err != nil {
			return err
		}
		l.temp = dir
		dirs := append([]string{l.temp}, l.store.repo.Info.Alternates...)
		l.Git = l.store.repo.Git.With(repository.AlternatesVariable + "=" + odb.JoinAlternates(dirs))
	}
	return w.FlushTo(ctx, l.temp)
}

// Now returns a commit on top of the line: HEAD with the present content of a file, relative to
// the root, if it is in the worktree. Its parents are those of a state that is saved now. A line of the
// file that only this commit has is not saved yet. If neither the worktree nor HEAD has the file, the
// error says so.
func (l *Line) Now(ctx context.Context, path string) (plumbing.Hash, error) {
	s := l.store
	w := s.repo.NewObjectWriter()
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
	if _, blob, err := (&trees.Finder{Reader: w}).Lookup(tree, path); err != nil || blob.IsZero() {
		return blob, cmp.Or[error](err, &NoLinesError{path, "no such file in the worktree or at HEAD"})
	}
	parents := l.parents(w, l.here(ctx), head, nil)
	now := lineCommit(tree, parents, repo.RawCommit{}, ident.Fallback.Name, "not saved yet\n")
	return w.Add(plumbing.CommitObject, now.Encode()), l.write(ctx, w)
}

// here returns the states that a save in this worktree would come after, or the newest one.
func (l *Line) here(ctx context.Context) (states []int) {
	here := l.store.chain.Here(ctx, l.own.Chain.Issue)
	place := func(list []int) {
		for _, at := range list {
			n := slices.IndexFunc(l.States, func(st LineState) bool { return st.Checkpoint.Commit == l.own.List[at].Commit })
			if n >= 0 && !slices.Contains(states, n) {
				states = append(states, n)
			}
		}
	}
	place(l.own.Nearest(here.Heads, -1))
	if len(states) == 0 {
		states = append(states, len(l.States)-1)
	}
	for _, id := range here.Sources {
		if st := l.ByID(id); st != nil && !slices.Contains(states, l.number[st.Commit]) {
			states = append(states, l.number[st.Commit])
		}
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
// symlink.
func (l *Line) hashFile(ctx context.Context, w *repo.ObjectWriter, path string, info os.FileInfo) (plumbing.Hash, error) {
	s := l.store
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(filepath.Join(s.Root(), filepath.FromSlash(path)))
		return w.Add(plumbing.BlobObject, []byte(target)), err
	}
	if err := l.write(ctx, w); err != nil { // makes the folder
		return plumbing.ZeroHash, err
	}
	dirs := odb.JoinAlternates(s.repo.Info.ObjectDirs())
	g := s.repo.Git.With("GIT_OBJECT_DIRECTORY="+l.temp, repository.AlternatesVariable+"="+dirs)
	g.Dir = s.Root()
	hex, err := g.Line(ctx, "hash-object", "-w", "--", path)
	return plumbing.NewHash(hex), err
}
