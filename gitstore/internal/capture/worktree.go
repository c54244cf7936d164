package capture

import (
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// worktree adds tracked files that differ from the index, and records deletions. Git
// decides which files differ. The index is not refreshed, so git may list a file with
// unchanged content. Submodules are compared by commit only.
func (c *capture) worktree() error {
	out, err := c.git().Output(c.ctx, "diff-files", "-0", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return err
	}
	dirty, err := parseRaw(git.Fields(out))
	if err != nil {
		return err
	}
	wanted := make([]candidate, 0, len(dirty))
	for _, d := range dirty {
		if d.Old.Mode == trees.ModeGitlink {
			if d.New.Mode == trees.ModeGitlink {
				c.skip(d.Path, 0, "a submodule on another commit than the one that is staged")
			}
			continue
		}
		if d.New.Mode == 0 {
			c.snap.Facts.Deleted = append(c.snap.Facts.Deleted, d.Path)
			c.snap.addFile(d.Path, "deleted", false)
			continue
		}
		wanted = append(wanted, candidate{path: d.Path, mode: d.New.Mode, known: d.Old, status: d.status, maxSize: noLimit})
	}
	files, err := c.take(wanted)
	if err != nil {
		return err
	}
	c.add("worktree", files)
	return nil
}

// A rawChange is one change of `git diff-files --raw`.
type rawChange struct {
	trees.Change
	status string
}

// parseRaw parses alternating fields: ":<old mode> <new mode> <old hash> <new hash>
// <letter>" and path.
func parseRaw(fields []string) ([]rawChange, error) {
	words := map[string]string{"M": "modified", "A": "added", "T": "typechange", "D": "deleted"}
	var changes []rawChange
	for i := 0; i+1 < len(fields); i += 2 {
		info := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(info) != 5 {
			return nil, fmt.Errorf("git diff-files said %q", fields[i])
		}
		var modes [2]uint64
		for n := range modes {
			var err error
			if modes[n], err = strconv.ParseUint(info[n], 8, 32); err != nil {
				return nil, fmt.Errorf("git diff-files said %q", fields[i])
			}
		}
		changes = append(changes, rawChange{
			trees.Change{
				Path: fields[i+1],
				Old:  trees.Entry{Mode: uint32(modes[0]), Hash: plumbing.NewHash(info[2])},
				New:  trees.Entry{Mode: uint32(modes[1])},
			},
			words[info[4]], // "" for "U": conflicts are listed already
		})
	}
	return changes, nil
}

// untracked adds untracked files, except ignored files.
func (c *capture) untracked() error {
	out, err := c.git().Output(c.ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	var wanted []candidate
	for _, path := range git.Fields(out) {
		if strings.HasSuffix(path, "/") {
			c.skip(path, 0, "a repository of its own")
			continue
		}
		wanted = append(wanted, candidate{path: path, status: "untracked", maxSize: c.maxFile})
	}
	files, err := c.take(wanted)
	if err != nil {
		return err
	}
	c.add("untracked", files)
	return nil
}
