package snapshot

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// git-lfs stores the content of large files beside git's objects, by the SHA-256 of the
// content. `git lfs prune` keeps the content of the current commit, of recent and of unpushed
// commits. It does not know the older checkpoints of a chain. So a save links the content of
// its changed files into a folder of this program, and a restore links it back.

// An LFSPointer names the content of a file that git-lfs stores.
type LFSPointer struct {
	Path string
	OID  string // SHA-256, in hex
	Size int64
}

// maxPointer is the maximum size of a pointer file.
const maxPointer = 1024

// lfsStorage returns the folder of git-lfs.
func (s *Capturer) lfsStorage() string {
	dir, _ := git.Last(s.repo.Config, "lfs.storage")
	switch {
	case dir == "":
		dir = filepath.Join(s.repo.Info.CommonDir, "lfs")
	case !filepath.IsAbs(dir):
		dir = filepath.Join(s.repo.Info.CommonDir, dir)
	}
	return filepath.Join(dir, "objects")
}

func (s *Capturer) keptContent() string {
	return filepath.Join(s.repo.Info.CommonDir, "git-checkpoint", "lfs")
}

// content returns the files for the content of a pointer: of git-lfs, and of this program.
func (s *Capturer) content(p LFSPointer) (stored, kept string) {
	name := filepath.Join(p.OID[:2], p.OID[2:4], p.OID)
	return filepath.Join(s.lfsStorage(), name), filepath.Join(s.keptContent(), name)
}

// Pointers returns the pointers of git-lfs in the files of a checkpoint that differ from its
// HEAD. The content of other files belongs to a commit.
func (s *Capturer) Pointers(c *chain.Checkpoint) ([]LFSPointer, error) {
	st, err := s.OpenSnapshot(c)
	if err != nil {
		return nil, err
	}
	targets, err := s.Targets(st)
	if err != nil {
		return nil, err
	}
	var found []LFSPointer
	seen := map[plumbing.Hash]bool{}
	for _, t := range targets {
		for _, side := range append([]contents.Side{t.WorkWant}, t.IndexWant[:]...) {
			if side.Hash.IsZero() || side.Mode == trees.ModeGitlink || seen[side.Hash] {
				continue
			}
			seen[side.Hash] = true
			if p, ok := s.pointer(side.Hash); ok {
				p.Path = t.Path
				found = append(found, p)
			}
		}
	}
	return found, nil
}

// pointer parses a blob as a pointer file.
func (s *Capturer) pointer(blob plumbing.Hash) (LFSPointer, bool) {
	kind, size, err := s.repo.Objects.Header(blob)
	if err != nil || kind != plumbing.BlobObject || size > maxPointer {
		return LFSPointer{}, false
	}
	data, err := trees.ReadAs(s.repo.Objects, plumbing.BlobObject, blob)
	if err != nil {
		return LFSPointer{}, false
	}
	return parsePointer(string(data))
}

// parsePointer parses the text of a pointer file.
func parsePointer(text string) (p LFSPointer, ok bool) {
	lines := strings.Split(text, "\n")
	if !strings.HasPrefix(lines[0], "version https://git-lfs.github.com/spec/") {
		return p, false
	}
	p.Size = -1
	for _, line := range lines[1:] {
		if oid, found := strings.CutPrefix(line, "oid sha256:"); found {
			p.OID = strings.TrimSpace(oid)
		} else if size, found := strings.CutPrefix(line, "size "); found {
			if n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64); err == nil {
				p.Size = n
			}
		}
	}
	sum, err := hex.DecodeString(p.OID)
	return p, err == nil && len(sum) == 32 && p.OID == strings.ToLower(p.OID) && p.Size >= 0
}

// KeepContent links the content of a checkpoint's pointers into the folder of this program,
// so that `git lfs prune` leaves it. It returns the paths whose content was not kept. Content
// that is not in this clone cannot be kept.
func (s *Capturer) KeepContent(c *chain.Checkpoint) (failed []string, err error) {
	if !fsutil.Exists(s.lfsStorage()) && !fsutil.Exists(s.keptContent()) {
		return nil, nil
	}
	pointers, err := s.Pointers(c)
	for _, p := range pointers {
		from, to := s.content(p)
		if hasSize(to, p.Size) || !hasSize(from, p.Size) {
			continue
		}
		e := s.repo.Objects.MakeDirs(filepath.Dir(to))
		if e == nil {
			e = linkContent(from, to)
		}
		if e != nil {
			failed, err = append(failed, p.Path), e
		}
	}
	return failed, err
}

