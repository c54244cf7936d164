// Package secrets searches checkpoints for secrets, before a push and on demand, with the
// rules of package scan and with an external command.
package secrets

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/secrets/scan"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Scanner searches checkpoints for secrets.
type Scanner struct {
	repo  *repo.Repo
	chain *chain.Chains
}

// New returns the Scanner of a repository.
func New(r *repo.Repo, c *chain.Chains) *Scanner { return &Scanner{r, c} }

// A ScanRequest holds the parameters of a scan for secrets.
type ScanRequest struct {
	Issue         checkpoint.Issue // issue whose checkpoints are named in the result, or ""
	Out           chain.Outgoing   // commits and files that would be exposed
	Allow         scan.Allow       // exceptions
	Command       string           // external scanner, or ""
	Informational bool             // include findings that do not block a push, such as local paths
	MaxFile       int64            // bytes above which a file of a checkpoint is too large, 0 for no limit
}

// A Secret is the location of a likely secret in a file of a chain. It never contains the
// secret itself.
type Secret struct {
	// ID is the oldest checkpoint with the file, "" if no checkpoint of the chain has it.
	ID   checkpoint.ID `json:"checkpoint_id" empty:"null"`
	Path string        `json:"path"` // in the checkpoint's tree
	Line int           `json:"line"`
	Rule string        `json:"rule"`

	blob string
}

// Informational reports whether the finding does not block a push.
func (s Secret) Informational() bool { return scan.IsInformational(s.Rule) }

// A Publication lists the commits and files that a push of checkpoints makes public.
type Publication struct {
	Unpublished string      // newest commit of the user that the remote does not have, or ""
	Commits     int         // number of such commits, at most MaxCommits
	Found       []Secret    // likely secrets
	TooLarge    []LargeFile // files of checkpoints above ScanRequest.MaxFile
	Untracked   []string    // paths of the untracked files in the worktree
	Skipped     []Unscanned
	Pointers    int // number of git-lfs pointers, whose files git-lfs stores elsewhere
}

// A LargeFile is a file of a checkpoint with its path in the checkpoint's tree.
type LargeFile struct {
	Path  string
	Bytes int64
}

// add scans a file of a checkpoint or of a commit that a push would expose.
func (f *Publication) add(blob, path string, r io.Reader, size, limit int64) error {
	if part, _, _ := strings.Cut(path, "/"); limit > 0 && size > limit && slices.Contains(snapshotParts, part) {
		f.TooLarge = append(f.TooLarge, LargeFile{path, size})
	}
	head := bufio.NewReaderSize(r, 4<<10)
	if start, err := head.Peek(len(LfsPointer)); err == nil && string(start) == LfsPointer {
		f.Pointers++
	}
	result, err := scan.Read(head)
	if result.Skipped != "" {
		f.Skipped = append(f.Skipped, Unscanned{path, result.Skipped})
	}
	for _, found := range result.Findings {
		f.Found = append(f.Found, Secret{Path: path, Rule: found.Rule, Line: found.Line, blob: blob})
	}
	return err
}

// LfsPointer is the start of a git-lfs pointer file.
const LfsPointer = "version https://git-lfs.github.com/spec/v1\n"

// snapshotParts are the entries of a checkpoint's tree that contain files.
var snapshotParts = []string{"staged", "state", "conflicts"}

// An Unscanned is a file that was not scanned, with the reason.
type Unscanned struct{ Path, Why string }

// ScanAll searches for secrets in files that a push of several issues would newly expose,
// regardless of file size. The requests differ only in their issue, and in tips and seen
// commits. It returns a result or an error for each request; after an error, files may contain
// secrets. A file belongs to the result of each issue whose chain contains it.
//
// All issues are scanned together. If that finds something or fails, each half of them is scanned
// again, so that each result and each error belongs to its issue.
func (s *Scanner) ScanAll(ctx context.Context, reqs []ScanRequest) ([]*Publication, []error) {
	found, errs := make([]*Publication, len(reqs)), make([]error, len(reqs))
	failed := 0
	var scan func(from, to int)
	scan = func(from, to int) {
		if from == to {
			return
		}
		results, err := s.scanTogether(ctx, reqs[from:to])
		if err != nil {
			failed++
		}
		switch {
		case results != nil:
			copy(found[from:], results)
		case err != nil && (to-from == 1 || failed >= scanTries || ctx.Err() != nil):
			for n := from; n < to; n++ {
				errs[n] = err
				// In a partial clone, git stops at the first object that it cannot fetch.
				if s.repo.Opened != nil && (errors.As(err, new(*git.CommandError)) || errors.As(err, new(*odb.PromisedError))) {
					issue := reqs[n].Issue
					errs[n] = failure.Errorf(failure.Remote, "git checkpoint verify "+failure.IssueArg(string(issue)), "issue %s: a possible secret cannot be ruled out: %s", issue, git.Reason(err))
				}
			}
		default:
			middle := (from + to) / 2
			scan(from, middle)
			scan(middle, to)
		}
	}
	scan(0, len(reqs))
	return found, errs
}

