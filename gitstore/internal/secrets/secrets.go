// Package secrets searches checkpoints for secrets, before a push and on demand, with the
// rules of package scan and with an external command.
package secrets

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
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

// A Scanned is the result of a scan.
type Scanned struct {
	Found     []Secret
	Skipped   []Unscanned
	Pointers  int         // number of git-lfs pointers, whose files git-lfs stores elsewhere
	Untracked []string    // paths of the untracked files in the worktree
	TooLarge  []LargeFile // files of checkpoints above ScanRequest.MaxFile

	listed map[string]bool // Untracked as a set
}

// A LargeFile is a file of a checkpoint with its path in the checkpoint's tree.
type LargeFile struct {
	Path  string
	Bytes int64
}

// add notes that a push would expose a file of a checkpoint or of a commit.
func (f *Scanned) add(path string, size, limit int64) {
	part, name, _ := strings.Cut(path, "/")
	if part == "untracked" && !f.listed[name] {
		if f.listed == nil {
			f.listed = map[string]bool{}
		}
		f.listed[name] = true
		f.Untracked = append(f.Untracked, name)
	}
	if limit > 0 && size > limit && slices.Contains(snapshotParts, part) {
		f.TooLarge = append(f.TooLarge, LargeFile{path, size})
	}
}

// snapshotParts are the entries of a checkpoint's tree that contain files.
var snapshotParts = []string{"staged", "worktree", "untracked", "artifacts", "conflicts"}

// An Unscanned is a file that was not scanned, with the reason.
type Unscanned struct{ Path, Why string }

// Scan searches for secrets in files that a push would newly expose, regardless of file
// size. After an error, files may contain secrets.
func (s *Scanner) Scan(ctx context.Context, req ScanRequest) (*Scanned, error) {
	if quick := s.Quickly(req); quick != nil {
		return quick, nil
	}
	found := &Scanned{}
	shown, err := s.filesShown(ctx, req.Out)
	if err != nil || len(shown) == 0 {
		return found, s.repo.NotFetched(req.Issue, err)
	}
	external, err := startScanner(req.Command)
	if err != nil {
		return nil, err
	}
	defer external.close()
	names, err := s.blobsAmong(ctx, shown, found)
	if err != nil {
		return nil, s.repo.NotFetched(req.Issue, err)
	}
	err = s.eachBlob(ctx, names, func(blob string, size int64, r io.Reader) error {
		found.add(shown[blob], size, req.MaxFile)
		again := external.copied(blob, shown[blob], r)
		defer again.Close()
		return found.look(blob, shown[blob], again)
	})
	if err != nil {
		return nil, err
	}
	more, err := external.run(ctx)
	if err != nil {
		return nil, err
	}
	found.Found = append(found.Found, more...)
	s.place(req, found)
	found.Found = slices.DeleteFunc(found.Found, func(f Secret) bool {
		return f.Informational() && !req.Informational || req.Allow.Has(f.Rule, f.Path)
	})
	return found, nil
}

// LfsPointer is the start of a git-lfs pointer file.
const LfsPointer = "version https://git-lfs.github.com/spec/v1\n"

// look scans one file.
func (f *Scanned) look(blob, path string, r io.Reader) error {
	head := bufio.NewReaderSize(r, 4<<10)
	if start, err := head.Peek(len(LfsPointer)); err == nil && string(start) == LfsPointer {
		f.Pointers++
	}
	result, err := scan.Read(head)
	if err != nil {
		return err
	}
	if result.Skipped != "" {
		f.Skipped = append(f.Skipped, Unscanned{path, result.Skipped})
	}
	for _, found := range result.Findings {
		f.Found = append(f.Found, Secret{Path: path, Rule: found.Rule, Line: found.Line, blob: blob})
	}
	return nil
}

