// Package operation stores the operations of a clone: each command that restores files, or that
// adds or removes checkpoints without being a save, is one entry. undo and redo read the entries.
//
// An entry is one ref with its number in its worktree, so that a purge deletes a ref and rewrites
// nothing:
//
//	refs/git-checkpoint/operations/<worktree>/<number, 10 digits>
//
// Its commit has the former and the new values of the moved refs as parents, so that git gc keeps
// dropped checkpoints. Its tree is:
//
//	operation   the facts (type Facts), in the part of YAML that is JSON
//	files       the steps that change the files of the worktree and entries of the index (package restore)
//	index-*     the index file before the operation and after it, if the steps change entries
//	blobs/      the raw contents and the staged contents that the steps need, by hash
//
// Large, unreadable and git-lfs files are not in the tree: they are in a folder beside it (Log.Kept).
//
// A pending entry is the only note of a command that was killed.
package operation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Refs is the namespace of the entries.
const Refs = repo.OperationRefs

// A State is the state of an entry.
type State string

// The states of an entry.
const (
	Pending State = "pending"
	Done    State = "done"
	Undone  State = "undone"
)

// A Way is the action of an entry: the running one, otherwise the last one.
type Way string

// The ways of an entry.
const (
	Do   Way = "do"
	Undo Way = "undo"
	Redo Way = "redo"
)

// Facts describe an operation.
type Facts struct {
	Version    int                `json:"version"`
	State      State              `json:"state"`
	Way        Way                `json:"way"`
	Command    string             `json:"command"`
	Issues     []checkpoint.Issue `json:"issues"`
	Checkpoint checkpoint.ID      `json:"checkpoint_id,omitempty"` // source of the files
	At         time.Time          `json:"at"`
	UndoneAt   time.Time          `json:"undone_at,omitzero"`
	Process    int                `json:"process"`
	Last       int                `json:"last,omitempty"` // newest number of the worktree at the undo; a later operation ends the redo

	Before   Place           `json:"before"`            // HEAD before the operation
	After    Place           `json:"after"`             // HEAD after it
	UndoneOn Place           `json:"undone_on"`         // HEAD after the undo
	Made     *Place          `json:"made,omitempty"`    // branch that the operation has created, with its commit
	Moves    []Move          `json:"refs"`              // of chains and archives, in their order
	Tips     []Move          `json:"tips,omitempty"`    // chains at the end of the operation or of its undo
	Brought  []checkpoint.ID `json:"brought,omitempty"` // checkpoints that the last undo or redo has brought back
	Removed  []checkpoint.ID `json:"removed,omitempty"` // and that it has removed
	Notes    []StateFile     `json:"notes,omitempty"`   // state files of the worktree
	Here     *Move           `json:"here,omitempty"`    // of the files that the worktree agreed on (chain.Here)

	IndexTimes map[string]time.Time `json:"index_times,omitempty"` // modification times of the index files, by the names of steps
}

// A Place is a state of HEAD.
type Place struct {
	Branch string `json:"branch,omitempty"` // "" if HEAD is detached
	Commit string `json:"commit,omitempty"` // zero on an unborn branch
}

// A Move is the move of a ref.
type Move struct {
	Ref string `json:"ref"`
	Old string `json:"old,omitempty"`
	New string `json:"new"`
}

// A StateFile is a file below the state directory of the worktree, "" if it is missing.
type StateFile struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// resumed is the folder of the state files.
const resumed = "resumed/"

// An Entry is the entry of an operation.
type Entry struct {
	Worktree string // as in refs
	Number   int
	Commit   plumbing.Hash // zero before the entry is stored
	Facts
	Content []trees.Entry // of the tree, without the facts
}

// Name returns the ref of an entry.
func (e *Entry) Name() string { return fmt.Sprintf("%s%s/%010d", Refs, e.Worktree, e.Number) }

// HasFiles reports whether the operation changed files of the worktree.
func (e *Entry) HasFiles() bool { return !trees.HashOf(e.Content, "files").IsZero() }

// Concerns reports whether an operation belongs to an issue. "" stands for every issue.
func (e *Entry) Concerns(issue checkpoint.Issue) bool {
	return issue == "" || slices.Contains(e.Issues, issue)
}

// Head returns the commit of HEAD after the last action of the entry. For a pending undo or redo, it
// is the action before.
func (e *Entry) Head() plumbing.Hash {
	if e.State == Undone || e.State == Pending && e.Way == Redo {
		return plumbing.NewHash(e.UndoneOn.Commit)
	}
	return plumbing.NewHash(cmp.Or(e.After.Commit, e.Before.Commit))
}

// Put sets an entry of the tree.
func (e *Entry) Put(t trees.Entry) {
	e.Remove(t.Name)
	e.Content = append(e.Content, t)
}

// Remove removes an entry of the tree.
func (e *Entry) Remove(name string) {
	e.Content = slices.DeleteFunc(slices.Clone(e.Content), func(o trees.Entry) bool { return o.Name == name })
}

// addMoves adds moves of chains and archives, and their issues. A move that continues the one
// before extends it.
func (e *Entry) addMoves(moves []refs.Move) {
	e.Moves = slices.Clone(e.Moves)
	for _, m := range moves {
		last := slices.IndexFunc(e.Moves, func(o Move) bool { return o.Ref == m.Name && o.New == m.Old.String() })
		if last >= 0 {
			e.Moves[last].New = m.New.String()
		} else {
			e.Moves = append(e.Moves, Move{m.Name, m.Old.String(), m.New.String()})
		}
		if issue, err := IssueOf(m.Name); err == nil && !slices.Contains(e.Issues, issue) {
			e.Issues = append(slices.Clone(e.Issues), issue)
		}
	}
}

