package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
)

// DefaultMaxUntracked limits the new untracked files of one directory.
const DefaultMaxUntracked = 10_000

// leaveOutFull returns the paths without those in a directory with more of them than limit, and these
// directories, each with a slash. The deepest directories come first. A directory with untracked files
// in the checkpoint before stays.
func leaveOutFull(paths []string, limit int, had func(dir string) bool) (kept, full []string) {
	if len(paths) <= limit {
		return paths, nil
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
		if files[dir] <= limit || had != nil && had(dir) {
			continue
		}
		count(dir, -files[dir])
		isBelow := func(name string) bool { return strings.HasPrefix(name, dir+"/") }
		paths, full = slices.DeleteFunc(paths, isBelow), append(slices.DeleteFunc(full, isBelow), dir+"/")
	}
	return paths, full
}

const ignoreFile = ".gitignore"

// listIgnored makes git ls-files --others list .gitignore files even if git ignores them. Git reads
// their rules all the same.
const listIgnored = "--exclude=!" + ignoreFile

// Ignores returns a digest of git's rules for ignored files that a snapshot does not have:
// info/exclude, the file of core.excludesFile, and .gitignore files that git ignores.
func (s *Capturer) Ignores(ctx context.Context) (string, error) {
	out, err := s.repo.RootGit().Output(ctx, "ls-files", "--others", "--exclude-standard", listIgnored, "-z", "--", ":(glob)**/"+ignoreFile)
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
	addFiles(sum, files...)
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// splitIgnored splits a list with listIgnored into the files that git does not ignore, and
// the .gitignore files that it ignores. It starts git only if the list has a .gitignore file.
func (s *Capturer) splitIgnored(ctx context.Context, listed []string) (others, ignored []string, err error) {
	var doubtful []string
	for _, name := range listed {
		if strings.Contains("/"+name+"/", "/"+ignoreFile+"/") {
			doubtful = append(doubtful, name)
		}
	}
	hidden := map[string]bool{}
	if len(doubtful) > 0 {
		out, err := s.repo.RootGit().Pipe(ctx, joinPaths(doubtful), "check-ignore", "--no-index", "-z", "--stdin")
		if err != nil && git.Code(err) != 1 { // git ignores none
			return listed, nil, err
		}
		hidden = chain.SetOf(git.Fields(out))
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
