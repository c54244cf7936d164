package refs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/internal/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// A reftable that cannot be opened, as without free file descriptors, is for git
// for-each-ref a repository without refs: it prints nothing and exits with 0. So
// an empty answer is confirmed by a question whose answer is not empty, or whose
// exit status tells the two apart.

// hasTables reports whether the refs are in a reftable.
func (r *Reader) hasTables() bool {
	return !r.Files && fsutil.Exists(filepath.Join(r.Path, "reftable"))
}

// missingRef is the exit status of git show-ref --exists for a ref that is not
// there. Status 1 means that the ref could not be looked up.
const missingRef = 2

var errNoHead = errors.New("there is no HEAD")

// isMissing reports whether git has looked for a ref and not found it.
func (r *Reader) isMissing(ctx context.Context, name string) (bool, error) {
	_, err := r.Git.Output(ctx, "show-ref", "--exists", name)
	if gitcmd.Code(err) == missingRef {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return false, nil
}

// listTables lists the refs below prefixes after a list of them was empty. HEAD of
// the main worktree is in this list, so that a list without it is of tables that
// git could not read, or of a branch that is unborn.
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
