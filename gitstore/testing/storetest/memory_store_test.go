package storetest_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// A memoryStore is a store in memory. It is the reference implementation of the suite in
// the simplest form: a list of records per issue, a ledger, and a mutex. It shares ids,
// clocks, retention and ledger with the git store, and contains no files. The zero value
// is an empty store. Concurrent use is safe.
type memoryStore struct {
	Now func() time.Time // clock; nil means time.Now

	// NewID returns a new id; nil means checkpoint.NewID.
	NewID func(phase string, at time.Time, digest []byte) checkpoint.ID

	mu     sync.Mutex
	issues map[checkpoint.Issue]*chain
}

// A chain is the data of an issue. Its lists are newest first. They are replaced, not
// modified.
type chain struct {
	live, archive []entry
	filed         bool // an archive has existed
	ledger        *ledger.Ledger
	removals      []removal // oldest first
}

// An entry is a checkpoint with its stored record.
type entry struct {
	gitstore.Checkpoint
	record []byte
}

func (s *memoryStore) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// chain returns the chain of an issue, or an empty chain.
func (s *memoryStore) chain(i checkpoint.Issue) *chain {
	if c := s.issues[i]; c != nil {
		return c
	}
	return &chain{ledger: ledger.New()}
}

func (s *memoryStore) put(i checkpoint.Issue, c *chain) {
	if s.issues == nil {
		s.issues = map[checkpoint.Issue]*chain{}
	}
	s.issues[i] = c
}

// Save saves a checkpoint and applies retention. It supports the request fields that
// storetest.Saver requires.
func (s *memoryStore) Save(ctx context.Context, req gitstore.SaveRequest) (*gitstore.Saved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	saved, err := s.save(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("save issue %s: %w", req.Issue, err)
	}
	return saved, nil
}

func (s *memoryStore) save(ctx context.Context, req gitstore.SaveRequest) (*gitstore.Saved, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := s.chain(req.Issue)
	if err := s.checkName(req.Issue); err != nil {
		return nil, err
	}
	r, err := s.derive(c, req)
	if err != nil {
		return nil, err
	}
	if req.IfChanged && c.says(r) {
		return nil, gitstore.ErrUnchanged
	}
	data, err := r.Encode()
	if err != nil {
		return nil, err
	}
	e := entry{describe(req.Issue, r, s.now()), data}
	dropped := c.thin(req.Retention, e, s.now())
	if !req.DryRun {
		c.live = slices.Concat([]entry{e}, except(c.live, dropped)) // undo does not revert a save
		s.put(req.Issue, c)
	}
	return &gitstore.Saved{Checkpoint: e.Checkpoint, Ref: gitstore.LiveRef(req.Issue), Record: r, Pruned: dropped}, nil
}

// checkName rejects the first checkpoint of an issue if the key is invalid or differs
// from an existing key only in case.
func (s *memoryStore) checkName(i checkpoint.Issue) error {
	if s.issues[i] != nil {
		return nil
	}
	if _, err := checkpoint.ParseIssue(string(i)); err != nil {
		return err
	}
	for there := range s.issues {
		if strings.EqualFold(there.RefName(), i.RefName()) {
			return &gitstore.RefusedError{Reason: fmt.Sprintf("issue %s: %s differs in case alone", i, there)}
		}
	}
	return nil
}

