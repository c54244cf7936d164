package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
)

// A listing holds the lists of the changed and the untracked files. Both are made while
// this process reads the index.
type listing struct {
	changed   <-chan listed[rawChange]     // nil if the request does not need the list
	untracked <-chan listed[untrackedPath] // likewise
	ignored   []string                     // .gitignore files that git ignores, once untracked has its list
	ctx       context.Context
	cancel    context.CancelCauseFunc
	end       time.Time // end of the time limit, or zero
}

// listed is a list or an error.
type listed[T any] struct {
	files []T
	err   error
}

// errBudget ends a listing whose time limit has passed.
var errBudget = errors.New("time limit")

// list starts the lists of a request.
func (s *Source) list(ctx context.Context, req Request) *listing {
	l := &listing{}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	if req.Untracked { // first, because it takes longer
		l.untracked = s.listUntracked(l, req)
	}
	if req.Worktree {
		l.changed = start(l.ctx, s.changedFiles)
	}
	return l
}

// An untrackedPath is an untracked file, or a directory that is left out as a whole.
type untrackedPath struct {
	path  string
	left  string // reason for leaving the path out, empty if it is captured
	found foundFile
}

// listUntracked starts git before it returns. In a goroutine, git could start milliseconds
// later, because other goroutines use the processors.
func (s *Source) listUntracked(l *listing, req Request) <-chan listed[untrackedPath] {
	read := s.readOthers(l.ctx, req.Others)
	return start(l.ctx, func(ctx context.Context) ([]untrackedPath, error) {
		o, err := read(ctx)
		if err != nil {
			return nil, err
		}
		l.ignored = slices.Clone(o.ignored)
		list := leaveOutFull(o.others, req)
		dirs := newRealDirs(s.cache.root)
		defer dirs.close()
		for i := range list {
			list[i].found = dirs.find(list[i].path)
		}
		for _, m := range cannotOpen.FindAllStringSubmatch(o.warnings, -1) {
			list = append(list, untrackedPath{path: strings.TrimSuffix(m[1], "/") + "/", left: checkpoint.NotReadable})
		}
		return list, nil
	})
}

// An Others keeps the list of the untracked files. A command that takes several snapshots within
// seconds passes the same Others, so that git lists the files once.
type Others struct {
	mutex sync.Mutex
	list  *otherFiles
}

// otherFiles is git's list of the untracked files.
type otherFiles struct {
	others   []string
	ignored  []string // .gitignore files that git ignores
	warnings string   // of git
}

// readOthers starts git, unless known has the list already. The result waits for the list.
func (s *Source) readOthers(ctx context.Context, known *Others) func(context.Context) (*otherFiles, error) {
	if known != nil {
		known.mutex.Lock()
		defer known.mutex.Unlock()
		if list := known.list; list != nil {
			return func(context.Context) (*otherFiles, error) { return list, nil }
		}
	}
	run, err := s.git().Start(ctx, listsIgnoreFiles...)
	return func(ctx context.Context) (*otherFiles, error) {
		if err != nil {
			return nil, err
		}
		out, err := run.Finish(nil)
		if err != nil {
			return nil, err
		}
		list := &otherFiles{warnings: run.Warnings()}
		if list.others, list.ignored, err = s.splitIgnored(ctx, git.Fields(out)); err == nil && known != nil {
			known.mutex.Lock()
			defer known.mutex.Unlock()
			known.list = list
		}
		return list, err
	}
}

// cannotOpen matches git's warning about a directory that it cannot read.
var cannotOpen = regexp.MustCompile(`(?m)^warning: could not open directory '(.*)': `)

// DefaultMaxUntracked limits the new untracked files of one directory.
const DefaultMaxUntracked = 10_000

// leaveOutFull replaces the files of each directory with too many of them by the directory,
// the deepest directories first. A directory with files in an earlier checkpoint stays.
func leaveOutFull(paths []string, req Request) []untrackedPath {
	list := make([]untrackedPath, len(paths))
	for i, name := range paths {
		list[i].path = name
	}
	limit := cmp.Or(req.MaxUntracked, DefaultMaxUntracked)
	if len(paths) <= limit {
		return list
	}
	files := map[string]int{}
	count := func(below string, n int) { // for each directory above a path
		for dir := path.Dir(below); dir != "."; dir = path.Dir(dir) {
			files[dir] += n
		}
	}
	for _, name := range paths {
		count(name, 1)
	}
	dirs := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(strings.Count(b, "/")-strings.Count(a, "/"), strings.Compare(a, b))
	})
	for _, dir := range dirs {
		if files[dir] <= limit || req.hadUntracked != nil && req.hadUntracked(dir) {
			continue
		}
		count(dir, -files[dir])
		list = slices.DeleteFunc(list, func(f untrackedPath) bool { return strings.HasPrefix(f.path, dir+"/") })
		list = append(list, untrackedPath{path: dir + "/", left: checkpoint.TooManyFiles(limit)})
	}
	return list
}

