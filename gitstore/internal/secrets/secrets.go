// Package secrets searches checkpoints for secrets, before a push and on demand, with the
// rules of package scan and with an external command.
package secrets

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
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
	ID   checkpoint.ID // oldest checkpoint with the file, "" if no checkpoint of the chain has it
	Path string        // in the checkpoint's tree
	Rule string
	Line int

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

	listed map[string]bool // Untracked as a set
}

// A LargeFile is a file of a checkpoint with its path in the checkpoint's tree.
type LargeFile struct {
	Path  string
	Bytes int64
}

// add adds a file of a checkpoint or of a commit that a push would expose.
func (f *Publication) add(blob, path string, r *report, limit int64) {
	if r == nil {
		return
	}
	if part, _, _ := strings.Cut(path, "/"); limit > 0 && r.size > limit && slices.Contains(snapshotParts, part) {
		f.TooLarge = append(f.TooLarge, LargeFile{path, r.size})
	}
	if r.pointer {
		f.Pointers++
	}
	if r.skipped != "" {
		f.Skipped = append(f.Skipped, Unscanned{path, r.skipped})
	}
	for _, found := range r.findings {
		f.Found = append(f.Found, Secret{Path: path, Rule: found.Rule, Line: found.Line, blob: blob})
	}
}

// addUntracked adds the path of an untracked file.
func (f *Publication) addUntracked(path string) {
	if f.listed == nil {
		f.listed = map[string]bool{}
	}
	if !f.listed[path] {
		f.listed[path], f.Untracked = true, append(f.Untracked, path)
	}
}

// snapshotParts are the entries of a checkpoint's tree that contain files.
var snapshotParts = []string{"staged", "state", "conflicts"}

// An Unscanned is a file that was not scanned, with the reason.
type Unscanned struct{ Path, Why string }

// ScanAll searches for secrets in files that a push of several issues would newly expose,
// regardless of file size. The requests differ only in their issue, and in tips and seen
// commits. It returns a result or an error for each request; after an error, files may contain
// secrets. A file belongs to the result of each issue whose chain contains it. The number of
// git processes does not depend on the number of issues.
func (s *Scanner) ScanAll(ctx context.Context, reqs []ScanRequest) ([]*Publication, []error) {
	found, errs := make([]*Publication, len(reqs)), make([]error, len(reqs))
	tries := 0
	var scan func([]int)
	scan = func(some []int) {
		list := make([]ScanRequest, len(some))
		for k, n := range some {
			list[k] = reqs[n]
		}
		results, err := s.scanTogether(ctx, list)
		if err == nil {
			for k, n := range some {
				found[n] = results[k]
			}
			return
		}
		if tries++; len(some) == 1 || tries >= scanTries || ctx.Err() != nil {
			for _, n := range some {
				errs[n] = err
				// In a partial clone, git stops at the first object that it cannot fetch.
				if s.repo.Opened != nil && errors.As(err, new(*git.CommandError)) {
					errs[n] = &repo.LackedError{Issue: reqs[n].Issue, Object: repo.LiveRef(reqs[n].Issue), Err: errors.New(git.Reason(err))}
				}
			}
			return
		}
		scan(some[:len(some)/2])
		scan(some[len(some)/2:])
	}
	all := make([]int, len(reqs))
	for n := range reqs {
		all[n] = n
	}
	scan(all)
	return found, errs
}

// scanTries limits the failed scans during the search for issues that cannot be scanned, for
// example because of a damaged chain. A failed scan is repeated for each half.
const scanTries = 64

