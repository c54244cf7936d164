package chain

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Derive adds a commit with the files of a checkpoint and with another record, above parent. headers
// are those of the commit, with author and committer. A fork has the state commit of its source.
func (s *Chains) Derive(from *Checkpoint, r *checkpoint.Record, issue checkpoint.Issue, after []checkpoint.ID, parent plumbing.Hash, headers []byte, k *repo.ObjectWriter) (repo.RawCommit, error) {
	source, err := s.repo.ReadCommit(from.Commit)
	if err != nil {
		return source, err
	}
	entries, err := trees.Read(s.repo.Objects, source.Tree)
	if err != nil {
		return source, err
	}
	data, err := r.Encode()
	if err != nil {
		return source, err
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e trees.Entry) bool { return e.Name == "ledger" || e.Name == "signature" })
	for n := range entries {
		if entries[n].Name == "checkpoint.yaml" {
			entries[n].Hash = k.Add(plumbing.BlobObject, data)
			continue
		}
		k.Keep(entries[n].Hash)
	}
	message := EncodeMessage(issue, r, after)
	if len(message) > MaxMessage {
		return source, &repo.LimitError{What: "note and phase", Size: int64(len(message)), Limit: MaxMessage}
	}
	parents := slices.Clone(source.Parents)
	parents[0] = parent
	commit := repo.RawCommit{Tree: k.AddTree(entries), Parents: parents, Rest: headers, Message: message}
	if r.Fork().Name == "" {
		state, err := s.StateCommitOf(source)
		if err != nil {
			return source, err
		}
		state.Staged = trees.HashOf(entries, "staged")
		parents[1] = AddStateCommit(k, issue, r.ID(), state, AuthorHeader(commit))
	}
	for _, other := range parents[1:] {
		if !k.Added(other) {
			k.Keep(other)
		}
	}
	commit = Seal(commit, entries)
	commit.Hash = k.AddCommit(commit)
	return commit, nil
}