// IssueOf returns the issue of the ref of a chain or an archive.
func IssueOf(ref string) (checkpoint.Issue, error) {
	return checkpoint.IssueFromRef(strings.TrimPrefix(strings.TrimPrefix(ref, repo.LiveRefs), repo.ArchiveRefs))
}

func (e *Entry) encode(r *repo.Repo, k *repo.ObjectWriter) (plumbing.Hash, error) {
	e.Version = version
	data, err := json.MarshalIndent(&e.Facts, "", "  ")
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tree := append(slices.Clone(e.Content), trees.Entry{Mode: trees.ModeFile, Name: "operation", Hash: k.Add(plumbing.BlobObject, append(data, '\n'))})
	var parents []plumbing.Hash
	moves := e.Moves
	if e.Here != nil {
		moves = append(slices.Clip(moves), *e.Here)
	}
	for _, m := range moves {
		for _, hex := range []string{m.Old, m.New} {
			if h := plumbing.NewHash(hex); !h.IsZero() && !slices.Contains(parents, h) {
				parents = append(parents, h)
			}
		}
	}
	message := fmt.Sprintf("%s %s: %s\n", e.Command, repo.Shorten(fmt.Sprint(e.Issues)), e.State)
	return k.AddCommit(r.NewCommit(k.AddTree(tree), e.At, r.Now(), message, parents...)), nil
}

// version is the version of the form of an entry.
const version = 1

func isPending(message string) bool { return strings.HasSuffix(message, ": "+string(Pending)+"\n") }

// lastNumber is the last number of an operation, which no other number follows.
const lastNumber = 9_999_999_998

func parseName(ref string) (worktree string, number int, ok bool) {
	worktree, digits, ok := strings.Cut(strings.TrimPrefix(ref, Refs), "/")
	number, err := strconv.Atoi(digits)
	return worktree, number, ok && err == nil && number > 0 && int64(number) <= lastNumber && fmt.Sprintf("%010d", number) == digits
}

// Damaged returns the error about an entry that cannot be read.
func Damaged(ref string, err error) error {
	return &repo.CorruptError{Object: ref, Err: err, Hint: "git checkpoint doctor --fix"}
}

var errLater = errors.New("the operation is of a later version of git-checkpoint")

func read(r *repo.Repo, ref string, commit plumbing.Hash) (*Entry, error) {
	worktree, number, ok := parseName(ref)
	if !ok {
		return nil, Damaged(ref, errors.New("not the name of an operation"))
	}
	e := &Entry{Worktree: worktree, Number: number, Commit: commit}
	c, err := r.ReadCommit(commit)
	if err == nil {
		e.Content, err = trees.Read(r.Objects, c.Tree)
	}
	facts := trees.HashOf(e.Content, "operation")
	if err == nil && facts.IsZero() {
		err = errors.New("not an operation")
	}
	var data []byte
	if err == nil {
		data, err = trees.ReadAs(r.Objects, plumbing.BlobObject, facts)
	}
	if err == nil {
		err = json.Unmarshal(data, &e.Facts)
	}
	switch {
	case err != nil:
		return nil, Damaged(ref, err)
	case e.Version > version:
		return nil, repo.Corrupt(ref, "%w", errLater)
	case e.Version != version:
		return nil, Damaged(ref, fmt.Errorf("operation: unknown version %d", e.Version))
	}
	e.Remove("operation")
	return e, nil
}

// Check returns why a ref below Refs is no whole entry, or nil. An entry of a later version counts
// as whole.
func Check(r *repo.Repo, ref string, commit plumbing.Hash) error {
	if _, err := read(r, ref, commit); errors.Is(err, errLater) {
		return nil
	} else if err != nil {
		return err
	}
	tree, err := r.TreeOfCommit(commit)
	if err != nil {
		return Damaged(ref, err)
	}
	files, err := trees.Diff(r.Objects, plumbing.ZeroHash, tree)
	if err != nil {
		return Damaged(ref, err)
	}
	isPartial := repository.Partial(r.Config) // the remote may have missing objects
	for _, f := range files {
		if !isPartial && !r.Objects.Has(f.New.Hash) {
			return Damaged(ref, fmt.Errorf("its object %s does not exist", f.New.Hash))
		}
	}
	return nil
}

// keptFolder holds a folder for each operation that sets files aside, named like the ref of its entry.
const keptFolder = "kept"

func keptOf(r *repo.Repo, ref string) string {
	return filepath.Join(r.NotePath(keptFolder), filepath.FromSlash(strings.TrimPrefix(ref, Refs)))
}

// Kept returns the folder for files of the worktree that an operation sets aside. The folder is removed
// together with the entry.
func (l *Log) Kept(e *Entry) string { return keptOf(l.repo, e.Name()) }

// MoveKept moves the files that an operation has set aside to another folder on the same file system,
// if there are any. ref is the name of the entry.
func MoveKept(r *repo.Repo, ref, to string) error {
	if _, _, ok := parseName(ref); !ok {
		return nil
	}
	return fsutil.IgnoreMissing(os.Rename(keptOf(r, ref), to))
}

// SweepKept removes the files that operations have set aside and whose entries are gone, in all
// worktrees. An entry is stored before its first file is set aside.
func (l *Log) SweepKept(ctx context.Context) error {
	folders, err := fs.Glob(os.DirFS(l.repo.NotePath(keptFolder)), "*/*")
	if err != nil || len(folders) == 0 {
		return err
	}
	there, err := l.list(ctx, "")
	if err != nil {
		return err
	}
	var errs []error
	for _, folder := range folders {
		if _, ok := there[Refs+folder]; !ok {
			errs = append(errs, os.RemoveAll(keptOf(l.repo, Refs+folder)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove the files of former operations: %w", err)
	}
	return nil
}
