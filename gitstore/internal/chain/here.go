package chain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Here has the files and the index on which a worktree last agreed with a checkpoint of an issue. The
// files may have changed since, and the checkpoint may have been dropped. A restore takes its bases of
// merges from here, and a save its trailers Checkpoint-After and Checkpoint-Restored-From.
//
// The ref refs/git-checkpoint/here/<worktree>/<issue> points to it as a commit in the form of a state
// commit. After a complete save or restore it is the state commit of the checkpoint, so that a save
// stores nothing more. Otherwise the message has more lines after a blank line:
//
//	state of <id>
//
//	Here-After: <id>...
//	Here-From: <id>...
//	Here-Open: <id> <path>
//
// An id can be "none". Paths are quoted as in Go.
type Here struct {
	StateCommit
	ID   checkpoint.ID            // "" if the worktree agreed on no checkpoint, or only on paths of Open
	Open map[string]checkpoint.ID // checkpoints of the paths with another version, "" without an agreement

	// Heads are the checkpoints that the files come after, the newest first, without an order of the
	// others. Restores since the last save add to them.
	Heads []checkpoint.ID
	// Sources are the checkpoints of which the worktree got some files since its last save, such as the
	// source of a restore of some paths.
	Sources []checkpoint.ID

	Rest []byte // author and committer of the commit
}

// Lines of the message.
const (
	hereAfter = "Here-After: "
	hereFrom  = "Here-From: "
	hereOpen  = "Here-Open: "
)

// maxOpen limits the paths of Open. A worktree with more of them has no agreement.
const maxOpen = 10_000

// OriginOf returns the checkpoint that has the version of a path, or "".
func (h *Here) OriginOf(path string) checkpoint.ID {
	if id, ok := h.Open[path]; ok {
		return id
	}
	return h.ID
}

// AddHere adds the commit of h, and returns it.
func AddHere(k *repo.ObjectWriter, issue checkpoint.Issue, h *Here) plumbing.Hash {
	orNone := func(id checkpoint.ID) checkpoint.ID { return cmp.Or(id, join.None) }
	id, open := orNone(h.ID), h.Open
	if len(open) > maxOpen {
		id, open = join.None, nil
	}
	var lines strings.Builder
	if !slices.Equal(h.Heads, []checkpoint.ID{id}) {
		lines.WriteString(hereAfter + encodeAfter(h.Heads) + "\n")
	}
	if len(h.Sources) > 0 {
		lines.WriteString(hereFrom + encodeAfter(h.Sources) + "\n")
	}
	for _, path := range slices.Sorted(maps.Keys(open)) {
		fmt.Fprintf(&lines, "%s%s %s\n", hereOpen, orNone(open[path]), strconv.Quote(path))
	}
	message := StateSubject(id)
	if lines.Len() > 0 {
		message += "\n" + lines.String()
	}
	c := h.StateCommit
	for _, tree := range []*plumbing.Hash{&c.Tree, &c.Staged} {
		if tree.IsZero() {
			*tree = k.Add(plumbing.TreeObject, nil)
		}
	}
	return addStateCommit(k, issue, c, h.Rest, message, IndexSubject(id))
}

// parse sets the facts of a message, and reports whether the message is valid.
func (h *Here) parse(message string) bool {
	valid := true
	ids := func(text string, max int) (ids []checkpoint.ID) {
		if text == join.None {
			return nil
		}
		ids, err := parseIDs(text)
		valid = valid && err == nil && len(ids) <= max
		return ids
	}
	one := func(text string) checkpoint.ID { return append(ids(text, 1), "")[0] }
	subject, rest, _ := strings.Cut(message, "\n")
	id, ok := strings.CutPrefix(subject, stateSubject)
	if h.ID = one(id); h.ID != "" {
		h.Heads = []checkpoint.ID{h.ID}
	}
	h.Open = map[string]checkpoint.ID{}
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		if text, is := strings.CutPrefix(line, hereAfter); is {
			h.Heads = ids(text, checkpoint.MaxAfter)
		} else if text, is := strings.CutPrefix(line, hereFrom); is {
			h.Sources = ids(text, checkpoint.MaxAfter)
		} else if text, is := strings.CutPrefix(line, hereOpen); is {
			id, quoted, _ := strings.Cut(text, " ")
			path, err := strconv.Unquote(quoted)
			h.Open[path], valid = one(id), valid && err == nil
		}
	}
	return ok && valid
}

// Here returns the agreement of this worktree with a checkpoint of an issue. The result is empty in a
// new worktree, and if the ref is damaged.
func (s *Chains) Here(ctx context.Context, i checkpoint.Issue) *Here {
	tip, err := s.repo.ReadRef(ctx, s.repo.HereRef(i))
	if err != nil || tip.IsZero() || !s.repo.OwnsWorktree() {
		return &Here{}
	}
	commit, err := s.repo.ReadCommit(tip)
	if err != nil {
		return &Here{}
	}
	h := &Here{Rest: commit.Rest}
	if h.StateCommit, err = s.stateCommit(commit); err != nil || !h.parse(commit.Message) {
		return &Here{}
	}
	index, err := s.repo.ReadCommit(h.Index)
	if err != nil {
		return &Here{}
	}
	h.Staged = index.Tree
	return h
}

// SetHere stores h for this worktree, with the objects of k.
func (s *Chains) SetHere(ctx context.Context, i checkpoint.Issue, h *Here, k *repo.ObjectWriter) error {
	var tip plumbing.Hash
	if h.ID != "" || len(h.Open)+len(h.Heads)+len(h.Sources) > 0 {
		tip = AddHere(k, i, h)
	}
	return s.repo.WithIssueLocks(ctx, []checkpoint.Issue{i}, func() error {
		moves, err := s.HereMoves(ctx, i, tip)
		if err != nil || len(moves) == 0 {
			return err
		}
		return s.repo.Move(ctx, k, "here: "+string(cmp.Or(h.ID, join.None)), func() ([]refs.Move, error) { return moves, nil })
	})
}

// HereMoves returns the move of the ref of this worktree to a commit of AddHere, or to zero, with the
// moves of Repo.ClaimWorktree. A broken ref is left to doctor.
func (s *Chains) HereMoves(ctx context.Context, i checkpoint.Issue, tip plumbing.Hash) (moves []refs.Move, err error) {
	name := s.repo.HereRef(i)
	old, err := s.repo.ReadRef(ctx, name)
	if err != nil {
		return nil, nil
	}
	if old != tip {
		moves = []refs.Move{{Name: name, Old: old, New: tip}}
	}
	claimed, err := s.repo.ClaimWorktree(ctx, name)
	return append(moves, claimed...), err
}
