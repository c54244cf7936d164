package share

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
)

// updateLocalRefs moves local refs of plans that share an ObjectWriter, from values that
// the plans read. If a ref has another value, the next pass plans the issue again.
func (y *Syncing) updateLocalRefs(ctx context.Context, plans []*syncPlan, outcome errorsByIssue) {
	byIssue := make(map[checkpoint.Issue]*syncPlan, len(plans))
	issues := make([]checkpoint.Issue, len(plans))
	for n, p := range plans {
		issues[n], byIssue[p.issue] = p.issue, p
	}
	u := y.Conn.newLocalUpdate(func(i checkpoint.Issue) ([]refs.Move, error) { return y.moves(ctx, byIssue[i]) })
	u.writer, u.alone = plans[0].k, y.Sharer.WithIssueLock
	maps.Copy(outcome, u.run(ctx, issues))
}

// moves returns the moves of an issue. It fails if a ref has another value than in the
// plan.
func (y *Syncing) moves(ctx context.Context, p *syncPlan) ([]refs.Move, error) {
	list := append(p.archive.Move(p.issue),
		refs.Move{Name: repo.LiveRef(p.issue), Old: p.live.Tip, New: p.tip},
		refs.Move{Name: repo.OwnRef(p.issue), Old: p.own.Tip, New: p.tip})
	for _, m := range list {
		now, err := y.Sharer.ReadRef(ctx, m.Name)
		if err != nil {
			return nil, err
		}
		if now != m.Old {
			return nil, fmt.Errorf("%w: %s is at %s", repo.ErrRefMoved, m.Name, now)
		}
	}
	tracking, err := y.Conn.trackingMove(ctx, p.issue, p.tip)
	return slices.DeleteFunc(append(list, tracking...), func(m refs.Move) bool { return m.Old == m.New }), err
}
