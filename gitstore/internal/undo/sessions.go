package undo

import (
	"context"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
)

// turnsRead limits the turns in which other sessions are looked for.
const turnsRead = 100

// otherSessions returns the paths that another session changed while the session of the newest
// checkpoint was at work, with that session. Two sessions work in one worktree if a turn of the
// other is between two turns of the newest checkpoint's session. A restore of a turn leaves
// these files alone unless the user asks for them. An unreadable chain has no other session.
func (s *Restorer) otherSessions(ctx context.Context, issue checkpoint.Issue) map[string]string {
	live, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), turnsRead)
	if err != nil {
		return nil
	}
	var turns []chain.Checkpoint // newest first
	var sessions []string
	for _, c := range live.Checkpoints() {
		if c.Trigger != checkpoint.Turn {
			break
		}
		r, err := s.Record(&c)
		if err != nil {
			break
		}
		turns, sessions = append(turns, c), append(sessions, r.Session())
	}
	if len(turns) == 0 || sessions[0] == "" {
		return nil
	}
	first := len(sessions) - 1
	for first > 0 && sessions[first] != sessions[0] {
		first--
	}
	others := map[string]string{}
	for i := first - 1; i > 0; i-- {
		if other := sessions[i]; other != "" && other != sessions[0] {
			for _, path := range s.changedBetween(&turns[i+1], &turns[i]) {
				others[path] = other
			}
		}
	}
	return others
}

// changedBetween returns the paths whose files differ between two checkpoints.
func (s *Restorer) changedBetween(older, newer *chain.Checkpoint) (paths []string) {
	before, err := trees.Read(s.Objects, older.Tree)
	if err != nil {
		return nil
	}
	after, err := trees.Read(s.Objects, newer.Tree)
	if err != nil {
		return nil
	}
	for _, name := range []string{"staged", "worktree", "untracked"} {
		changes, err := trees.Diff(s.Objects, trees.HashOf(before, name), trees.HashOf(after, name))
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
