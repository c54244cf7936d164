package treediff

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/internal/git"
)

// Changes is Files together with the patch of every file, by nobody's settings
// and in the same order: a file that is in conflict alone has none, one that
// became something else than a file has two. Of the patches it takes so many
// bytes; whole reports that this was all.
func (b *Diff) Changes(ctx context.Context, limit int) (changes []Change, patch []byte, whole bool, err error) {
	p := &parted{left: limit}
	if b.from != b.to {
		args := []string{
			"-c", "core.bigFileThreshold=" + maxPatched, "diff-tree", "-r", "-z", "-M", "--raw", "-p", "--no-abbrev", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short",
			"--src-prefix=a/", "--dst-prefix=b/", b.from.String(), b.to.String(), "--",
		}
		if err := b.plumbing().Copy(ctx, p, append(args, b.paths...)...); err != nil && !p.full {
			return nil, nil, false, fmt.Errorf("compare files: %w", err)
		}
	}
	if changes, err = parseChanges(git.Fields(p.list)); err != nil {
		return nil, nil, false, err
	}
	return b.markUnmerged(changes), p.patch, !p.full, nil
}

// A parted writer takes what git says with -z --raw -p apart: a list whose
// fields end with NUL, a NUL, and patches, of which it takes so many bytes and
// then fails.
type parted struct {
	list, patch []byte
	past        bool // the list is over
	left        int
	full        bool
}

var errEnough = errors.New("enough")

// Write takes some of it.
func (p *parted) Write(data []byte) (int, error) {
	n := len(data)
	if !p.past {
		from := max(len(p.list)-1, 0) // the NUL before may have come alone
		p.list = append(p.list, data...)
		end := bytes.Index(p.list[from:], []byte("\x00\x00"))
		if end < 0 {
			return n, nil
		}
		end += from + 1
		p.past, p.list, data = true, p.list[:end], p.list[end+1:]
	}
	take := min(len(data), p.left)
	p.patch = append(p.patch, data[:take]...)
	p.left -= take
	if take < len(data) {
		p.full = true
		return n, errEnough
	}
	return n, nil
}