// ReturnContent links the kept content of a checkpoint's pointers back into the folder of
// git-lfs, from which git's filter reads it.
func (s *Capturer) ReturnContent(c *chain.Checkpoint) error {
	if !fsutil.Exists(s.keptContent()) {
		return nil
	}
	pointers, err := s.Pointers(c)
	for _, p := range pointers {
		to, from := s.content(p)
		if !hasSize(from, p.Size) || hasSize(to, p.Size) {
			continue
		}
		if e := os.MkdirAll(filepath.Dir(to), 0o777); e != nil {
			return e
		}
		s.repo.Objects.Share(filepath.Dir(filepath.Dir(to)), filepath.Dir(to))
		if e := linkContent(from, to); e != nil {
			return e
		}
	}
	return err
}

// MissingContent returns the pointers of a checkpoint whose content is not in this clone.
func (s *Capturer) MissingContent(c *chain.Checkpoint) ([]LFSPointer, error) {
	pointers, err := s.Pointers(c)
	var missing []LFSPointer
	for _, p := range pointers {
		if stored, kept := s.content(p); p.Size > 0 && !hasSize(kept, p.Size) && !hasSize(stored, p.Size) {
			missing = append(missing, p)
		}
	}
	return missing, err
}

func hasSize(path string, size int64) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// linkContent creates a hard link, or a copy on another file system. git-lfs replaces its
// files and does not write into them.
func linkContent(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return fsutil.ReplaceFile(to, io.Reader(in), fsutil.ReplaceOptions{Temp: ".tmp-", Mode: 0o644, Sync: true})
}

// keptFor is the time for which content stays after no checkpoint names it any more: `undo`
// can bring the checkpoint back as long as git keeps reflog entries.
const keptFor = 90 * 24 * time.Hour

// LFSContent returns the ids of the content that git-lfs stores for changed files of
// checkpoints. It leaves out checkpoints that cannot be read.
func (s *Capturer) LFSContent(list []chain.Checkpoint) map[string]bool {
	ids := map[string]bool{}
	for i := range list {
		pointers, _ := s.Pointers(&list[i])
		for _, p := range pointers {
			ids[p.OID] = true
		}
	}
	return ids
}

// SweepContent removes kept content that no checkpoint names: the content in purged, or if
// purged is nil, content that was kept or needed by the last sweep more than keptFor ago. It
// reads the checkpoints only if there is such content.
func (s *Capturer) SweepContent(ctx context.Context, purged map[string]bool) error {
	var old []string
	err := filepath.WalkDir(s.keptContent(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return fsutil.IgnoreMissing(err)
		}
		if purged[d.Name()] || purged == nil && !fsutil.IsYounger(filepath.Dir(path), keptFor) {
			old = append(old, path)
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	needed, err := s.neededContent(ctx)
	if err != nil {
		return err
	}
	for _, path := range old {
		if needed[filepath.Base(path)] {
			_ = os.Chtimes(filepath.Dir(path), time.Time{}, time.Now())
			continue
		}
		if err := fsutil.IgnoreMissing(os.Remove(path)); err != nil {
			return err
		}
		os.Remove(filepath.Dir(path)) // fails unless empty
	}
	return nil
}

// neededContent returns the ids of the content that a checkpoint names. It fails if a
// checkpoint cannot be read.
func (s *Capturer) neededContent(ctx context.Context) (map[string]bool, error) {
	needed := map[string]bool{}
	for _, archived := range []bool{false, true} {
		issues, _, err := s.chain.Issues(ctx, archived)
		if err != nil {
			return nil, err
		}
		for _, issue := range issues {
			list := s.chain.List
			if archived {
				list = s.chain.Archived
			}
			l, err := list(ctx, issue, 0)
			if err != nil {
				return nil, err
			}
			for i := range l.Checkpoints {
				pointers, err := s.Pointers(&l.Checkpoints[i])
				if err != nil {
					return nil, fmt.Errorf("%s: %w", l.Checkpoints[i].Name(), err)
				}
				for _, p := range pointers {
					needed[p.OID] = true
				}
			}
		}
	}
	return needed, nil
}
