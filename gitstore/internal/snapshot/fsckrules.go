package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// refused returns those of changed files that servers with receive.fsckObjects reject, with the
// reasons. Such a server would also reject every later checkpoint of the chain.
func (s *Capturer) refused(ctx context.Context, r trees.Reader, changes []trees.Change) (list []checkpoint.Skipped, err error) {
	for _, c := range changes {
		name := path.Base(c.Path)
		if c.New.Hash.IsZero() || c.New.Mode == trees.ModeGitlink || !trees.IsChecked(name) {
			continue
		}
		content, err := trees.ReadAs(r, plumbing.BlobObject, c.New.Hash)
		if err != nil {
			return nil, err
		}
		why, err := s.receive(ctx, name, c.New.Mode, content)
		if err != nil {
			return nil, fmt.Errorf("check %q: %w", c.Path, err)
		}
		if why != "" {
			list = append(list, checkpoint.Skipped{Path: c.Path, Reason: why})
		}
	}
	return list, nil
}

// receive makes git receive a file into a temporary folder of objects, as a server does. It returns
// git's reason to reject the file, or "".
func (s *Capturer) receive(ctx context.Context, name string, mode uint32, content []byte) (why string, err error) {
	dir, err := os.MkdirTemp("", "git-checkpoint-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	g := s.repo.Git.With("GIT_OBJECT_DIRECTORY=" + dir)
	blob, err := g.Pipe(ctx, content, "hash-object", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	tree, err := g.Pipe(ctx, fmt.Appendf(nil, "%o blob %s\t%s\x00", mode, strings.TrimSpace(string(blob)), name), "mktree", "-z")
	if err != nil {
		return "", err
	}
	pack, err := g.Pipe(ctx, tree, "pack-objects", "-q", "--revs", "--stdout")
	if err != nil {
		return "", err
	}
	_, err = g.Pipe(ctx, pack, "index-pack", "--strict", "--stdin")
	var failed *git.CommandError
	if errors.As(err, &failed) && strings.Contains(failed.Stderr, "fsck error") {
		_, said, _ := strings.Cut(failed.Stderr, "error: object ")
		_, why, _ = strings.Cut(firstLine(said), ": ") // after the hash
		return cmp.Or(why, failed.Error()), nil
	}
	return "", err
}
