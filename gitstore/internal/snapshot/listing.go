package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
)

// An untrackedPath is an untracked file, or a directory that is left out as a whole.
type untrackedPath struct {
	path string
	left string // reason for leaving the path out, empty if it is captured
}

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

// ignoreFile is the name of the files with git's rules in the worktree.
const ignoreFile = ".gitignore"

// listsIgnoreFiles are arguments of git ls-files --others that list .gitignore files even if
// git ignores them. Git reads their rules all the same.
var listsIgnoreFiles = []string{"ls-files", "--others", "--exclude-standard", "--exclude=!" + ignoreFile, "-z"}

// Ignores returns a digest of git's rules for ignored files that a snapshot does not have:
// info/exclude, the file of core.excludesFile, and .gitignore files that git ignores.
func (s *Capturer) Ignores(ctx context.Context) (string, error) {
	out, err := s.git().Output(ctx, append(slices.Clone(listsIgnoreFiles), "--", ":(glob)**/"+ignoreFile)...)
	if err != nil {
		return "", fmt.Errorf("list ignored %s files: %w", ignoreFile, err)
	}
	_, ignored, err := s.splitIgnored(ctx, git.Fields(out))
	return s.ignores(ignored), err
}

// ignores returns the digest of Ignores. ignored has the paths of the .gitignore files that git
// ignores.
func (s *Capturer) ignores(ignored []string) string {
	sum := sha256.New()
	user, _ := git.UserFile(s.repo.Config, "core.excludesfile", "ignore")
	files := []string{filepath.Join(s.repo.Info.CommonDir, "info", "exclude"), user}
	slices.Sort(ignored)
	for _, name := range ignored {
		fmt.Fprintf(sum, "%q\n", name)
		files = append(files, filepath.Join(s.repo.Info.Root, filepath.FromSlash(name)))
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
func (s *Capturer) splitIgnored(ctx context.Context, listed []string) (others, ignored []string, err error) {
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
