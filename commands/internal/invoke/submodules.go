package invoke

import (
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
)

// WarnLocalCommits names the commits of submodules in a checkpoint that no remote of the
// submodule has, each once. An error is ignored, because the checkpoint itself is complete.
func (c *Invocation) WarnLocalCommits(cp *gitstore.Checkpoint) {
	commits, err := c.Store.Files.LocalCommits(c.Ctx, cp)
	if err != nil {
		return
	}
	for _, l := range commits {
		key := l.Path + "@" + l.Commit.String()
		if c.Subject.localCommits[key] {
			continue
		}
		if c.Subject.localCommits == nil {
			c.Subject.localCommits = map[string]bool{}
		}
		c.Subject.localCommits[key] = true
		path, commit := view.QuotePath(l.Path), l.Commit.String()[:12]
		if l.Missing {
			c.Warnf("submodule %s lacks commit %s, which the checkpoint names: git submodule update fetches it, unless it was never pushed", path, commit)
		} else {
			c.Warnf("submodule %s: no remote has commit %s, so other clones cannot check it out: push it in the submodule", path, commit)
		}
	}
}
