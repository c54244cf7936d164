package chain

import (
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A StateCommit is the second parent of a checkpoint. It has the form of a stash: its tree is
// state/, its parents are HEAD at the save and the index commit, whose tree is staged/.
type StateCommit struct {
	Commit, Tree  plumbing.Hash
	Index, Staged plumbing.Hash
	Head          plumbing.Hash // zero if HEAD was unborn; then a genesis commit is the parent
}

// addStateCommit adds a state commit and its index commit with the headers and messages that are given.
func addStateCommit(k *repo.ObjectWriter, issue checkpoint.Issue, c StateCommit, rest []byte, ofState, ofIndex string) plumbing.Hash {
	head := c.Head
	if head.IsZero() {
		genesis := Genesis(issue)
		k.Add(plumbing.TreeObject, nil)
		head = k.AddCommit(genesis)
	}
	index := k.AddCommit(repo.RawCommit{Tree: c.Staged, Parents: []plumbing.Hash{head}, Rest: rest, Message: ofIndex})
	return k.AddCommit(repo.RawCommit{Tree: c.Tree, Parents: []plumbing.Hash{head, index}, Rest: rest, Message: ofState})
}

// SignedBy returns the headers of a commit whose author and committer are the author of c.
func SignedBy(c repo.RawCommit) []byte {
	author := c.AuthorLine()
	return fmt.Appendf(nil, "author %s\ncommitter %s\n", author, author)
}

// StateSubject returns the message of a checkpoint's state commit.
func StateSubject(id checkpoint.ID) string { return fmt.Sprintf("%s%s\n", stateSubject, id) }

const stateSubject = "state of "

// IndexSubject returns the message of a checkpoint's index commit.
func IndexSubject(id checkpoint.ID) string { return fmt.Sprintf("index of %s\n", id) }

// StateCommitOf returns the state commit of a checkpoint's commit. It is zero for a commit without a
// second parent.
func (s *Chains) StateCommitOf(commit repo.RawCommit) (c StateCommit, err error) {
	if len(commit.Parents) < 2 {
		return c, nil
	}
	state, err := s.repo.ReadCommit(commit.Parents[1])
	if err != nil {
		return c, fmt.Errorf("state commit: %w", err)
	}
	return s.stateCommit(state)
}

func (s *Chains) stateCommit(state repo.RawCommit) (c StateCommit, err error) {
	c.Commit, c.Tree = state.Hash, state.Tree
	if len(state.Parents) != 2 {
		return c, repo.Corrupt(state.Hash.String(), "a state commit with %d parents", len(state.Parents))
	}
	c.Index = state.Parents[1]
	if c.Head = state.Parents[0]; s.IsGenesis(c.Head) {
		c.Head = plumbing.ZeroHash
	}
	return c, nil
}

// Mismatches returns the contradictions between the parts of a checkpoint: state/ and staged/ are
// the trees of the state commit and of the index commit, whose parent is the HEAD of the record. A
// tool that rewrites history, such as git filter-branch, breaks these rules. Without a record, only
// the trees are compared. A part that cannot be read is not compared.
func (s *Chains) Mismatches(commit repo.RawCommit, r *checkpoint.Record) (found []string) {
	state, err := s.StateCommitOf(commit)
	if err != nil || state.Commit.IsZero() {
		return nil
	}
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if entries, err := trees.Read(s.repo.Objects, commit.Tree); err == nil {
		if trees.HashOf(entries, "state") != state.Tree {
			add("state/ is not the tree of the state commit %s", state.Commit)
		}
		if index, err := s.repo.ReadCommit(state.Index); err == nil {
			if trees.HashOf(entries, "staged") != index.Tree {
				add("staged/ is not the tree of the index commit %s", index.Hash)
			}
			if len(index.Parents) != 1 || index.Parents[0] != state.Head && !(state.Head.IsZero() && s.IsGenesis(index.Parents[0])) {
				add("the parent of the index commit %s is not HEAD at the save", index.Hash)
			}
		}
	}
	if r == nil {
		return found
	}
	kept := ""
	if !state.Head.IsZero() {
		kept = checkpoint.HashText(state.Head.String())
	}
	if head := r.Snapshot().Head; head != kept {
		add("HEAD is %q in the record and %q below the state commit", head, kept)
	}
	return found
}

// IsGenesis reports whether a commit is the genesis commit of an issue, or of the issue from which
// it was forked.
func (s *Chains) IsGenesis(hash plumbing.Hash) bool {
	c, err := s.repo.ReadCommit(hash)
	if err != nil || len(c.Parents) > 0 || c.Tree != trees.Empty {
		return false
	}
	name, ok := strings.CutPrefix(strings.TrimSuffix(c.Message, "\n"), genesisSubject)
	issue, err := checkpoint.IssueFromRef(name)
	return ok && err == nil && Genesis(issue).Hash == hash
}
