package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A readFile is a path that git is about to read.
type readFile struct {
	path string
	size int64
}

// vet decides about each path of the list. It returns the files that git reads, missing ones first,
// because a file may be in place of a missing directory. hidden are paths below a symlink and
// directories, which git does not read.
func (t *taker) vet(l fileList) (hidden []string, files []readFile) {
	var come []readFile
	links, absent := chain.SetOf(t.user.Links), chain.SetOf(t.user.Skip)
	unruled := t.unreadable(l.text)
	find := &trees.Finder{Reader: t.o.reader}
	isTracked := func(name string) bool {
		mode, _, err := find.Lookup(t.Staged, name)
		return err == nil && mode != 0 || t.unmerged[name]
	}
	for _, name := range l.changed {
		info, err := t.lstat(name)
		if links[name] && (err != nil || info.IsDir()) {
			continue // submodules says it
		}
		f := t.boundary.Find(name)
		if err == nil && info.IsDir() && f.Reason == "" {
			f = t.boundary.Find(name + "/x") // a repository in place of a file
		}
		switch {
		case f.Reason != "":
			t.skipOnce(f.Path, f.Reason)
			continue
		case absent[name] && err == nil && info.IsDir() && !slices.ContainsFunc(l.others, func(other string) bool { return strings.HasPrefix(other, name+"/") }):
			continue // likewise
		case err == errNotDir, err == nil && info.IsDir(): // git keeps an unmerged file in place of a directory
			hidden = append(hidden, name)
			continue
		case absent[name] && isGone(err):
			continue // git treats it as unchanged
		case isGone(err):
			files = append(files, readFile{path: name})
			continue
		}
		t.vetFile(name, info, err, isTracked, &come)
	}
	var names, untracked []string // staged or committed since the last save, and neither
	for _, name := range l.others {
		if isTracked(name) {
			names = append(names, name)
		} else {
			untracked = append(untracked, name)
		}
	}
	limit := cmp.Or(t.req.MaxUntracked, DefaultMaxUntracked)
	untracked, full := leaveOutFull(untracked, limit, t.req.hadUntracked)
	for _, dir := range full {
		t.skip(dir, 0, checkpoint.TooManyFiles(limit))
	}
	for _, name := range append(names, untracked...) {
		if slices.ContainsFunc(unruled, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			t.skip(name, 0, checkpoint.UnreadRules)
			continue
		}
		info, err := t.lstat(name)
		if dir, ok := strings.CutSuffix(name, "/"); ok && links[dir] {
			continue // a submodule, missing in the own index
		}
		if f := t.boundary.Find(name); f.Reason != "" {
			t.skipOnce(f.Path, f.Reason)
			continue
		}
		t.vetFile(name, info, err, isTracked, &come)
	}
	return hidden, append(files, come...)
}

// vetFile adds a file to come, or skips it.
func (t *taker) vetFile(name string, info fs.FileInfo, err error, tracked func(string) bool, come *[]readFile) {
	var mode uint32
	var size int64
	if err == nil {
		mode, size = trees.ModeOf(info), info.Size()
	}
	limit := cmp.Or(max(t.req.MaxFile, 0), DefaultMaxFile)
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG):
		t.skip(name, 0, checkpoint.TooLong)
	case err != nil || mode != trees.ModeSymlink && mode != 0 && !t.canOpen(name):
		t.skip(name, size, checkpoint.NotReadable)
	case mode == 0:
		t.skip(name, 0, "neither a file nor a symlink")
	case trees.CheckPath(name, mode) != nil:
		t.skip(name, size, "a name that git refuses")
	case size > limit && !t.named[name] && !tracked(name):
		t.skip(name, size, checkpoint.LargerThan(limit))
	case size-t.sizes[name] > max(t.room, 0):
		t.skip(name, size, checkpoint.OverSize)
	default:
		more := max(size-t.sizes[name], 0) // staged bytes count already
		t.room -= more
		t.read += more
		*come = append(*come, readFile{name, size})
	}
}

func (t *taker) canOpen(name string) bool {
	f, err := os.Open(filepath.Join(t.repo.Info.Root, filepath.FromSlash(name)))
	if err == nil {
		f.Close()
	}
	return err == nil
}

// lstat is os.Lstat for a path of the worktree. It fails with errNotDir if a parent is a symlink
// or a file, because git does not follow symlinks.
func (t *taker) lstat(name string) (fs.FileInfo, error) {
	name = strings.TrimSuffix(name, "/")
	if err := t.parent(path.Dir(name)); err != nil {
		return nil, err
	}
	return os.Lstat(filepath.Join(t.repo.Info.Root, filepath.FromSlash(name)))
}

func (t *taker) parent(dir string) error {
	if dir == "." {
		return nil
	}
	err, known := t.dirs[dir]
	if known {
		return err
	}
	if err = t.parent(path.Dir(dir)); err == nil {
		var info fs.FileInfo
		if info, err = os.Lstat(filepath.Join(t.repo.Info.Root, filepath.FromSlash(dir))); err == nil && !info.IsDir() {
			err = errNotDir
		}
	}
	t.dirs[dir] = err
	return err
}