func start[T any](ctx context.Context, list func(context.Context) ([]T, error)) <-chan listed[T] {
	done := make(chan listed[T], 1)
	go func() {
		files, err := list(ctx)
		done <- listed[T]{files, err}
	}()
	return done
}

// late reports whether the time limit has passed, also if the timer did not run yet on busy
// processors.
func (l *listing) late() bool {
	return context.Cause(l.ctx) == errBudget || !l.end.IsZero() && time.Now().After(l.end)
}

// An indexStamp identifies a version of the index file. Git replaces the file at each
// change.
type indexStamp struct{ info os.FileInfo } // nil if there is no index

func stampOf(path string) indexStamp {
	info, err := os.Stat(path)
	if err != nil {
		return indexStamp{}
	}
	return indexStamp{info}
}

func (s indexStamp) equal(t indexStamp) bool {
	if s.info == nil || t.info == nil {
		return s.info == t.info
	}
	return os.SameFile(s.info, t.info) && s.info.Size() == t.info.Size() && s.info.ModTime().Equal(t.info.ModTime())
}

// ignoreFile is the name of the files with git's rules in the worktree.
const ignoreFile = ".gitignore"

// listsIgnoreFiles are arguments of git ls-files --others that list .gitignore files even if
// git ignores them. Git reads their rules all the same.
var listsIgnoreFiles = []string{"ls-files", "--others", "--exclude-standard", "--exclude=!" + ignoreFile, "-z"}

// Ignores returns a digest of git's rules for ignored files that a snapshot does not have:
// info/exclude, the file of core.excludesFile, and .gitignore files that git ignores.
func (s *Capturer) Ignores(ctx context.Context) (string, error) {
	w := &Source{Git: s.repo.Git, Config: s.repo.Config, CommonDir: s.repo.Info.CommonDir, Root: s.repo.Info.Root}
	out, err := w.git().Output(ctx, append(slices.Clone(listsIgnoreFiles), "--", ":(glob)**/"+ignoreFile)...)
	if err != nil {
		return "", fmt.Errorf("list ignored %s files: %w", ignoreFile, err)
	}
	_, ignored, err := w.splitIgnored(ctx, git.Fields(out))
	return w.ignores(ignored), err
}

func (s *Capturer) site() *Source {
	return &Source{Git: s.repo.Git, Config: s.repo.Config, CommonDir: s.repo.Info.CommonDir, Root: s.repo.Info.Root}
}

// ignores returns the digest of Ignores. ignored has the paths of the .gitignore files that git
// ignores.
func (s *Source) ignores(ignored []string) string {
	sum := sha256.New()
	user, _ := git.UserFile(s.Config, "core.excludesfile", "ignore")
	files := []string{filepath.Join(s.CommonDir, "info", "exclude"), user}
	slices.Sort(ignored)
	for _, name := range ignored {
		fmt.Fprintf(sum, "%q\n", name)
		files = append(files, filepath.Join(s.Root, filepath.FromSlash(name)))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		fmt.Fprintf(sum, "%d %t\n", len(data), err == nil && len(data) > 0)
		sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// splitIgnored splits a list of listsIgnoreFiles into the files that git does not ignore, and
// the .gitignore files that it ignores. It starts git only if the list has a .gitignore file.
func (s *Source) splitIgnored(ctx context.Context, listed []string) (others, ignored []string, err error) {
	var doubtful []string
	isDoubtful := func(name string) bool { return slices.Contains(strings.Split(name, "/"), ignoreFile) }
	for _, name := range listed {
		if strings.Contains(name, ignoreFile) && isDoubtful(name) {
			doubtful = append(doubtful, name)
		}
	}
	hidden := map[string]bool{}
	for some := range slices.Chunk(doubtful, ignoresPerCall) {
		args := append([]string{"--literal-pathspecs", "ls-files", "--others", "--exclude-standard", "-z", "--"}, some...)
		out, err := s.git().Output(ctx, args...)
		if err != nil {
			return listed, nil, err
		}
		seen := git.Fields(out)
		for _, name := range some {
			if !slices.Contains(seen, name) {
				hidden[name] = true
			}
		}
	}
	for _, name := range listed {
		switch {
		case !hidden[name]:
			others = append(others, name)
		case path.Base(name) == ignoreFile:
			ignored = append(ignored, name)
		}
	}
	return others, ignored, nil
}

// ignoresPerCall limits the paths of one command line.
const ignoresPerCall = 200