// scanTogether scans issues with one walk and one read of the files.
func (s *Scanner) scanTogether(ctx context.Context, reqs []ScanRequest) ([]*Publication, error) {
	shown, err := s.objectsShown(ctx, reqs)
	if err != nil {
		return nil, err
	}
	external, err := startScanner(reqs[0].Command)
	if err != nil {
		return nil, err
	}
	defer external.close()
	reports, limit := map[string]*report{}, reqs[0].MaxFile
	err = s.eachNamed(ctx, shown, func(blob, kind string, size int64, r io.Reader) error {
		if kind != "blob" && kind != missing {
			return nil
		}
		shown.files = append(shown.files, exposedFile{plumbing.NewHash(blob), shown.paths[blob]})
		if kind == missing {
			reports[blob] = &report{skipped: "not in this clone"}
			return nil
		}
		again := external.copied(blob, shown.paths[blob], r)
		defer again.Close()
		found, err := examine(again, size)
		if err == nil && found.matters(limit) {
			reports[blob] = found
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	more, err := external.run(ctx)
	if err != nil {
		return nil, err
	}
	var elsewhere []Secret // of no file
	for _, f := range more {
		if f.blob == "" {
			elsewhere = append(elsewhere, f)
			continue
		}
		if reports[f.blob] == nil {
			reports[f.blob] = &report{}
		}
		reports[f.blob].findings = append(reports[f.blob].findings, scan.Finding{Rule: f.Rule, Line: f.Line})
	}
	if len(elsewhere) > 0 && len(reqs) > 1 {
		return nil, errNoFile
	}
	results, err := s.assemble(reqs, shown, reports)
	for n, found := range results {
		found.Found = append(found.Found, elsewhere...)
		s.place(reqs[n], found)
		found.Found = slices.DeleteFunc(found.Found, func(f Secret) bool {
			return f.Informational() && !reqs[n].Informational || reqs[n].Allow.Has(f.Rule, f.Path)
		})
	}
	return results, err
}

// errNoFile reports that the external scanner found a secret, but named no file. So the issue
// is unknown.
var errNoFile = errors.New("scan_command: it failed without the name of a file")

// assemble returns the result of each request.
func (s *Scanner) assemble(reqs []ScanRequest, shown exposed, reports map[string]*report) ([]*Publication, error) {
	results := make([]*Publication, len(reqs))
	a := &attribution{s: s, shown: shown, reports: reports, below: map[plumbing.Hash][]exposedFile{}, history: map[plumbing.Hash][]exposedFile{}, counts: map[string]int{}}
	byPath := func(x, y exposedFile) int {
		return cmp.Or(strings.Compare(x.path, y.path), strings.Compare(x.blob.String(), y.blob.String()))
	}
	for n, req := range reqs {
		results[n] = &Publication{}
		files := shown.files
		if len(reqs) > 1 {
			var err error
			if files, err = a.files(req.Out); err != nil {
				return nil, err
			}
		}
		for _, f := range slices.SortedFunc(slices.Values(files), byPath) {
			hex := f.blob.String()
			results[n].add(hex, f.path, reports[hex], req.MaxFile)
		}
		if err := cmp.Or(a.addUntracked(results[n], req.Out), a.addCommits(results[n], req.Out)); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// LfsPointer is the start of a git-lfs pointer file.
const LfsPointer = "version https://git-lfs.github.com/spec/v1\n"

// A report describes the content of a file.
type report struct {
	size     int64
	pointer  bool   // pointer of git-lfs
	skipped  string // reason for skipping the file, "" if scanned
	findings []scan.Finding
}

// matters reports whether a file is more than a small file without a secret.
func (r *report) matters(limit int64) bool {
	return r.pointer || r.skipped != "" || len(r.findings) > 0 || limit > 0 && r.size > limit
}

// examine scans one file.
func examine(r io.Reader, size int64) (*report, error) {
	head := bufio.NewReaderSize(r, 4<<10)
	start, err := head.Peek(len(LfsPointer))
	found := &report{size: size, pointer: err == nil && string(start) == LfsPointer}
	result, err := scan.Read(head)
	if err != nil {
		return nil, err
	}
	found.skipped, found.findings = result.Skipped, result.Findings
	return found, nil
}

// An exposed is a set of objects that a push would newly expose.
type exposed struct {
	commits map[plumbing.Hash]int // positions in the list of git, newest first
	paths   map[string]string     // paths of trees and files, "" for the tree of a commit
	files   []exposedFile         // the files among them
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
	shown := exposed{commits: map[plumbing.Hash]int{}, paths: map[string]string{}}
	for line := range strings.Lines(string(listed)) {
		if hex, path, named := strings.Cut(strings.TrimSuffix(line, "\n"), " "); named {
			shown.paths[hex] = path
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

// eachNamed calls f for each object with a path, one after the other, with the content as a
// stream.
func (s *Scanner) eachNamed(ctx context.Context, shown exposed, f func(name, kind string, size int64, r io.Reader) error) error {
	var in strings.Builder
	count := 0
	for hex, path := range shown.paths {
		if path != "" {
			in.WriteString(hex + "\n")
			count++
		}
	}
	if count == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pr, pw := io.Pipe()
	go func() {
		pw.CloseWithError(s.repo.Git.Filter(ctx, strings.NewReader(in.String()), pw, "cat-file", "--batch", "--buffer"))
	}()
	defer pr.Close()
	return EachObject(bufio.NewReaderSize(pr, 64<<10), count, f)
}

// missing is the kind of an object that git does not find, as in a partial clone.
const missing = "missing"

// EachObject reads the output of `git cat-file --batch`: for each object a line with
// name, type and size, then the content and a newline. For a missing object there is only a line
// with the name and the word "missing".
func EachObject(r *bufio.Reader, count int, f func(name, kind string, size int64, r io.Reader) error) error {
	for range count {
		head, err := r.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read files: %w", unexpected(err))
		}
		words := strings.Fields(head)
		if len(words) == 2 && words[1] == missing {
			if err := f(words[0], missing, 0, strings.NewReader("")); err != nil {
				return err
			}
			continue
		}
		if len(words) != 3 {
			return fmt.Errorf("read files: git cat-file: %q", head)
		}
		size, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return fmt.Errorf("read files: git cat-file: %q", head)
		}
		content := &io.LimitedReader{R: r, N: size}
		if err := f(words[0], words[1], size, content); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return fmt.Errorf("read files: %w", err)
		}
		if content.N > 0 {
			return fmt.Errorf("read files: %w", io.ErrUnexpectedEOF)
		}
		if _, err := r.Discard(1); err != nil {
			return fmt.Errorf("read files: %w", unexpected(err))
		}
	}
	return nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
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