// scanTries limits the failed scans during the search for issues that cannot be scanned, for
// example because of a damaged chain.
const scanTries = 64

// scanTogether scans issues with one walk and one read of the files. It returns no results if it
// found something in the files of several issues.
func (s *Scanner) scanTogether(ctx context.Context, reqs []ScanRequest) ([]*Publication, error) {
	shown, err := s.objectsShown(ctx, reqs)
	if err != nil {
		return nil, err
	}
	found, err := s.scanFiles(ctx, shown, reqs[0])
	if err != nil || len(reqs) > 1 && len(found.Found)+len(found.Skipped)+len(found.TooLarge)+found.Pointers > 0 {
		return nil, err
	}
	results := make([]*Publication, len(reqs))
	counts := map[string]int{}
	for n, req := range reqs {
		result := *found
		if err := s.addWork(&result, req.Out, shown, counts); err != nil {
			return nil, err
		}
		results[n] = &result
	}
	if len(reqs) == 1 {
		s.place(reqs[0], results[0])
		results[0].Found = slices.DeleteFunc(results[0].Found, func(f Secret) bool { return reqs[0].Allow.Has(f.Rule, f.Path) })
	}
	return results, nil
}

func (s *Scanner) scanFiles(ctx context.Context, shown exposed, req ScanRequest) (*Publication, error) {
	var named, scanned []plumbing.Hash
	for hash, path := range shown.paths {
		if path != "" {
			named = append(named, hash)
		}
	}
	slices.SortFunc(named, func(a, b plumbing.Hash) int {
		return cmp.Or(strings.Compare(shown.paths[a], shown.paths[b]), bytes.Compare(a[:], b[:]))
	})
	found := &Publication{}
	for _, hash := range named {
		path := shown.paths[hash]
		kind, size, err := s.repo.Objects.Header(hash)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, plumbing.ErrObjectNotFound):
			found.Skipped = append(found.Skipped, Unscanned{path, "not in this clone"})
			continue
		case err != nil:
			return nil, fmt.Errorf("read %q: object %s: %w", path, hash, err)
		case kind != plumbing.BlobObject:
			continue
		}
		content, err := s.contentOf(ctx, hash, size)
		if err == nil {
			err = found.add(hash.String(), path, content, size, req.MaxFile)
			content.Close()
		}
		if err != nil {
			return nil, err
		}
		scanned = append(scanned, hash)
	}
	more, err := s.scanExternally(ctx, req.Command, scanned, shown)
	found.Found = slices.DeleteFunc(append(found.Found, more...), func(f Secret) bool { return f.Informational() && !req.Informational })
	return found, err
}

// maxHeld is the maximum size of a file that a scan reads into memory at once.
const maxHeld = 1 << 20

// contentOf returns the content of a file. The caller closes it.
func (s *Scanner) contentOf(ctx context.Context, blob plumbing.Hash, size int64) (io.ReadCloser, error) {
	if size <= maxHeld {
		_, content, err := s.repo.Objects.Read(blob)
		return io.NopCloser(bytes.NewReader(content)), err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(s.repo.Git.Filter(ctx, nil, w, "cat-file", "blob", blob.String())) }()
	return r, nil
}

// MaxCommits limits the number of commits that are counted for a question.
const MaxCommits = 1000

// addWork adds the untracked files that a chain exposes, those of a state that are neither staged nor
// in HEAD, and the commits of the user: the HEADs of its checkpoints, and the commits that they reach.
// counts has the numbers of commits by the HEADs, because most issues have the same HEADs.
func (s *Scanner) addWork(p *Publication, out chain.Outgoing, shown exposed, counts map[string]int) error {
	objects, find, seen := s.repo.Objects, &trees.Finder{Reader: s.repo.Objects}, map[string]bool{}
	heads := map[plumbing.Hash]int{}
	for _, tip := range out.Tips {
		for at := plumbing.NewHash(tip); shown.has(at); {
			c, err := s.repo.ReadCommit(at)
			if err != nil {
				return err
			}
			at = plumbing.ZeroHash
			if len(c.Parents) > 0 {
				at = c.Parents[0]
			}
			state, _ := s.chain.StateCommitOf(c) // zero for a commit of another tool
			if place, ok := shown.commits[state.Head]; ok {
				heads[state.Head] = place
			}
			entries, err := trees.Read(objects, c.Tree)
			if err != nil {
				return err
			}
			unstaged, err := trees.Diff(objects, trees.HashOf(entries, "staged"), trees.HashOf(entries, "state"))
			if err != nil {
				return err
			}
			var headTree plumbing.Hash
			if len(unstaged) > 0 && !state.Head.IsZero() {
				headTree, _ = s.repo.TreeOfCommit(state.Head) // a shallow clone may lack it
			}
			for _, change := range unstaged {
				_, isShown := shown.paths[change.New.Hash]
				if !isShown || change.New.Mode == trees.ModeGitlink || !change.Old.Hash.IsZero() || seen[change.Path] {
					continue
				}
				seen[change.Path] = true
				if mode, _, err := find.Lookup(headTree, change.Path); err != nil || mode == 0 {
					p.Untracked = append(p.Untracked, change.Path)
				}
			}
		}
	}
	if len(heads) == 0 {
		return nil
	}
	list := slices.SortedFunc(maps.Keys(heads), func(x, y plumbing.Hash) int { return heads[x] - heads[y] })
	p.Unpublished = list[0].String()
	key := fmt.Sprint(list)
	if _, known := counts[key]; !known {
		n, err := s.countCommits(list, shown)
		if err != nil {
			return err
		}
		counts[key] = n
	}
	p.Commits = counts[key]
	return nil
}

