package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// ErrNoMerge reports that git merge-file refused a binary file.
var ErrNoMerge = errors.New("not text")

// MergeFile merges the contents base, mine and checkpoint of a file with git merge-file. The result has
// conflict markers if it is not clean.
func (g Git) MergeFile(ctx context.Context, base, mine, checkpoint []byte) (out []byte, clean bool, err error) {
	if g.Dir, err = os.MkdirTemp("", "git-checkpoint-merge-*"); err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(g.Dir)
	for name, data := range map[string][]byte{"base": base, "mine": mine, "checkpoint": checkpoint} {
		if err := os.WriteFile(filepath.Join(g.Dir, name), data, 0o600); err != nil {
			return nil, false, err
		}
	}
	out, err = g.Output(ctx, "merge-file", "-p", "-q", "-L", "mine", "-L", "base", "-L", "checkpoint", "mine", "base", "checkpoint")
	switch code := Code(err); {
	case code == 255:
		return nil, false, ErrNoMerge
	case code < 0 || code > 127:
		return nil, false, err
	}
	return out, err == nil, nil
}
