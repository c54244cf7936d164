package gitstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
)

// recordBefore returns the record that a new record is derived from. This is the record
// of the checkpoint that was resumed in this worktree, otherwise the newest readable
// record. The tokens that turns spent are those of the newest record, since a person who goes
// back does not get them back. It also returns errors of unreadable records.
func (s *Store) recordBefore(c *chain.Chain) (*checkpoint.Record, []error) {
	var left []error
	if resumed, how := s.chain.LastResumed(c.Issue); resumed != nil {
		r, err := s.chain.Record(resumed)
		if err == nil {
			how.Apply(r)
			if newest := c.Newest(); newest != nil && newest.ID != resumed.ID {
				if n, err := s.chain.Record(newest); err == nil && len(n.AgentTurn().Spent) > 0 {
					r.SetSpent(n.AgentTurn().Spent)
				}
			}
			return r, nil
		}
		left = append(left, fmt.Errorf("the resumed record is left out: %w", err))
	}
	for _, limit := range []int{1, chain.RetentionDepth} {
		r, more := s.newestRecord(c, limit)
		if left = append(left, more...); r != nil || len(more) == 0 {
			return r, left
		}
	}
	return nil, left
}

// newestRecord returns the newest readable record of the checkpoints in c. If limit is
// above 1, it searches only the checkpoints below those in c.
func (s *Store) newestRecord(c *chain.Chain, limit int) (*checkpoint.Record, []error) {
	list := c.Checkpoints()
	if limit > 1 {
		more, err := s.chain.Walk(c.Issue, c.Ref, c.Tip, limit)
		if err != nil {
			return nil, []error{fmt.Errorf("older records are left out: %w", err)}
		}
		list = more.Checkpoints()[len(list):]
	}
	var left []error
	for i := range list {
		r, err := s.chain.Record(&list[i])
		if err == nil {
			return r, left
		}
		left = append(left, fmt.Errorf("a record is left out: %w", err))
	}
	return nil, left
}

// refuse returns the first error of an unreadable record that must fail the save. If the
// edit needs the newest record, every such error fails the save. Otherwise only a lack of
// system resources does, since a retry may succeed: without the failure, the new record
// would ignore an existing record.
func (w *saveOp) refuse(left []error) error {
	for _, err := range left {
		if w.req.Newest || odb.IsOfSystem(err) {
			return err
		}
	}
	return nil
}

func messages(errs []error) []string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}

// derive returns the new record. The caller's edit comes first, then facts set by the
// store.
func (w *saveOp) derive(ctx context.Context, before *checkpoint.Record, newest checkpoint.Clock) (*checkpoint.Record, error) {
	redact := chain.RedactFrom(before, w.req.Redact, w.req.Allow)
	record, err := w.req.Edit(before)
	if err != nil {
		return nil, err
	}
	redact.Apply(record)
	if record.Trigger() == "" {
		record.SetTrigger(checkpoint.Manual)
	}
	if _, err := checkpoint.ParseTrigger(string(record.Trigger())); err != nil {
		return nil, err // the commit message contains the trigger unquoted
	}
	record.SetVersion(checkpoint.Version)
	record.SetIssue(w.req.Issue)
	if !w.req.Keep { // an imported record is equal in all clones
		w.setRepository(record, before)
	}
	w.setFacts(record)
	if before == nil {
		redact.Name("the issue's key", string(w.req.Issue))
	}
	redact.Name("the branch's name", record.Branch())
	w.redacted = redact.Warnings
	record.SetSnapshot(w.snap.Facts)
	if !w.req.Keep {
		record.SetRestoredFrom(w.store.chain.Here(ctx, w.req.Issue).Sources)
	}
	record.SetClock(newest.Next(w.created))
	if w.req.Keep && record.ID() != "" {
		if w.id, err = checkpoint.ParseID(string(record.ID())); err != nil {
			return nil, err // so does the id
		}
	}
	if w.id == "" {
		if w.id, err = w.newID(record); err != nil {
			return nil, err
		}
	}
	record.SetID(w.id)
	return record, nil
}

// setRepository sets the id of the clone that began the chain: that of the record before, otherwise
// the id of this clone, which its first save makes.
func (w *saveOp) setRepository(r, before *checkpoint.Record) {
	repo := w.store.repo
	id := r.Repository()
	if before != nil {
		id = cmp.Or(id, before.Repository())
	}
	if id == "" {
		data, _ := os.ReadFile(repo.NotePath("repository"))
		id = strings.TrimSpace(string(data))
	}
	if id == "" {
		digest := sha256.Sum256([]byte("repository " + repo.Random()))
		id = hex.EncodeToString(digest[:16])
		if !w.req.DryRun {
			_ = repo.WriteUnsynced(repo.NotePath("repository"), []byte(id+"\n")) // another save makes another id
		}
	}
	r.Doc().Set("repository", id)
}

// setFacts sets the creation time, branch and files of a checkpoint.
func (w *saveOp) setFacts(r *checkpoint.Record) {
	keep := func(path string) bool {
		v, ok := r.Doc().Lookup(path)
		return w.req.Keep && ok && v != nil
	}
	if !keep("created_at") {
		r.SetCreatedAt(w.created)
	}
	if !keep("issue_snapshot.branch") {
		r.SetBranch(facts.RecordedBranch(cmp.Or(w.snap.Head.Branch, w.req.Branch)))
	}
	if !keep("files_modified") {
		r.SetFiles(w.snap.Files)
	}
}

// checkImportedID fails with *TakenError if an imported id belongs to an existing or a
// dropped checkpoint. The next sync would remove a checkpoint with a dropped id.
func (w *saveOp) checkImportedID(ctx context.Context, current *chain.Chain, id checkpoint.ID) error {
	if !w.req.Keep {
		return nil
	}
	if current.Ledger.HasDeleted(id) {
		return &repo.TakenError{Issue: w.req.Issue, ID: id, Dropped: true}
	}
	if _, err := w.store.chain.ByID(ctx, w.req.Issue, id); err == nil {
		return &repo.TakenError{Issue: w.req.Issue, ID: id}
	}
	return nil
}

// newID returns a new id from the record, the staged tree and random bytes.
func (w *saveOp) newID(r *checkpoint.Record) (checkpoint.ID, error) {
	r.SetID("")
	data, err := r.Encode()
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	digest.Write(data)
	digest.Write(w.snap.Staged[:])
	digest.Write([]byte(w.store.repo.Random()))
	return checkpoint.NewID(r.Phase(), w.created, digest.Sum(nil)), nil
}
