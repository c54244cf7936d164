package gitstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// A ForkRequest holds the parameters of a fork.
type ForkRequest struct {
	From     *Checkpoint
	Names    []string          // of the forks
	Branches map[string]string // branch of a fork by its name; by default the branch of From
	DryRun   bool              // check, but write nothing
}

// Fork starts a chain for each name, of the issue that Issue.ForkOf returns. Its first checkpoint
// has the files and the state commit of From, and its record with the section lineage. A fork adds
// a record, a tree, a commit and the genesis commit. The refs of all forks move in one
// transaction. A kill during the move of the refs can leave some of the forks, each complete. If a
// chain or an archive of a fork exists, Fork fails with a *RefusedError.
func (s *Store) Fork(ctx context.Context, req ForkRequest) ([]Checkpoint, error) {
	defer trace.Begin(trace.Step, "fork").End()
	var issues []checkpoint.Issue
	folded := map[string]bool{}
	for _, name := range req.Names {
		i, err := checkpoint.ParseIssue(string(req.From.Issue.ForkOf(name)))
		if err != nil {
			return nil, err
		}
		if folded[fsutil.FoldName(i.RefName())] {
			return nil, &repo.RefusedError{Reason: fmt.Sprintf("issue %s: some file systems treat the names of two forks as equal", i)}
		}
		folded[fsutil.FoldName(i.RefName())] = true
		issues = append(issues, i)
	}
	record, err := s.chain.ValidRecord(req.From)
	if err != nil {
		return nil, err
	}
	if req.DryRun {
		for _, i := range issues {
			if _, err := s.checkNoFork(ctx, i); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	var made []Checkpoint
	for start := time.Now(); ; {
		err = s.Operate(ctx, "fork", req.From.Issue, func() error {
			return s.repo.WithIssueLocks(ctx, issues, func() (err error) {
				made, err = s.forkOnce(ctx, req, issues, record)
				return err
			})
		})
		if !errors.Is(err, repo.ErrRefMoved) || time.Since(start) > time.Minute {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("fork issue %s: %w", req.From.Issue, err)
	}
	for k := range made {
		if failed, err := s.Files.KeepContent(&made[k]); err != nil {
			s.repo.Notify("git lfs prune can delete the content of %d files in %s, which could not be kept: %v", len(failed), made[k].ID, err)
		}
	}
	return made, nil
}

// forkOnce tries once to create the forks. The issues are locked.
func (s *Store) forkOnce(ctx context.Context, req ForkRequest, issues []checkpoint.Issue, record *checkpoint.Record) ([]Checkpoint, error) {
	k := s.repo.NewObjectWriter()
	k.Records = true
	made, chains := make([]Checkpoint, len(issues)), make([]*chain.Chain, len(issues))
	for n, i := range issues {
		c, err := s.checkNoFork(ctx, i)
		if err != nil {
			return nil, err
		}
		if chains[n] = c; c.Tip.IsZero() {
			if err := (&chain.Names{Chains: s.chain}).Check(ctx, i); err != nil {
				return nil, err
			}
		}
		commit, err := s.buildFork(req, i, req.Names[n], record.Clone(), k)
		if err != nil {
			return nil, err
		}
		made[n] = chain.CheckpointOf(commit, i)
	}
	moves := func() (moves []refs.Move, err error) {
		for n, c := range chains {
			more, err := s.chain.MovesTo(ctx, c, made[n].Commit)
			if err != nil {
				return nil, err
			}
			moves = append(moves, more...)
		}
		return moves, nil
	}
	if err := s.repo.Move(ctx, k, repo.Shorten("fork: "+string(req.From.ID)), moves); err != nil {
		return nil, err
	}
	return made, k.Protect(ctx)
}

// checkNoFork fails if an issue has a chain or an archive. It returns the chain, which is empty or
// has the genesis commit alone after the undo of a fork.
func (s *Store) checkNoFork(ctx context.Context, i checkpoint.Issue) (*chain.Chain, error) {
	if err := s.chain.RestoreOwnChain(ctx, i); err != nil {
		return nil, err
	}
	c, err := s.chain.ReadChain(ctx, i, repo.LiveRef(i), 1)
	if err != nil {
		return nil, err
	}
	isEmpty := c.Tip.IsZero() || c.Tip == chain.Genesis(i).Hash
	if !isEmpty || s.chain.HasArchive(ctx, i) {
		return nil, &repo.RefusedError{Reason: fmt.Sprintf("the fork %s exists already", i), Hint: "git checkpoint list " + failure.IssueArg(string(i))}
	}
	return c, nil
}

// buildFork adds the objects of the first checkpoint of a fork.
func (s *Store) buildFork(req ForkRequest, i checkpoint.Issue, name string, r *checkpoint.Record, k *repo.ObjectWriter) (repo.RawCommit, error) {
	from, created := req.From, s.repo.Now().UTC().Truncate(time.Microsecond)
	r.SetIssue(i)
	r.SetTrigger(checkpoint.Manual)
	r.SetCreatedAt(created)
	r.SetNote(fmt.Sprintf("fork %s of issue %s", name, from.Issue))
	r.SetClock(checkpoint.Clock(0).Next(created))
	r.SetFork(checkpoint.Fork{Issue: from.Issue, ID: from.ID, Name: name})
	r.SetRestoredFrom([]checkpoint.ID{from.ID})
	if branch := req.Branches[name]; branch != "" {
		r.SetBranch(RecordedBranch(branch))
	}
	digest := sha256.Sum256([]byte(s.repo.Random() + string(i)))
	r.SetID(checkpoint.NewID(r.Phase(), created, digest[:]))
	k.Add(plumbing.TreeObject, nil)
	headers := s.repo.NewCommit(plumbing.ZeroHash, created, created, "").Rest
	return s.chain.Derive(from, r, i, nil, k.AddCommit(chain.Genesis(i)), headers, k)
}

// HasRestored reports whether this worktree has the files of a checkpoint of the issue, by a
// complete restore or a save.
func (s *Store) HasRestored(ctx context.Context, i checkpoint.Issue) bool {
	return len(s.chain.Here(ctx, i).Heads) > 0
}

// Forks returns the forks of an issue with a live checkpoint, sorted by issue. A fork that cannot be
// read is left out with a warning: everyone with push access can add one.
func (s *Store) Forks(ctx context.Context, issue checkpoint.Issue) (forks []checkpoint.Issue, err error) {
	issues, _, err := s.Issues(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, i := range issues {
		if name, ok := strings.CutPrefix(string(i), string(issue.ForkOf(""))); !ok || !checkpoint.IsForkName(name) {
			continue
		}
		p, err := s.Point(ctx, i)
		if errors.As(err, new(*NoneError)) {
			continue
		}
		var r *checkpoint.Record
		if err == nil {
			r, err = s.Record(p.Checkpoint)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			s.repo.Notify("issue %s is left out: %v", i, err)
		case r.Fork().Issue == issue:
			forks = append(forks, i)
		}
	}
	slices.Sort(forks)
	return forks, nil
}

// ForkSource returns the checkpoint from which a fork started. If it was dropped, it is the first
// checkpoint of the fork, which has the same files. It fails with *NotFoundError if both were
// dropped.
func (s *Store) ForkSource(ctx context.Context, issue checkpoint.Issue, f checkpoint.Fork) (*Checkpoint, error) {
	source, err := s.ByID(ctx, f.Issue, f.ID)
	if err == nil {
		return source, nil
	}
	l, listErr := s.List(ctx, issue, 0)
	if n := len(l.Checkpoints); listErr == nil && n > 0 {
		first := l.Checkpoints[n-1]
		if after, known := first.CameAfter(); known && len(after) == 0 && first.Valid() {
			first.Issue, first.Branch = f.Issue, "" // the branch of the fork is not that of the source
			return &first, nil
		}
	}
	return nil, err
}
