package snapshot

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/convert"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// worktree adds tracked files that differ from the index, and records deletions. The
// list may contain files with unchanged content. Submodules are compared by commit only.
func (c *capture) worktree() error {
	list := <-c.changed
	if list.err == nil && len(c.cache.assumed) > 0 {
		list.err = c.openRoot()
	}
	if list.err == nil && !c.cache.holds(c.hasher) {
		c.cache.forget()
		list.files, list.err = c.changedFiles(c.ctx)
	}
	if list.err != nil {
		return list.err
	}
	wanted := make([]candidate, 0, len(list.files))
	for _, d := range list.files {
		if d.Old.Mode == trees.ModeGitlink {
			if d.New.Mode == trees.ModeGitlink {
				c.skip(checkpoint.InWorktree, d.Path, 0, checkpoint.MovedSubmodule)
			}
			continue
		}
		if c.skipForeign(checkpoint.InWorktree, d.Path) {
			continue
		}
		if d.left != "" {
			c.skip(checkpoint.InWorktree, d.Path, 0, d.left)
			continue
		}
		if d.New.Mode == 0 {
			// Git lists the files of an unreadable directory as deleted too. A directory with
			// the name of a file takes its place.
			info, err := os.Lstat(filepath.Join(c.Root, filepath.FromSlash(d.Path)))
			if (err != nil || !info.IsDir()) && !isGone(err) {
				c.skip(checkpoint.InWorktree, d.Path, 0, checkpoint.NotReadable)
				continue
			}
			c.snap.Facts.Deleted = append(c.snap.Facts.Deleted, d.Path)
			c.snap.addFile(d.Path, "deleted", false)
			continue
		}
		wanted = append(wanted, candidate{path: d.Path, mode: d.New.Mode, known: d.Old, found: d.found, status: d.status, maxSize: noLimit, class: checkpoint.InWorktree})
	}
	files, err := c.take(wanted)
	if err != nil {
		return err
	}
	c.add("worktree", files)
	return nil
}

// A rawChange is one change of `git diff-files --raw`.
type rawChange struct {
	trees.Change
	status string
	left   string    // reason why the file is left out, or ""
	found  foundFile // zero if git has compared it
}

// parseRaw parses alternating fields: ":<old mode> <new mode> <old hash> <new hash>
// <letter>" and path.
func parseRaw(fields []string) ([]rawChange, error) {
	words := map[string]string{"M": "modified", "A": "added", "T": "typechange", "D": "deleted"}
	var changes []rawChange
	for i := 0; i+1 < len(fields); i += 2 {
		info := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(info) != 5 {
			return nil, fmt.Errorf("git diff-files said %q", fields[i])
		}
		var modes [2]uint64
		for n := range modes {
			var err error
			if modes[n], err = strconv.ParseUint(info[n], 8, 32); err != nil {
				return nil, fmt.Errorf("git diff-files said %q", fields[i])
			}
		}
		changes = append(changes, rawChange{
			Change: trees.Change{
				Path: fields[i+1],
				Old:  trees.Entry{Mode: uint32(modes[0]), Hash: plumbing.NewHash(info[2])},
				New:  trees.Entry{Mode: uint32(modes[1])},
			},
			status: words[info[4]], // "" for "U": conflicts are listed already
		})
	}
	return changes, nil
}

// untracked adds untracked files, except ignored files.
func (c *capture) untracked() error {
	list := <-c.listing.untracked
	if list.err != nil {
		return list.err
	}
	c.snap.Facts.Ignores = c.ignores(c.listing.ignored)
	wanted := make([]candidate, 0, len(list.files))
	for _, f := range list.files {
		if f.left != "" {
			c.skip(checkpoint.InUntracked, f.path, 0, f.left)
			continue
		}
		if c.skipForeign(checkpoint.InUntracked, f.path) {
			continue
		}
		wanted = append(wanted, candidate{path: f.path, found: f.found, status: "untracked", maxSize: c.maxFile, class: checkpoint.InUntracked})
	}
	files, err := c.take(wanted)
	if err != nil {
		return err
	}
	c.add("untracked", files)
	return nil
}

// noLimit exceeds any file size.
const noLimit = 1 << 62

// A candidate is a worktree path to capture.
type candidate struct {
	path    string
	mode    uint32      // git's mode, 0 if unknown
	known   trees.Entry // staged entry; a file equal to it is not stored
	status  string      // status in files_modified, "" omits the file
	maxSize int64
	must    bool // skipping the file is an error
	class   string
	size    int64
	found   foundFile
	key     uint64 // of the stat cache
	hash    plumbing.Hash
	cached  bool // hash is from the stat cache
}

// git returns a git command that runs at the root.
func (s *Source) git() git.Git {
	g := s.Git
	g.Dir = s.Root
	return g
}

