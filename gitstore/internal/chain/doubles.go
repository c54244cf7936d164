package chain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/repo"
)

// Everyone who can push can add another content under a known id. Both contents are members of the
// chain, and both stay. In this clone the id means the content that was here first, in own/. The other
// content is hidden from names, lists and retention. Its commit still names it. If both contents came
// with one fetch, the id is unclear: names fail, and no command resumes the checkpoint unattended.
//
// The note doubles/<issue> lists these ids for commands that read only the newest checkpoints. Each
// line has an id and the content that the id means, or "?".

const unclear = "?"

func (s *Chains) doublesNote(i checkpoint.Issue) string {
	return s.repo.NotePath(filepath.Join("doubles", i.RefName()))
}

// readDoubles returns the contents that the noted ids mean.
func (s *Chains) readDoubles(i checkpoint.Issue) map[checkpoint.ID]string {
	data, err := os.ReadFile(s.doublesNote(i))
	if err != nil {
		return nil
	}
	noted := map[checkpoint.ID]string{}
	for line := range strings.Lines(string(data)) {
		if id, content, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			noted[checkpoint.ID(id)] = content
		}
	}
	return noted
}

// Doubles returns a warning if ids have several contents in a merged state that this clone did not know as
// such, and a function that notes them, which the caller runs before the refs move. here are the
// local chains before the merge, that of own/ first.
func (s *Chains) Doubles(want join.State, here ...*Chain) (warnings []string, note func() error) {
	i := here[0].Issue
	noted, ids := s.readDoubles(i), want.Doubles()
	var found []checkpoint.ID
	var text strings.Builder
	for _, id := range ids {
		content, known := noted[id]
		if !known {
			found, content = append(found, id), meaning(id, here...)
		}
		text.WriteString(string(id) + " " + content + "\n")
	}
	if len(found) == 0 && len(ids) == len(noted) {
		return nil, func() error { return nil }
	}
	if len(found) > 0 {
		warnings = []string{fmt.Sprintf("issue %s: several contents came under one id; all are kept, and list marks the id: %s", i, repo.JoinIDs(found))}
	}
	return warnings, func() error { return s.repo.WriteFile(s.doublesNote(i), []byte(text.String())) }
}

// meaning returns the content that an id means if these are the chains of this clone.
func meaning(id checkpoint.ID, here ...*Chain) string {
	for _, c := range here {
		found := ""
		for k := range c.Commits {
			if l := &c.Commits[k]; l.ID == id {
				if found != "" && found != l.Content {
					return unclear
				}
				found = l.Content
			}
		}
		if found != "" {
			return found
		}
	}
	return unclear
}

// markDoubles marks the commits whose ids have several contents. own/ tells the meaning of an id that
// is not noted yet, because plain git fetched the chain.
func (s *Chains) markDoubles(c *Chain) error {
	noted := s.readDoubles(c.Issue)
	var own *Chain
	for id, commits := range commitsByID(c) {
		means := noted[id]
		if means == "" && len(commits) == 1 {
			continue
		}
		contents := map[string]bool{}
		for _, l := range commits {
			if err := s.compute(l); err != nil {
				return err
			}
			contents[l.Content] = true
		}
		if means == "" && len(contents) == 1 {
			continue // one content in two commits
		}
		if means == "" {
			if own == nil {
				own = s.chainOfOwn(c)
			}
			means = meaning(id, own)
		}
		for _, l := range commits {
			l.Double, l.Unclear, l.Other = true, means == unclear, means != unclear && l.Content != means
			for _, other := range commits {
				if other.Content != l.Content {
					l.Twins = append(l.Twins, other.Commit.String())
				}
			}
		}
	}
	return nil
}

// chainOfOwn returns the chain that this clone gave the issue last, with computed contents. The
// result is empty if it cannot be read.
func (s *Chains) chainOfOwn(c *Chain) *Chain {
	_, tip, err := s.tips(context.Background(), c.Issue, s.repo.ReadRef)
	if err != nil && tip.IsZero() {
		return s.NoChain(c)
	}
	own, err := s.walk(c.Issue, repo.OwnRef(c.Issue), tip, 0, func(*Chain) error { return nil })
	if err != nil || s.Identify(own, c) != nil {
		return s.NoChain(c)
	}
	return own
}
