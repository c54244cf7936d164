package restore

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
)

// turnsRead limits the checkpoints in which other sessions are looked for.
const turnsRead = 100

// A turn is a checkpoint at the end of an agent's turn, with the paths that changed since the
// checkpoint before it. Other checkpoints have no session.
type turn struct {
	id      checkpoint.ID
	session string
	changed []string
}

// otherSessions returns the paths that only other sessions have changed since a turn, with the
// session that changed each last. The other sessions were at work in this worktree at the same
// time as the session of the turn. A restore of the turn leaves these files alone unless the user
// asks for them. Without such a session, or for another checkpoint, there are no paths.
func (s *Restorer) otherSessions(ctx context.Context, c *chain.Checkpoint) map[string]string {
	if c.Trigger != checkpoint.Turn {
		return nil
	}
	live, err := s.chain.ReadChain(ctx, c.Issue, repo.LiveRef(c.Issue), turnsRead)
	if err != nil {
		return nil
	}
	var list []chain.Checkpoint // oldest first
	for _, other := range slices.Backward(live.Checkpoints()) {
		if other.Branch == c.Branch {
			list = append(list, other)
		}
	}
	turns := make([]turn, len(list))
	sessions := map[string]bool{}
	for i := range list {
		turns[i].id = list[i].ID
		if list[i].Trigger == checkpoint.Turn || list[i].Trigger == checkpoint.SessionEnd {
			if r, err := s.chain.Record(&list[i]); err == nil && !r.AgentTurn().Hand {
				turns[i].session = r.Session()
			}
		}
		sessions[turns[i].session] = true
	}
	if delete(sessions, ""); len(sessions) < 2 {
		return nil
	}
	for i := 1; i < len(list); i++ {
		turns[i].changed = s.ChangedBetween(&list[i-1], &list[i])
	}
	return changedByOthers(turns, c.ID)
}

// changedByOthers returns the paths that changed after the turn id and belong to other sessions,
// by session. turns are in order, oldest first. A path belongs to the session whose turn changed
// it last. But a turn also captures what another session is just doing: if a session at work at
// the same time has the path, and this one has never changed it before, it stays with the other.
func changedByOthers(turns []turn, id checkpoint.ID) map[string]string {
	at := slices.IndexFunc(turns, func(t turn) bool { return t.id == id })
	if at < 0 || turns[at].session == "" {
		return nil
	}
	owner, had := map[string]string{}, map[[2]string]bool{}
	others := map[string]string{}
	for i, t := range turns {
		for _, path := range t.changed {
			key := [2]string{t.session, path}
			if o := owner[path]; o == "" || o == t.session || had[key] || !atOnce(turns, o, t.session) {
				owner[path], had[key] = t.session, true
			}
			if i > at {
				others[path] = ""
			}
		}
	}
	for path := range others {
		others[path] = owner[path]
	}
	maps.DeleteFunc(others, func(path, o string) bool {
		return o == turns[at].session || !atOnce(turns, o, turns[at].session)
	})
	return others
}

// atOnce reports whether two sessions were at work at the same time: one of them has a turn
// between two turns of the other.
func atOnce(turns []turn, a, b string) bool {
	if a == "" || b == "" || a == b {
		return false
	}
	span := func(session string) (first, last int) {
		of := func(t turn) bool { return t.session == session }
		first = slices.IndexFunc(turns, of)
		for last = len(turns) - 1; last > first && !of(turns[last]); last-- {
		}
		return first, last
	}
	firstA, lastA := span(a)
	firstB, lastB := span(b)
	return firstA >= 0 && firstB >= 0 && firstA < lastB && firstB < lastA
}

// ChangedBetween returns the paths whose files differ between two checkpoints.
func (s *Restorer) ChangedBetween(older, newer *chain.Checkpoint) (paths []string) {
	find := &trees.Finder{Reader: s.repo.Objects}
	for _, name := range []string{"staged", "state"} {
		_, before, err := find.Lookup(older.Tree, name)
		_, after, err2 := find.Lookup(newer.Tree, name)
		if cmp.Or(err, err2) != nil {
			return nil
		}
		changes, err := trees.Diff(s.repo.Objects, before, after)
		if err != nil {
			continue
		}
		for _, c := range changes {
			paths = append(paths, c.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