// openRoot opens the worktree before the first file is taken.
func (c *capture) openRoot() (err error) {
	if c.root != nil {
		return nil
	}
	if c.root, err = os.OpenRoot(c.Root); err != nil {
		return err
	}
	c.hasher = convert.New(c.Git, c.Config, c.CommonDir, c.root)
	c.hasher.Staged = c.stagedAttributes
	c.known = knownBlobs{cache: c.cache, hasher: c.hasher, dirs: newRealDirs(c.cache.root)}
	return nil
}

// take stores files as git add would, and records skipped files.
func (c *capture) take(wanted []candidate) ([]trees.FileEntry, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	if err := c.openRoot(); err != nil {
		return nil, err
	}
	looked := wanted[:0]
	for _, w := range wanted {
		if reason := c.look(&w); reason == "" {
			looked = append(looked, w)
		} else if err := c.leave(w, w.size, reason); err != nil {
			return nil, err
		}
	}
	if err := c.hash(looked); err != nil {
		return nil, err
	}
	var through []int // files that git has to store because of filters
	taken := make([]trees.FileEntry, 0, len(looked))
	for _, w := range looked {
		if (trees.Entry{Mode: w.mode, Hash: w.hash}) == w.known {
			continue
		}
		f := trees.FileEntry{Path: w.path, Mode: w.mode, Hash: w.hash}
		reason, filtered := checkpoint.OutOfTime, false
		if w.cached || !c.late() {
			reason, filtered = c.store(w, &f)
		}
		if reason != "" {
			if err := c.leave(w, w.size, reason); err != nil {
				return nil, err
			}
			continue
		}
		if filtered {
			through = append(through, len(taken))
		}
		if w.status != "" {
			c.snap.addFile(f.Path, w.status, false)
		}
		taken = append(taken, f)
	}
	return taken, c.filter(taken, through)
}

func (c *capture) leave(w candidate, size int64, reason string) error {
	if w.must {
		return fmt.Errorf("artifact %q: %s", w.path, reason)
	}
	c.skip(w.class, w.path, size, reason)
	return nil
}

// look sets mode and size of a file, and its blob if the stat cache knows it. It returns the
// reason to skip the file, or "".
func (c *capture) look(w *candidate) (reason string) {
	mode, known := c.findCached(w)
	if !known {
		info, err := c.root.Lstat(filepath.FromSlash(w.path))
		if err != nil {
			return checkpoint.NotReadable
		}
		mode, w.size = trees.ModeOf(info), info.Size()
	}
	if mode == trees.ModeExec && !c.fileMode() {
		mode = trees.ModeFile
	}
	fits := w.mode == trees.ModeFile || w.mode == trees.ModeExec || w.mode == trees.ModeSymlink && !c.symlinks()
	if mode == 0 || mode == trees.ModeSymlink || !fits {
		w.mode = mode
	}
	switch {
	case w.mode == 0:
		w.size = 0
		return "neither a file nor a symlink"
	case trees.CheckPath(w.path, w.mode) != nil:
		return "a name that git refuses"
	case w.size > w.maxSize:
		return checkpoint.LargerThan(w.maxSize)
	}
	return ""
}

// findCached sets size and blob of a regular file that the stat cache knows, and returns its
// mode. It returns false if the file has to be read.
func (c *capture) findCached(w *candidate) (mode uint32, ok bool) {
	if w.found.mode == 0 {
		w.found = c.known.dirs.find(w.path)
	}
	if w.found.mode == 0 {
		return 0, false
	}
	key, hash := c.known.find(w.path, w.found, w.known.Hash)
	w.key = key
	if hash.IsZero() || c.Partial && hash != w.known.Hash && !c.k.Has(hash) {
		return 0, false
	}
	w.hash, w.size, w.cached = hash, int64(w.found.stat.Size), true
	return uint32(w.found.mode), true
}

// fileMode reports whether git uses executable bits in this repository.
func (s *Source) fileMode() bool {
	value, ok := git.Last(s.Config, "core.filemode")
	return !ok || git.Bool(value)
}

// symlinks reports whether git creates symlinks in this repository. Otherwise a regular file
// contains the target of a symlink.
func (s *Source) symlinks() bool {
	value, ok := git.Last(s.Config, "core.symlinks")
	return !ok || git.Bool(value)
}

// store adds an unfiltered file to the sink. If a file needs filters, store returns
// filtered and git stores the file later. The blob of a cached file is stored already: if it
// is not, the save fails with ErrObjectsGone, and repeats without the cache.
func (c *capture) store(w candidate, f *trees.FileEntry) (reason string, filtered bool) {
	if f.Hash.IsZero() {
		return "not readable", false
	}
	if w.size > c.room {
		return checkpoint.OverSize, false
	}
	var data []byte
	if !w.cached {
		var err error
		if name := filepath.FromSlash(f.Path); f.Mode == trees.ModeSymlink {
			data, err = linkTarget(c.root, name)
		} else {
			data, err = c.root.ReadFile(name)
		}
		if err != nil {
			return "not readable", false
		}
	}
	c.room -= w.size
	c.snap.Size += w.size
	switch {
	case w.cached:
		c.k.Keep(f.Hash)
	case f.Mode != trees.ModeSymlink && plumbing.ComputeHash(plumbing.BlobObject, data) != f.Hash:
		return "", true
	default:
		f.Hash = c.k.Add(plumbing.BlobObject, data)
	}
	return "", false
}

