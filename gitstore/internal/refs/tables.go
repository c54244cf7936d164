package refs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// If git cannot open a reftable, for example without free file descriptors, git
// for-each-ref prints nothing and exits with status 0. So an empty result needs a second
// query whose result is never empty, or whose exit status shows the failure.

// hasTables reports whether refs use the reftable backend.
func (r *Reader) hasTables() bool {
	return !r.Files && fsutil.Exists(filepath.Join(r.Path, "reftable"))
}

// missingRef is the exit status of git show-ref --exists for a missing ref. Status 1
// means that the lookup failed.
const missingRef = 2

var errNoHead = errors.New("there is no HEAD")

// isMissing reports whether git confirms that a ref does not exist.
func (r *Reader) isMissing(ctx context.Context, name string) (bool, error) {
	_, err := r.Git.Output(ctx, "show-ref", "--exists", name)
	if git.Code(err) == missingRef {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return false, nil
}

// listTables repeats an empty list together with HEAD of the main worktree. If the result
// lacks HEAD, git could not read the reftable, or the current branch is unborn.
func (r *Reader) listTables(ctx context.Context, prefixes []string) (map[string]plumbing.Hash, error) {
	main := *r
	main.Git = r.Git.With("GIT_DIR=" + r.Path)
	refs, err := main.list(ctx, append([]string{"--include-root-refs", "HEAD"}, prefixes...)...)
	if err != nil {
		return nil, err
	}
	if refs["HEAD"].IsZero() {
		if missing, err := main.isMissing(ctx, "HEAD"); err != nil || missing {
			return nil, fmt.Errorf("list %s: git cannot read its reftable: %w", strings.Join(prefixes, " "), cmp.Or(err, errNoHead))
		}
		if refs, err = main.list(ctx, prefixes...); err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(refs, func(name string, _ plumbing.Hash) bool { return name == "HEAD" })
	return refs, nil
}
