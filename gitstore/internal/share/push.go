package share

import (
	"cmp"
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/remote"

	"github.com/go-git/go-git/v5/plumbing"
)

// A blockedError is the reason why an issue must not be pushed.
type blockedError struct{ error }

func (e *blockedError) Unwrap() error { return e.error }

// WithListed returns the commits that a push does not publish, with those that the remote has listed.
func (s *Sharer) WithListed(ctx context.Context, e remote.Exposed, tips map[string]plumbing.Hash) remote.Exposed {
	branch, _ := s.repo.Branch(ctx) // only chooses the ref of a hint
	e.Listed, e.Unknown = remote.Listed(s.repo, tips, branch)
	return e
}

// CheckPublication asks Request.May whether a push may expose the commits of the plans.
func (r *Round) CheckPublication(ctx context.Context) {
	if r.y.req.May == nil {
		return
	}
	var exposing []*issuePlan
	for _, p := range r.plans {
		if r.errs[p.issue] == nil && len(p.updates()) > 0 {
			exposing = append(exposing, p)
		}
	}
	if len(exposing) == 0 {
		return
	}
	issues, groups := make([]checkpoint.Issue, len(exposing)), make([][]remote.RefUpdate, len(exposing))
	for n, p := range exposing {
		issues[n], groups[n] = p.issue, p.updates()
	}
	if r.theirs.listed == nil {
		e := r.y.Sharer.WithListed(ctx, r.y.req.Exposed, r.theirs.tips)
		r.theirs.listed = &e
	}
	outs, err := r.y.Sharer.chain.Outgoing(ctx, r.y.Conn.Remote, *r.theirs.listed, groups...)
	if err != nil {
		for _, i := range issues {
			r.errs[i] = err
		}
		return
	}
	for n, err := range r.y.req.May(issues, outs) {
		if err != nil {
			r.errs[issues[n]] = &blockedError{err}
		}
	}
}

// MoveRemoteRefs pushes the plans. The archives move first: if a sync is interrupted, the archive
// must already contain the checkpoints that leave a chain.
func (r *Round) MoveRemoteRefs(ctx context.Context) error {
	err := r.send(ctx, func(p *issuePlan) []remote.RefUpdate { return p.archive.Update(p.issue) })
	if err == nil {
		err = r.send(ctx, (*issuePlan).update)
	}
	return err
}

// send pushes refs of each issue that has no error yet.
func (r *Round) send(ctx context.Context, of func(*issuePlan) []remote.RefUpdate) error {
	var updates []remote.RefUpdate
	var issues []checkpoint.Issue
	for _, p := range r.plans {
		if more := of(p); r.errs[p.issue] == nil && len(more) > 0 {
			updates, issues = append(updates, more...), append(issues, p.issue)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	// After this note, an undo treats the checkpoints as public.
	if err := r.y.Sharer.log.NotePush(ctx, chain.ShownRemote(r.y.Conn.Remote), issues); err != nil {
		return err
	}
	said, err := r.y.Conn.Push(ctx, updates...)
	for _, p := range r.plans {
		for _, u := range of(p) {
			r.errs[p.issue] = cmp.Or(r.errs[p.issue], said[u.Ref])
		}
	}
	return err
}
