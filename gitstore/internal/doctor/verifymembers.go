package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
)

// members checks the ids and contents of a chain, and the order of its checkpoints.
func (v *Verifier) members(ref string, c *chain.Chain) {
	above := map[checkpoint.ID]bool{}
	for i := range c.Commits {
		l := &c.Commits[i]
		if l.Ledger {
			continue
		}
		after, _ := l.CameAfter()
		for _, id := range after {
			switch {
			case !above[id] || id == l.ID:
			case c.Lineage(id).Lacks(&l.Checkpoint):
				v.errorf("%s: it stands below %s, which it came after", l.Name(), id)
			default:
				v.warnf("%s: it came after %s, which came after it", l.Name(), id)
			}
		}
		above[l.ID] = true
		v.member(ref, l)
	}
}

// member checks that no other commit has the id and the content of a checkpoint. Another content
// under its id is no error.
func (v *Verifier) member(ref string, l *chain.ChainCommit) {
	if l.ID == "" || l.Gone { // the next sync moves it to the archive
		return
	}
	others := v.ids[l.ID]
	for _, other := range others {
		switch {
		case other.content != l.Content && l.Unclear:
			v.warnf("%s: two contents have this id, in %s and %s", l.ID, other.commit, l.Commit)
		case other.content != l.Content && l.Other:
			v.warnf("%s: two contents have this id; here it is %s, and not %s", l.ID, other.commit, l.Commit)
		case other.content != l.Content:
			v.warnf("%s: two contents have this id; here it is %s, and not %s", l.ID, l.Commit, other.commit)
		case other.ref == ref:
			v.errorf("%s: two commits have this id and content, %s and %s", l.ID, other.commit, l.Commit)
		case !v.run.deep: // Check reports it
		case v.Doctor.repo.RefDir().IsInterrupted(l.Issue.RefName()):
			v.warnf("%s: a killed command has left it in the chain and in the archive: the next change of the issue mends this", l.ID)
		default:
			v.errorf("%s: it is in the chain and in the archive: git checkpoint doctor --fix", l.ID)
		}
	}
	v.ids[l.ID] = append(others, foundAt{ref, l.Commit, l.Content})
}

// order checks that the clock of a checkpoint is not earlier than that of the one below it.
func (v *Verifier) order(above, l *chain.ChainCommit) {
	if above != nil && above.Valid() && l.Valid() && above.Stated < l.Clock {
		v.errorf("%s: its clock is before that of %s, below it", above.Name(), l.Name())
	}
}

// content compares the trailer Checkpoint-Content with the content of the commit.
func (v *Verifier) content(l *chain.ChainCommit) {
	content, err := v.Doctor.chain.Content(l.Raw)
	stated := chain.CheckpointOf(l.Raw, l.Issue).Content
	switch {
	case errors.As(err, new(*repo.PromisedError)):
		v.fault(l.Name(), "", err)
	case err == nil && stated != "" && content != stated:
		v.errorf("%s: Checkpoint-Content is %s, and its content is %s", l.Name(), stated, content)
	}
}

// commit checks what git fsck accepts in a commit, and the stored form does not have.
func (v *Verifier) commit(name string, c repo.RawCommit) {
	for _, header := range []string{"author ", "committer "} {
		if n := bytes.Count(append([]byte("\n"), c.Rest...), []byte("\n"+header)); n != 1 {
			v.errorf("%s: it has %d lines %q", name, n, strings.TrimSpace(header))
		}
	}
	if strings.Contains(c.Message, "\x00") {
		v.errorf("%s: a message with NUL", name)
	}
}

// agree compares trailers with the authoritative record.
func (v *Verifier) agree(l *chain.ChainCommit, r *checkpoint.Record) {
	for _, f := range []struct{ name, trailer, record string }{
		{"checkpoint_id", string(l.ID), string(r.ID())},
		{"trigger", string(l.Trigger), string(r.Trigger())},
		{"current_phase", l.Phase, r.Phase()},
		{"branch", l.Branch, r.Branch()},
		{"issue_number", string(l.Issue), string(r.Issue())},
		{"clock", l.Stated.String(), r.Clock().String()},
		{"can_resume", fmt.Sprint(l.Resumable), fmt.Sprint(r.CanResume())},
		{"version", l.Version, r.Version()},
		{"snapshot.scope", l.Scope, chain.ScopeOf(r)},
		{"snapshot.skipped", fmt.Sprint(l.Omitted), fmt.Sprint(len(r.Snapshot().LeftOut()))},
		{"agent_turn.turn", fmt.Sprint(l.Turn), fmt.Sprint(max(r.AgentTurn().Number, 0))},
		{"agent_turn.agent", l.Agent, r.AgentTurn().Agent},
		{"restored_from", l.RestoredFrom, chain.RestoredFrom(r)},
	} {
		if f.trailer != f.record {
			v.errorf("%s: %s is %q in the record and %q in the commit", l.Name(), f.name, f.record, f.trailer)
		}
	}
	if at := r.CreatedAt(); at.Unix() >= 0 && at.Unix() != l.Created.Unix() {
		v.warnOnce("created_at", fmt.Sprintf("%s: created_at is %s, and lists show %s", l.Name(), checkpoint.FormatTime(at), checkpoint.FormatTime(l.Created)))
	}
}