// derive returns the new record: the caller's edit, then the fields of the store.
func (s *memoryStore) derive(c *chain, req gitstore.SaveRequest) (*checkpoint.Record, error) {
	created := s.now().UTC().Truncate(time.Microsecond)
	r, err := req.Edit(c.newestRecord())
	if err != nil {
		return nil, err
	}
	if r.Trigger() == "" {
		r.SetTrigger(checkpoint.Manual)
	}
	if _, err := checkpoint.ParseTrigger(string(r.Trigger())); err != nil {
		return nil, err
	}
	r.SetVersion(checkpoint.Version)
	r.SetIssue(req.Issue)
	if !req.Keep || r.CreatedAt().IsZero() {
		r.SetCreatedAt(created)
	}
	r.SetClock(c.newestClock().Next(created))
	if !req.Keep || r.ID() == "" {
		return r, s.name(r, created)
	}
	if _, err := checkpoint.ParseID(string(r.ID())); err != nil {
		return nil, err
	}
	if c.ledger.Deleted[r.ID()] || c.find(r.ID()) != nil {
		return nil, &gitstore.TakenError{Issue: req.Issue, ID: r.ID(), Dropped: c.ledger.Deleted[r.ID()]}
	}
	return r, nil
}

// name sets a new id of a record.
func (s *memoryStore) name(r *checkpoint.Record, at time.Time) error {
	r.SetID("")
	data, err := r.Encode()
	digest := sha256.Sum256(append(data, rand.Text()...))
	named := s.NewID
	if named == nil {
		named = checkpoint.NewID
	}
	r.SetID(named(r.Phase(), at, digest[:]))
	return err
}

// describe returns the list entry of a record that was saved at a time.
func describe(i checkpoint.Issue, r *checkpoint.Record, saved time.Time) gitstore.Checkpoint {
	return gitstore.Checkpoint{
		ID: r.ID(), Issue: i, Trigger: r.Trigger(), Phase: r.Phase(), Branch: r.Branch(),
		Resumable: r.CanResume(), Clock: r.Clock(), Version: r.Version(),
		Created: r.CreatedAt().Truncate(time.Second), Saved: saved.Truncate(time.Second), Note: strings.Trim(r.Note(), "\n"),
	}
}

// newestRecord returns the newest readable record, or nil.
func (c *chain) newestRecord() *checkpoint.Record {
	for _, e := range c.live {
		if r, err := checkpoint.Decode(e.record); err == nil {
			return r
		}
	}
	return nil
}

func (c *chain) newestClock() checkpoint.Clock {
	if len(c.live) == 0 {
		return 0
	}
	return c.live[0].Clock
}

// find returns the live or archived entry of an id, or nil.
func (c *chain) find(id checkpoint.ID) *entry {
	for _, list := range [][]entry{c.live, c.archive} {
		if at := slices.IndexFunc(list, func(e entry) bool { return e.ID == id }); at >= 0 {
			return &list[at]
		}
	}
	return nil
}

// says reports whether r equals the newest record except for its metadata, such as time
// and trigger.
func (c *chain) says(r *checkpoint.Record) bool {
	if len(c.live) == 0 {
		return false
	}
	before, err := checkpoint.Decode(c.live[0].record)
	return err == nil && bytes.Equal(steady(before, r), steady(r, r))
}

// steady returns the content of a record without metadata. An omitted note is not a
// change.
func steady(r, given *checkpoint.Record) []byte {
	m := r.Doc().Clone()
	for _, key := range []string{"checkpoint_id", "created_at", "trigger", "clock", "session_id"} {
		m.Delete(key)
	}
	if given.Note() == "" {
		m.Delete("note")
	}
	data, _ := checkpoint.FromDoc(m).JSON()
	return data
}

// Rewrite replaces the newest record of an issue by the result of change, to simulate
// damage or a later version.
func (s *memoryStore) Rewrite(i checkpoint.Issue, change func(record []byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chain(i)
	c.live = slices.Clone(c.live)
	c.live[0].record = change(c.live[0].record)
}

// Issues returns the issues that have a chain or an archive, sorted by ref name.
func (s *memoryStore) Issues(_ context.Context, archived bool) ([]checkpoint.Issue, []string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := func(i checkpoint.Issue) bool { return archived && !s.issues[i].filed }
	list := slices.DeleteFunc(slices.Collect(maps.Keys(s.issues)), there)
	slices.SortFunc(list, func(a, b checkpoint.Issue) int { return strings.Compare(a.RefName(), b.RefName()) })
	return list, nil, nil
}
