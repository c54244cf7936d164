package gitstore

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"

	"github.com/go-git/go-git/v5/plumbing"
)

// Latest names the newest checkpoint of an issue, valid or not; "latest~2" is
// the second one before it.
const Latest = "latest"

// First names the oldest checkpoint that is left of an issue: where its work
// began, since retention keeps what is saved when a phase begins. A checkpoint that
// another system gave this id goes before.
const First = "first"

// Find returns the checkpoint of an issue that goes by a name: an id, a prefix
// of one that reaches into its time, at least four of its final hex digits,
// Latest, First, a commit of the chain, one that a rewrite made old too, or what it is
// of: "@{phase:ready}" for the newest of a phase, ":/text" for the newest with
// that text in its note, as git has it. The archive is searched when the chain
// has none. It fails with *NoneError, *NotFoundError or *AmbiguousError, and with
// *RefusedError where it is not known which is First.
func (s *Store) Find(ctx context.Context, issue checkpoint.Issue, name string) (*Checkpoint, error) {
	if back, ok := stepsBack(name); ok {
		return s.findBack(ctx, issue, name, back)
	}
	live, err := s.List(ctx, issue, 0)
	if err != nil {
		return nil, err
	}
	if c, err := s.match(live.Checkpoints, name); c != nil || err != nil {
		return c, err
	}
	archived, err := s.Archived(ctx, issue, 0)
	if err != nil {
		return nil, err
	}
	if c, err := s.match(archived.Checkpoints, name); c != nil || err != nil {
		return c, err
	}
	switch {
	case name == First:
		return oldest(live)
	case len(live.Checkpoints)+len(archived.Checkpoints) == 0:
		return nil, &NoneError{Issue: issue}
	}
	return nil, &NotFoundError{Issue: issue, Name: name}
}

// ByID returns the checkpoint of an issue that has an id, which may look like any
// other name: one that another system gave is any word. The archive is searched
// when the chain has none. It fails with *NotFoundError.
func (s *Store) ByID(ctx context.Context, issue checkpoint.Issue, id checkpoint.ID) (*Checkpoint, error) {
	for _, list := range []func(context.Context, checkpoint.Issue, int) (*List, error){s.List, s.Archived} {
		l, err := list(ctx, issue, 0)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(l.Checkpoints, func(c Checkpoint) bool { return c.ID == id }); i >= 0 {
			return &l.Checkpoints[i], nil
		}
	}
	return nil, &NotFoundError{Issue: issue, Name: string(id)}
}

func oldest(l *List) (*Checkpoint, error) {
	switch {
	case len(l.Checkpoints) == 0:
		return nil, &NoneError{Issue: l.Issue}
	case l.Cut:
		return nil, &RefusedError{Reason: l.Ref + ": history is cut at a shallow boundary, and the oldest may lie below", Hint: "git fetch --unshallow"}
	}
	return &l.Checkpoints[len(l.Checkpoints)-1], nil
}

// stepsBack reads "latest" and "latest~N".
func stepsBack(name string) (int, bool) {
	rest, ok := strings.CutPrefix(name, Latest)
	if !ok || rest == "" {
		return 0, ok
	}
	n, err := strconv.Atoi(strings.TrimPrefix(rest, "~"))
	return n, err == nil && n >= 0 && rest[0] == '~'
}

func (s *Store) findBack(ctx context.Context, issue checkpoint.Issue, name string, back int) (*Checkpoint, error) {
	l, err := s.List(ctx, issue, back+1)
	if err != nil {
		return nil, err
	}
	switch {
	case len(l.Checkpoints) == 0:
		return nil, &NoneError{Issue: issue}
	case len(l.Checkpoints) <= back:
		return nil, &NotFoundError{Issue: issue, Name: name}
	}
	return &l.Checkpoints[back], nil
}

// description is what a name says of a checkpoint instead of naming it, nil when
// it names one.
func description(name string) func(*Checkpoint) bool {
	if text, ok := strings.CutPrefix(name, ":/"); ok && text != "" {
		return func(c *Checkpoint) bool { return strings.Contains(c.Note, text) }
	}
	if phase, ok := strings.CutPrefix(name, "@{phase:"); ok && strings.HasSuffix(phase, "}") {
		phase = strings.TrimSuffix(phase, "}")
		return func(c *Checkpoint) bool { return c.Phase == phase }
	}
	return nil
}

// newestOf is the first of a list that a description fits, nil for none.
func newestOf(list []Checkpoint, fits func(*Checkpoint) bool) *Checkpoint {
	i := slices.IndexFunc(list, func(c Checkpoint) bool { return c.ID != "" && fits(&c) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// match finds the one checkpoint that goes by a name, nil when there is none.
func (s *Store) match(list []Checkpoint, name string) (*Checkpoint, error) {
	if of := description(name); of != nil {
		return newestOf(list, of), nil
	}
	var found []*Checkpoint
	for i := range list {
		if string(list[i].ID) == name {
			return &list[i], nil
		}
		if list[i].ID != "" && list[i].ID.Matches(name) {
			found = append(found, &list[i])
		}
	}
	if len(found) == 0 {
		found = s.matchCommit(list, name)
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	ambiguous := &AmbiguousError{Name: name}
	for _, c := range found {
		ambiguous.Candidates = append(ambiguous.Candidates, c.ID)
	}
	return nil, ambiguous
}

// matchCommit finds a checkpoint by its commit, whole or at least seven
// digits. A whole one that is not in the chain any more still names its
// checkpoint through its trailer.
func (s *Store) matchCommit(list []Checkpoint, name string) []*Checkpoint {
	var found []*Checkpoint
	if len(name) < 7 {
		return nil
	}
	for i := range list {
		if strings.HasPrefix(list[i].Commit.String(), name) {
			found = append(found, &list[i])
		}
	}
	if len(found) > 0 || !plumbing.IsHash(name) || len(list) == 0 {
		return found
	}
	old, err := s.readCommit(plumbing.NewHash(name))
	if err != nil {
		return nil
	}
	id := old.describe(list[0].Issue).ID
	for i := range list {
		if id != "" && list[i].ID == id {
			found = append(found, &list[i])
		}
	}
	return found
}

// Newest returns the newest checkpoint of an issue, or *NoneError.
func (s *Store) Newest(ctx context.Context, issue checkpoint.Issue) (*Checkpoint, error) {
	return s.findBack(ctx, issue, Latest, 0)
}

// NewestRecord returns the newest checkpoint of an issue and its record, as Newest
// and VerifiedRecord do.
func (s *Store) NewestRecord(ctx context.Context, issue checkpoint.Issue) (*Checkpoint, *checkpoint.Record, error) {
	c, err := s.Newest(ctx, issue)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.VerifiedRecord(c)
	return c, r, err
}

// unordered fails where the tasks of a record wait for one another: nobody can
// go on with them.
func unordered(r *checkpoint.Record) error {
	_, err := tasks.Of(r).Batches()
	return err
}

// ValidRecord is VerifiedRecord for a checkpoint that work goes on from: its record
// keeps the rules of its schema.
func (s *Store) ValidRecord(c *Checkpoint) (*checkpoint.Record, error) {
	r, err := s.VerifiedRecord(c)
	if err != nil {
		return nil, err
	}
	for _, p := range r.Validate() {
		if !p.Warning {
			return nil, corrupt(c.name(), "%s", p)
		}
	}
	return r, nil
}

// isExhausted reports whether an error comes from the limits of the process or the
// system, so that it is no property of what was read.
func isExhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}
