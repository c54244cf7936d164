package share

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// OpenRemote opens a remote's chains as a separate repository for reading. The caller must
// close it. The local repository does not change: missing objects are fetched into a
// temporary repository. If the remote supports filters, only commits are fetched.
func (s *Sharer) OpenRemote(ctx context.Context, req Request) (*repo.Repo, error) {
	refs, err := s.repo.Refs.Values(ctx, repo.LiveRefs, repo.ArchiveRefs, repo.BookRefs)
	if err != nil {
		return nil, err
	}
	known := map[plumbing.Hash]bool{}
	for _, hash := range refs {
		known[hash] = true
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-*")
	if err != nil {
		return nil, fmt.Errorf("open the remote: %w", err)
	}
	g, err := s.repo.Beside(ctx, dir)
	if err == nil {
		g.LimitPromised(ctx, repo.Options{Asks: func() bool { return !req.Quiet }})
		err = New(g, chain.New(g)).fetchTips(ctx, req, known)
	}
	if err == nil {
		err = g.OpenObjects()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return g, nil
}

// HasBranch reports whether a remote has a branch. It asks for no password.
func (s *Sharer) HasBranch(ctx context.Context, remote, branch string, limit time.Duration) (bool, error) {
	l, err := s.Connect("list", remote, limit, true)
	if err != nil {
		return false, err
	}
	ref := "refs/heads/" + branch
	tips, err := l.Tips(ctx, ref)
	return !tips[ref].IsZero(), err
}

// OtherPushURLs returns the push URLs of a remote that get no checkpoints.
func (s *Sharer) OtherPushURLs(name string) []string {
	return remote.OtherPushURLs(s.repo.Config, name)
}

// fetchTips fetches remote refs and missing commits of their chains.
func (s *Sharer) fetchTips(ctx context.Context, req Request, known map[plumbing.Hash]bool) error {
	l, err := s.Connect("list", req.Remote, req.Timeout, req.Quiet)
	if err != nil {
		return err
	}
	prefixes, patterns := []string{repo.LiveRefs}, []string{}
	if req.Archived { // the pattern of the archive refs
		prefixes = append(prefixes, repo.ArchiveRefs)
	}
	for _, prefix := range prefixes {
		for _, i := range req.Issues {
			patterns = append(patterns, prefix+i.RefName())
		}
		if len(req.Issues) == 0 {
			patterns = append(patterns, prefix+"*")
		}
	}
	tips, err := l.Tips(ctx, patterns...)
	if err != nil {
		return err
	}
	var here []byte
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(tips)) {
		switch {
		case !refs.Below(name, prefixes): // a pattern also matches name suffixes
		case known[tips[name]]:
			here = fmt.Appendf(here, "create %s\x00%s\x00", name, tips[name])
		default:
			missing = append(missing, name)
		}
	}
	if len(here) > 0 {
		if _, err := s.repo.Git.Pipe(ctx, here, "update-ref", "--stdin", "-z"); err != nil {
			return fmt.Errorf("look at %s: %w", chain.ShownRemote(req.Remote), err)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return l.Commits(ctx, missing)
}

// A HookPrecheck holds facts from a few files of the repository, so that hooks without
// work need no git process. If the files do not give a definite answer, every question is
// answered as if checkpoints may exist.
type HookPrecheck struct {
	Branch  string // branch of HEAD, "" if detached
	certain bool
	issues  []string // in lower case
	dir     string   // common git directory
}

// storedElsewhere is the content of HEAD if the refs are stored elsewhere: in a reftable,
// or in the directory that extensions.refStorage names. Git writes it for old versions.
const storedElsewhere = "ref: refs/heads/.invalid"

// ReadHookPrecheck reads the repository of the working directory.
func ReadHookPrecheck() HookPrecheck {
	r, ok := repository.Discover("")
	if !ok || fsutil.Exists(filepath.Join(r.CommonDir, "reftable")) {
		return HookPrecheck{}
	}
	head, err := os.ReadFile(filepath.Join(r.Dir, "HEAD"))
	if err != nil {
		return HookPrecheck{}
	}
	if strings.HasPrefix(string(head), storedElsewhere) {
		return HookPrecheck{}
	}
	g := HookPrecheck{certain: true, dir: r.CommonDir}
	if name, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/"); ok {
		g.Branch = name
	}
	names, err := refs.Stored(r.CommonDir, repo.LiveRefs)
	if err != nil {
		return HookPrecheck{}
	}
	for _, name := range names {
		if i, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, repo.LiveRefs)); err == nil {
			g.issues = append(g.issues, strings.ToLower(string(i)))
		}
	}
	return g
}

// HasNoCheckpoints reports whether the repository is known to have no checkpoint.
func (g HookPrecheck) HasNoCheckpoints() bool { return g.certain && len(g.issues) == 0 }

// IsForeign reports whether a branch is known to belong to no issue with checkpoints.
// Every rule takes the issue from a part of the branch name. A renamed branch can belong to
// the issue of its former name.
func (g HookPrecheck) IsForeign(branch string) bool {
	if !g.certain {
		return false
	}
	name := strings.ToLower(branch)
	for _, i := range g.issues {
		if strings.Contains(name, i) {
			return false
		}
	}
	log, err := os.ReadFile(filepath.Join(g.dir, "logs", "refs", "heads", filepath.FromSlash(branch)))
	return branch == "" || errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(log, []byte("\tBranch: renamed "))
}