// filesShown returns objects that a push would newly expose, with their paths. The result
// includes trees.
func (s *Scanner) filesShown(ctx context.Context, out chain.Outgoing) (map[string]string, error) {
	listed, err := s.chain.LocalRepo().Revs(ctx, slices.Concat(out.Tips, out.Excluded, s.treesShown(out.Seen)), "--objects")
	if err != nil {
		return nil, err
	}
	shown := map[string]string{}
	for line := range strings.Lines(listed) {
		if hex, path, named := strings.Cut(strings.TrimSuffix(line, "\n"), " "); named && path != "" {
			shown[hex] = path
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

// eachBlob calls f with the contents of files, one after the other, as a stream.
func (s *Scanner) eachBlob(ctx context.Context, names []string, f func(blob string, size int64, r io.Reader) error) error {
	if len(names) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pr, pw := io.Pipe()
	go func() {
		in := strings.NewReader(strings.Join(names, "\n") + "\n")
		pw.CloseWithError(s.repo.Git.Filter(ctx, in, pw, "cat-file", "--batch", "--buffer"))
	}()
	defer pr.Close()
	return EachObject(bufio.NewReaderSize(pr, 64<<10), len(names), f)
}

// EachObject reads the output of `git cat-file --batch`: for each object a line with
// name, type and size, then the content and a newline.
func EachObject(r *bufio.Reader, count int, f func(name string, size int64, r io.Reader) error) error {
	for range count {
		head, err := r.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read files: %w", unexpected(err))
		}
		words := strings.Fields(head)
		if len(words) != 3 {
			return fmt.Errorf("read files: git cat-file: %q", head)
		}
		size, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return fmt.Errorf("read files: git cat-file: %q", head)
		}
		content := &io.LimitedReader{R: r, N: size}
		if err := f(words[0], size, content); err != nil {
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

// blobsAmong returns the blobs among objects, sorted by path. Objects that a partial
// clone lacks are added to found.Skipped.
func (s *Scanner) blobsAmong(ctx context.Context, shown map[string]string, found *Scanned) ([]string, error) {
	var in strings.Builder
	for hex := range shown {
		in.WriteString(hex + "\n")
	}
	out, err := s.repo.Git.Pipe(ctx, []byte(in.String()), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		switch hex, kind, _ := strings.Cut(strings.TrimSpace(line), " "); kind {
		case "blob":
			names = append(names, hex)
		case "missing":
			found.Skipped = append(found.Skipped, Unscanned{shown[hex], "not in this clone"})
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(shown[a]+"\x00"+a, shown[b]+"\x00"+b) })
	return names, nil
}

// place sets checkpoint and path of each finding.
func (s *Scanner) place(req ScanRequest, found *Scanned) {
	wanted := map[string][]int{}
	for i, f := range found.Found {
		wanted[f.blob] = append(wanted[f.blob], i)
	}
	for _, tip := range req.Out.Tips {
		if len(wanted) == 0 || req.Issue == "" {
			return
		}
		s.placeIn(req.Issue, tip, wanted, found)
	}
}

func (s *Scanner) placeIn(i checkpoint.Issue, tip string, wanted map[string][]int, found *Scanned) {
	c, err := s.chain.Walk(i, repo.LiveRef(i), plumbing.NewHash(tip), 0)
	if err != nil {
		return // the finding still has a path
	}
	seen := map[string]bool{}
	for _, l := range slices.Backward(c.Commits) {
		if len(wanted) == 0 {
			return
		}
		s.eachFile(l.Tree, "", seen, func(blob, path string) {
			for _, at := range wanted[blob] {
				found.Found[at].ID, found.Found[at].Path = l.ID, path
			}
			delete(wanted, blob)
		})
	}
}

// eachFile calls f for every file below a tree, except in previously visited trees.
func (s *Scanner) eachFile(tree plumbing.Hash, dir string, seen map[string]bool, f func(blob, path string)) {
	if seen[tree.String()] {
		return
	}
	seen[tree.String()] = true
	entries, err := trees.Read(s.repo.Objects, tree)
	if err != nil {
		return
	}
	for _, e := range entries {
		switch {
		case e.Mode == trees.ModeGitlink:
		case e.IsTree():
			s.eachFile(e.Hash, dir+e.Name+"/", seen, f)
		default:
			f(e.Hash.String(), dir+e.Name)
		}
	}
}
