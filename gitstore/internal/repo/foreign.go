package repo

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/refs"
)

// storedElsewhere is the content of HEAD if the refs are stored elsewhere: in a reftable,
// or in the directory that extensions.refStorage names. Git writes it for old versions.
const storedElsewhere = "ref: refs/heads/.invalid"

// AreForeign reports whether branches, by default that of HEAD, are known to belong to no issue with
// checkpoints. It reads a few files of the repository: the rows prepush and postcheckout of the
// benchmark pay for that, a quarter of which a second git process would take. If the files do not give
// a definite answer, AreForeign returns false.
//
// Every rule takes the issue from a part of the branch name. A renamed branch can belong to the issue
// of its former name.
func AreForeign(ctx context.Context, branches ...string) bool {
	for _, name := range repository.Variables() {
		if _, set := os.LookupEnv(name); set {
			return false
		}
	}
	r, err := repository.Discover(ctx, git.Git{})
	if err != nil || fsutil.Exists(filepath.Join(r.CommonDir, "reftable")) {
		return false
	}
	head, err := os.ReadFile(filepath.Join(r.Dir, "HEAD"))
	if err != nil || strings.HasPrefix(string(head), storedElsewhere) {
		return false
	}
	if len(branches) == 0 {
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/"); ok {
			branches = []string{name}
		}
	}
	names, err := (&refs.Reader{Path: r.CommonDir, Files: true}).Names(ctx, LiveRefs)
	if err != nil {
		return false
	}
	plain := func(text string) string { return strings.ReplaceAll(strings.ToLower(text), "+", "-") } // the branch of a fork has a dash
	return !slices.ContainsFunc(branches, func(branch string) bool {
		hasIssue := slices.ContainsFunc(names, func(name string) bool {
			i, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, LiveRefs))
			return err == nil && strings.Contains(plain(branch), plain(string(i)))
		})
		log, err := os.ReadFile(filepath.Join(r.CommonDir, "logs", "refs", "heads", filepath.FromSlash(branch)))
		isRenamed := err != nil && !errors.Is(err, fs.ErrNotExist) || bytes.Contains(log, []byte("\tBranch: renamed "))
		return hasIssue || isRenamed || !fsutil.IsASCII(branch)
	})
}