// linkTarget returns the target of a symlink, which a regular file contains if git creates no
// symlinks.
func linkTarget(root *os.Root, name string) ([]byte, error) {
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
		return root.ReadFile(name)
	}
	target, err := root.Readlink(name)
	return []byte(target), err
}

// hash sets blob hashes: symlinks by target, regular files after git's clean filters. It adds
// files without filters to the stat cache.
func (c *capture) hash(files []candidate) error {
	var asked []int
	var paths []string
	for i := range files {
		w := &files[i]
		if w.cached {
			continue
		}
		if w.mode == trees.ModeSymlink {
			if target, err := linkTarget(c.root, filepath.FromSlash(w.path)); err == nil {
				w.hash = plumbing.ComputeHash(plumbing.BlobObject, target)
			}
			continue
		}
		c.cache.tick()
		if w.hash = c.hasher.Plain(w.path); w.hash.IsZero() {
			asked, paths = append(asked, i), append(paths, w.path)
		} else {
			c.remember(w)
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	hashes, err := c.hasher.Converted(c.ctx, paths)
	if err != nil {
		return err
	}
	for n, i := range asked {
		files[i].hash = hashes[n]
		if c.hasher.IsContent(paths[n], hashes[n]) {
			c.remember(&files[i])
		}
	}
	return nil
}

func (c *capture) remember(w *candidate) {
	if w.found.mode != 0 && w.size == int64(w.found.stat.Size) {
		c.cache.add(w.path, w.found.stat, w.key, w.hash)
	}
}

// stagedAttributes returns a staged attributes file, nil if there is none.
func (c *capture) stagedAttributes(file string) ([]byte, error) {
	if c.cache.compared && !c.cache.attributes[file] {
		return nil, nil // saves the read of a tree for each directory
	}
	mode, hash, err := c.staged.Lookup(c.snap.Staged, file)
	if err != nil || mode == 0 {
		return nil, err
	}
	return trees.ReadAs(c.k, plumbing.BlobObject, hash)
}

// filter lets git store files that need clean filters.
func (c *capture) filter(files []trees.FileEntry, which []int) error {
	var flags []string
	if !c.dry {
		flags = []string{"-w"}
	}
	batch := make([]string, len(which))
	for n, i := range which {
		batch[n] = files[i].Path
	}
	hashes, err := convert.Ask(c.ctx, c.git(), batch, flags...)
	if err != nil {
		return err
	}
	for n, i := range which {
		if hashes[n].IsZero() {
			return fmt.Errorf("%q: git could not store it", files[i].Path)
		}
		files[i].Hash = hashes[n]
		c.k.Keep(hashes[n])
	}
	return nil
}

// artifacts adds named files, including ignored files, and readable files of kept.
func (c *capture) artifacts(names, kept []string) error {
	if len(names)+len(kept) == 0 {
		return nil
	}
	if err := c.openRoot(); err != nil {
		return err
	}
	var wanted []candidate
	known := map[string]bool{}
	for _, name := range names {
		clean, err := checkArtifact(c.root, name)
		if err != nil {
			return fmt.Errorf("artifact %q: %w", name, err)
		}
		if f := c.Boundary.Find(clean); f.Reason != "" {
			return fmt.Errorf("artifact %q: %q is %s", name, f.Path, f.Reason)
		}
		if !known[clean] {
			wanted = append(wanted, candidate{path: clean, maxSize: noLimit, must: true, class: checkpoint.InUntracked})
		}
		known[clean] = true
	}
	for _, name := range kept {
		if clean, err := checkArtifact(c.root, name); err == nil && !known[clean] && !c.skipForeign(checkpoint.InUntracked, clean) {
			wanted, known[clean] = append(wanted, candidate{path: clean, maxSize: noLimit, class: checkpoint.InUntracked}), true
		}
	}
	files, err := c.take(wanted)
	if err != nil {
		return err
	}
	c.add("artifacts", files)
	return nil
}

// checkArtifact returns the clean path of an artifact below the root. It returns an error
// if a restore could not write a file to that path.
func checkArtifact(root *os.Root, name string) (string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if path.IsAbs(clean) || filepath.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", errors.New("outside the worktree")
	}
	for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(filepath.FromSlash(dir)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return "", fmt.Errorf("%q is a symlink", dir)
		}
	}
	info, err := root.Lstat(filepath.FromSlash(clean))
	if err != nil {
		return "", errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	return clean, trees.CheckPath(clean, trees.ModeFile)
}

// hasher returns a hasher that computes blobs of worktree files as git would.
func (s *Capturer) hasher(root *os.Root) *convert.Hasher {
	return convert.New(s.repo.Git, s.repo.Config, s.repo.Info.CommonDir, root)
}
