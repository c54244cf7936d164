package treediff

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/internal/git"
)

// Changes returns Files together with all patches in the same order, independent of user
// settings. A file with only a conflict has no patch, and a type change has two. Patches
// are truncated to limit bytes; whole reports whether they are complete.
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

// A parted writer splits git output of -z --raw -p: a list of NUL-terminated fields, a
// NUL, and patches. It returns an error after the limit of patch bytes.
type parted struct {
	list, patch []byte
	past        bool // end of list reached
	left        int
	full        bool
}

var errEnough = errors.New("enough")

// Write splits the next part of the output.
func (p *parted) Write(data []byte) (int, error) {
	n := len(data)
	if !p.past {
		from := max(len(p.list)-1, 0) // the previous NUL may be the last byte of an earlier write
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
