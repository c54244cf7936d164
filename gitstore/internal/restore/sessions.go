package restore

import (
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
)

// A turn is a checkpoint at the end of an agent's turn, with the paths that changed since the
// checkpoint before it. Other checkpoints have no session.
type turn struct {
	chain.Checkpoint
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
	live, err := s.chain.ReadChain(ctx, c.Issue, repo.LiveRef(c.Issue), chain.RetentionDepth)
	if err != nil {
		return nil
	}
	var turns []turn // oldest first
	sessions := map[string]bool{}
	for _, other := range slices.Backward(live.Checkpoints()) {
		if other.Branch != c.Branch {
			continue
		}
		t := turn{Checkpoint: other}
		if t.Trigger == checkpoint.Turn || t.Trigger == checkpoint.SessionEnd {
			if r, err := s.chain.Record(&other); err == nil && !r.AgentTurn().Hand {
				t.session = r.Session()
			}
		}
		turns, sessions[t.session] = append(turns, t), true
	}
	if delete(sessions, ""); len(sessions) < 2 {
		return nil
	}
	for i := 1; i < len(turns); i++ {
		turns[i].changed = s.ChangedBetween(&turns[i-1].Checkpoint, &turns[i].Checkpoint)
	}
	return changedByOthers(turns, c.ID)
}

// changedByOthers returns the paths that changed after the turn id and belong to other sessions,
// by session. turns are in order, oldest first. A path belongs to the session whose turn changed
// it last. But a turn also captures what another session is just doing: if a session at work at
// the same time has the path, and this one has never changed it before, it stays with the other.
func changedByOthers(turns []turn, id checkpoint.ID) map[string]string {
	at := slices.IndexFunc(turns, func(t turn) bool { return t.ID == id })
	if at < 0 || turns[at].session == "" {
		return nil
	}
	first, last := map[string]int{}, map[string]int{} // turn of a session
	for i, t := range turns {
		if _, known := first[t.session]; !known {
			first[t.session] = i
		}
		last[t.session] = i
	}
	// Two sessions were at work at the same time if one has a turn between two turns of the other.
	atOnce := func(a, b string) bool {
		return a != "" && b != "" && a != b && first[a] < last[b] && first[b] < last[a]
	}
	owner, had := map[string]string{}, map[[2]string]bool{}
	others := map[string]string{}
	for i, t := range turns {
		for _, path := range t.changed {
			key := [2]string{t.session, path}
			if o := owner[path]; o == "" || o == t.session || had[key] || !atOnce(o, t.session) {
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
	maps.DeleteFunc(others, func(path, o string) bool { return !atOnce(o, turns[at].session) })
	return others
}

// ChangedBetween returns the paths whose files differ between two checkpoints.
func (s *Restorer) ChangedBetween(older, newer *chain.Checkpoint) (paths []string) {
	changes, err := trees.Diff(s.repo.Objects, older.Tree, newer.Tree)
	if err != nil {
		return nil
	}
	for _, c := range changes {
		if part, path, _ := strings.Cut(c.Path, "/"); part == "staged" || part == "state" {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