// unreadable parses git's warnings about directories that it cannot read, which are skipped, and
// about ignore files that it cannot read. It returns the directories of the latter: what git lists
// there may be ignored.
func (t *taker) unreadable(text string) (hidden []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if dir, ok := strings.CutPrefix(line, "warning: could not open directory '"); ok {
			reason := checkpoint.NotReadable
			end := strings.LastIndex(dir, "': ")
			if end >= 0 {
				dir = dir[:end]
			}
			if end < 0 || len(dir) >= longPath { // git cuts its messages at 4096 bytes
				reason = checkpoint.TooLong
				dir = dir[:strings.LastIndexByte(dir, '/')+1]
			}
			t.skip(strings.TrimSuffix(dir, "/")+"/", 0, reason)
		} else if m := cannotAccess().FindStringSubmatch(line); m != nil {
			hidden = append(hidden, m[1])
		} else if isWarning(line) {
			t.skip(".", 0, "git: "+line)
		}
	}
	return hidden
}

// cannotAccess matches git's warning about an ignore file that it cannot read.
var cannotAccess = document.Pattern(`^warning: unable to access '(|.*/)\.gitignore': `)

// longPath is a length of paths that most systems refuse (PATH_MAX of Linux).
const longPath = 4000

// failedFilter matches what git prints about a filter that failed while it compared a file.
var failedFilter = document.Pattern(`(?m)^error: external filter .*\n?`)

// harmless matches what git prints about files that it stores completely.
var harmless = document.Pattern(`(?i)will be replaced by|in the working copy of|is deprecated|adding embedded git repository|^warning: unable to access '.*/(attributes|config|ignore)'`)

// isWarning reports whether git's line may mean that the list is incomplete.
func isWarning(line string) bool {
	return (strings.HasPrefix(line, "warning: ") || strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "fatal: ")) && !harmless().MatchString(line)
}

// skip records a path that is left out. Beyond MaxListed, paths are only counted, so that a record
// does not list a whole node_modules directory.
func (t *taker) skip(name string, size int64, reason string) {
	if t.required[name] && t.failed == nil {
		t.failed = fmt.Errorf("artifact %q: %s", name, reason)
	}
	if name != "." {
		t.left = append(t.left, name)
	}
	if t.listed++; t.listed <= MaxListed {
		t.Facts.Skipped = append(t.Facts.Skipped, checkpoint.Skipped{Path: name, Size: size, Reason: reason})
	}
}

// skipOnce is skip for a repository, of which many paths may be listed, and for a submodule. Their
// paths are not carried: the tree has their staged entries.
func (t *taker) skipOnce(name, reason string) {
	if !slices.ContainsFunc(t.Facts.Skipped, func(f checkpoint.Skipped) bool { return f.Path == name }) {
		t.skip(name, 0, reason)
		t.left = t.left[:len(t.left)-1]
	}
}

// refused returns those of changed files that servers with receive.fsckObjects reject, with the
// reasons. Such a server would also reject every later checkpoint of the chain.
func (s *Capturer) refused(ctx context.Context, r trees.Reader, changes []trees.Change) (list []checkpoint.Skipped, err error) {
	for _, c := range changes {
		name := path.Base(c.Path)
		if c.New.Hash.IsZero() || c.New.Mode == trees.ModeGitlink || !trees.IsChecked(name) {
			continue
		}
		content, err := trees.ReadAs(r, plumbing.BlobObject, c.New.Hash)
		if err != nil {
			return nil, err
		}
		why, err := s.receive(ctx, name, c.New.Mode, content)
		if err != nil {
			return nil, fmt.Errorf("check %q: %w", c.Path, err)
		}
		if why != "" {
			list = append(list, checkpoint.Skipped{Path: c.Path, Reason: why})
		}
	}
	return list, nil
}

// receive makes git receive a file into a temporary folder of objects, as a server does. It returns
// git's reason to reject the file, or "".
func (s *Capturer) receive(ctx context.Context, name string, mode uint32, content []byte) (why string, err error) {
	dir, err := os.MkdirTemp("", "git-checkpoint-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	g := s.repo.Git.With("GIT_OBJECT_DIRECTORY=" + dir)
	blob, err := g.Pipe(ctx, content, "hash-object", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	tree, err := g.Pipe(ctx, fmt.Appendf(nil, "%o blob %s\t%s\x00", mode, strings.TrimSpace(string(blob)), name), "mktree", "-z")
	if err != nil {
		return "", err
	}
	pack, err := g.Pipe(ctx, tree, "pack-objects", "-q", "--revs", "--stdout")
	if err != nil {
		return "", err
	}
	_, err = g.Pipe(ctx, pack, "index-pack", "--strict", "--stdin")
	var failed *git.CommandError
	if errors.As(err, &failed) && strings.Contains(failed.Stderr, "fsck error") {
		_, said, _ := strings.Cut(failed.Stderr, "error: object ")
		_, why, _ = strings.Cut(firstLine(said), ": ") // after the hash
		return cmp.Or(why, failed.Error()), nil
	}
	return "", err
}
