package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
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

const maxPointer = 1024

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

// in returns the file for the content of a pointer in a folder.
func (p LFSPointer) in(dir string) string { return filepath.Join(dir, p.OID[:2], p.OID[2:4], p.OID) }

// Pointers returns the pointers of git-lfs in the files of a checkpoint that differ from its
// HEAD. The content of other files belongs to a commit.
func (s *Capturer) Pointers(c *chain.Checkpoint) ([]LFSPointer, error) {
	st, err := s.TreesOf(c)
	if err != nil {
		return nil, err
	}
	var found []LFSPointer
	seen := map[plumbing.Hash]bool{}
	for _, sides := range [][2]plumbing.Hash{{st.Base, st.State}, {st.Base, st.Staged}, {plumbing.ZeroHash, st.Conflicts}} {
		changes, err := trees.Diff(s.repo.Objects, sides[0], sides[1])
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			if c.New.Hash.IsZero() || c.New.Mode == trees.ModeGitlink || seen[c.New.Hash] {
				continue
			}
			seen[c.New.Hash] = true
			if p, ok := s.pointer(c.New.Hash); ok {
				p.Path = c.Path
				found = append(found, p)
			}
		}
	}
	return found, nil
}

func (s *Capturer) pointer(blob plumbing.Hash) (LFSPointer, bool) {
	kind, size, err := s.repo.Objects.Header(blob)
	if err != nil || kind != plumbing.BlobObject || size > maxPointer {
		return LFSPointer{}, false
	}
	data, _ := trees.ReadAs(s.repo.Objects, plumbing.BlobObject, blob)
	return parsePointer(string(data))
}

// pointerFile matches a pointer file. Its keys are sorted.
var pointerFile = document.Pattern(`^version https://git-lfs\.github\.com/spec/.*\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]+)(?:\n|$)`)

// parsePointer parses the text of a pointer file.
func parsePointer(text string) (p LFSPointer, ok bool) {
	m := pointerFile().FindStringSubmatch(text)
	if m == nil {
		return p, false
	}
	size, err := strconv.ParseInt(m[2], 10, 64)
	return LFSPointer{OID: m[1], Size: size}, err == nil
}

// KeepContent links the content of a checkpoint's pointers into the folder of this program,
// so that `git lfs prune` leaves it. It returns the paths whose content was not kept. Content
// that is not in this clone cannot be kept.
func (s *Capturer) KeepContent(c *chain.Checkpoint) (failed []string, err error) {
	return s.linkContent(c, s.lfsStorage(), s.keptContent())
}

// ReturnContent links the kept content of a checkpoint's pointers back into the folder of
// git-lfs, from which git's filter reads it.
func (s *Capturer) ReturnContent(c *chain.Checkpoint) error {
	_, err := s.linkContent(c, s.keptContent(), s.lfsStorage())
	return err
}

// linkContent creates hard links, or copies on another file system, of a checkpoint's content. git-lfs
// replaces its files and does not write into them.
func (s *Capturer) linkContent(c *chain.Checkpoint, from, to string) (failed []string, err error) {
	if !fsutil.Exists(from) {
		return nil, nil
	}
	pointers, err := s.Pointers(c)
	for _, p := range pointers {
		old, new := p.in(from), p.in(to)
		if hasSize(new, p.Size) || !hasSize(old, p.Size) {
			continue
		}
		dir := filepath.Dir(new)
		e := os.MkdirAll(dir, 0o777)
		if s.repo.Objects.Share(to, filepath.Dir(dir), dir); e == nil {
			e = linkFile(old, new)
		}
		if e != nil {
			failed, err = append(failed, p.Path), e
		}
	}
	return failed, err
}

// MissingContent returns the pointers of a checkpoint whose content is not in this clone.
func (s *Capturer) MissingContent(c *chain.Checkpoint) ([]LFSPointer, error) {
	pointers, err := s.Pointers(c)
	var missing []LFSPointer
	for _, p := range pointers {
		if p.Size > 0 && !hasSize(p.in(s.keptContent()), p.Size) && !hasSize(p.in(s.lfsStorage()), p.Size) {
			missing = append(missing, p)
		}
	}
	return missing, err
}

func hasSize(path string, size int64) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

func linkFile(from, to string) error {
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return fsutil.ReplaceFile(to, in, fsutil.ReplaceOptions{Temp: ".tmp-", Mode: 0o644, Sync: true})
}

// keptFor is the time for which content stays after no checkpoint names it any more: `undo`
// can bring the checkpoint back as long as git keeps reflog entries.
const keptFor = 90 * 24 * time.Hour

// LFSContent returns the ids of the content that git-lfs stores for changed files of
// checkpoints, and the error about the last of those that cannot be read.
func (s *Capturer) LFSContent(list []chain.Checkpoint) (ids map[string]bool, err error) {
	ids = map[string]bool{}
	for i := range list {
		pointers, e := s.Pointers(&list[i])
		if e != nil {
			err = fmt.Errorf("%s: %w", list[i].Name(), e)
		}
		for _, p := range pointers {
			ids[p.OID] = true
		}
	}
	return ids, err
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
	needed := map[string]bool{}
	lists := map[bool]func(context.Context, checkpoint.Issue, int) (*chain.List, error){false: s.chain.List, true: s.chain.Archived}
	for archived, list := range lists {
		issues, _, err := s.chain.Issues(ctx, archived)
		if err != nil {
			return err
		}
		for _, issue := range issues {
			l, err := list(ctx, issue, 0)
			if err != nil {
				return err
			}
			ids, err := s.LFSContent(l.Checkpoints)
			if err != nil {
				return err
			}
			maps.Copy(needed, ids)
		}
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
