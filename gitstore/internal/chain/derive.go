package chain

import (
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A NewCheckpoint has the parts of a checkpoint's commit.
type NewCheckpoint struct {
	Issue   checkpoint.Issue
	Record  *checkpoint.Record
	After   []checkpoint.ID
	Entries []trees.Entry // of its tree; those for record, ledger and signature are replaced
	Ledger  *ledger.Ledger
	Parent  plumbing.Hash
	Headers []byte        // author and committer
	Head    plumbing.Hash // HEAD at the save, zero if it was unborn
	State   plumbing.Hash // the state commit, zero if it is new
}

// AddCheckpoint adds the commit of a checkpoint with its state commit.
func AddCheckpoint(k *repo.ObjectWriter, c NewCheckpoint) (commit repo.RawCommit, err error) {
	data, err := c.Record.Encode()
	if err != nil {
		return commit, err
	}
	entries := slices.DeleteFunc(slices.Clone(c.Entries), func(e trees.Entry) bool {
		return slices.Contains([]string{"checkpoint.yaml", "ledger", "signature"}, e.Name)
	})
	entries = append(entries, trees.Entry{Mode: trees.ModeFile, Name: "checkpoint.yaml", Hash: k.Add(plumbing.BlobObject, data)})
	if !c.Ledger.IsEmpty() {
		entries = append(entries, trees.Entry{Mode: trees.ModeFile, Name: "ledger", Hash: k.Add(plumbing.BlobObject, c.Ledger.Encode())})
	}
	message := EncodeMessage(c.Issue, c.Record, c.After)
	if len(message) > MaxMessage {
		return commit, fmt.Errorf("note and phase: %d bytes, more than the limit of %d", len(message), MaxMessage)
	}
	commit = repo.RawCommit{Tree: k.AddTree(entries), Rest: c.Headers, Message: message}
	if c.State.IsZero() {
		state := StateCommit{Tree: trees.HashOf(entries, "state"), Staged: trees.HashOf(entries, "staged"), Head: c.Head}
		// Equal contents give equal commits, because both have only the name and date of the author.
		id := c.Record.ID()
		c.State = addStateCommit(k, c.Issue, state, SignedBy(commit), StateSubject(id), IndexSubject(id))
	}
	commit.Parents = []plumbing.Hash{c.Parent, c.State}
	commit = Seal(commit, entries)
	commit.Hash = k.AddCommit(commit)
	return commit, nil
}

// Derive adds a commit with the files of a checkpoint and with another record, above parent. headers
// are those of the commit, with author and committer. A fork has the state commit of its source.
func (s *Chains) Derive(from *Checkpoint, r *checkpoint.Record, issue checkpoint.Issue, after []checkpoint.ID, parent plumbing.Hash, headers []byte, k *repo.ObjectWriter) (repo.RawCommit, error) {
	source, err := s.repo.ReadCommit(from.Commit)
	if err != nil {
		return source, err
	}
	c := NewCheckpoint{Issue: issue, Record: r, After: after, Ledger: ledger.New(), Parent: parent, Headers: headers}
	if c.Entries, err = trees.Read(s.repo.Objects, source.Tree); err != nil {
		return source, err
	}
	state, err := s.StateCommitOf(source)
	if err != nil {
		return source, err
	}
	if c.Head = state.Head; r.Fork().Name != "" {
		c.State = state.Commit
		k.Keep(state.Commit)
	}
	for _, e := range c.Entries {
		k.Keep(e.Hash)
	}
	return AddCheckpoint(k, c)
}