// countCommits returns the number of exposed commits that heads reach, at most MaxCommits.
func (s *Scanner) countCommits(heads []plumbing.Hash, shown exposed) (int, error) {
	seen, todo := map[plumbing.Hash]bool{}, heads
	for len(todo) > 0 && len(seen) < MaxCommits {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] || !shown.has(at) {
			continue
		}
		seen[at] = true
		c, err := s.repo.ReadCommit(at)
		if err != nil {
			return 0, err
		}
		todo = append(todo, c.Parents...)
	}
	return len(seen), nil
}

// An exposed is a set of objects that a push would newly expose.
type exposed struct {
	commits map[plumbing.Hash]int    // positions in the list of git, newest first
	paths   map[plumbing.Hash]string // paths of trees and files, "" for the tree of a commit
}

func (e exposed) has(commit plumbing.Hash) bool {
	_, ok := e.commits[commit]
	return ok
}

// objectsShown returns the objects that a push of all requests would newly expose.
func (s *Scanner) objectsShown(ctx context.Context, reqs []ScanRequest) (exposed, error) {
	commits := slices.Clone(reqs[0].Out.Excluded)
	for _, req := range reqs {
		commits = append(commits, req.Out.Tips...)
		for _, seen := range req.Out.Seen {
			commits = append(commits, "^"+seen.String())
		}
		commits = append(commits, s.treesShown(req.Out.Seen)...)
	}
	// A remote may have commits that were never fetched.
	listed, err := s.repo.Git.Pipe(ctx, []byte(strings.Join(commits, "\n")+"\n"), "rev-list", "--objects", "--ignore-missing", "--stdin")
	if err != nil {
		return exposed{}, fmt.Errorf("walk commits: %w", err)
	}
	shown := exposed{commits: map[plumbing.Hash]int{}, paths: map[plumbing.Hash]string{}}
	for line := range strings.Lines(string(listed)) {
		if hex, path, named := strings.Cut(strings.TrimSuffix(line, "\n"), " "); named {
			shown.paths[plumbing.NewHash(hex)] = path
		} else {
			shown.commits[plumbing.NewHash(hex)] = len(shown.commits)
		}
	}
	return shown, nil
}

// maxTreesShown limits the number of checkpoints of a remote chain whose trees are
// excluded individually.
const maxTreesShown = 100

// treesShown returns the trees of the newest checkpoints of remote chains, as "^<tree>".
// A merge may place these checkpoints on top of others in new commits. Git would then
// report their files as new, because git excludes only trees of common commits.
func (s *Scanner) treesShown(tips []plumbing.Hash) (trees []string) {
	for _, at := range tips {
		for range maxTreesShown {
			c, err := s.repo.ReadCommit(at)
			if err != nil || len(c.Parents) == 0 {
				break
			}
			trees, at = append(trees, "^"+c.Tree.String()), c.Parents[0]
		}
	}
	return trees
}

// place sets checkpoint and path of each finding: the oldest checkpoint that has the file.
func (s *Scanner) place(req ScanRequest, found *Publication) {
	wanted := map[string][]int{}
	for i, f := range found.Found {
		wanted[f.blob] = append(wanted[f.blob], i)
	}
	for _, tip := range req.Out.Tips {
		if len(wanted) == 0 || req.Issue == "" {
			return
		}
		c, err := s.chain.Walk(req.Issue, repo.LiveRef(req.Issue), plumbing.NewHash(tip), 0)
		if err != nil {
			continue // the finding still has a path
		}
		var before plumbing.Hash
		for _, l := range slices.Backward(c.Commits) {
			changes, err := trees.Diff(s.repo.Objects, before, l.Tree)
			if len(wanted) == 0 {
				break
			}
			if err != nil {
				continue // the finding still has a path
			}
			for _, change := range changes {
				hex := change.New.Hash.String()
				for _, at := range wanted[hex] {
					found.Found[at].ID, found.Found[at].Path = l.ID, change.Path
				}
				delete(wanted, hex)
			}
			before = l.Tree
		}
	}
}
