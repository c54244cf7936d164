package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

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
