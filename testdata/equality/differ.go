package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A difference is a path that differs, with the exception of the design that it belongs to.
type difference struct{ kind, text string }

const unnamed = "WITHOUT A NAME"

// differ saves with both programs, each in a copy of the world, and compares the trees.
func differ(world string) (found []difference) {
	old, now := world+".old", world+".new"
	defer os.RemoveAll(old)
	defer os.RemoveAll(now)
	run(".", "cp", "-a", world, old)
	run(".", "cp", "-a", world, now)
	out, errOld := try(old, *before, "save", "42")
	text, errNew := try(now, *after, "save", "42")
	if errOld != nil || errNew != nil {
		kind := "both programs refuse"
		if (errOld == nil) != (errNew == nil) {
			kind = unnamed
		}
		return []difference{{kind, out + text}}
	}
	if out, err := try(old, *before, "export", "42", "--as", "commits", "state-of-42"); err != nil {
		return []difference{{"the program before exports no state", out}}
	}
	flags, stages, index, head := map[string]string{}, map[string]bool{}, map[string]string{}, tree(world, "HEAD")
	for _, line := range strings.Split(run(world, "git", "ls-files", "-s", "-v", "-z"), "\x00") { // "<tag> <mode> <hash> <stage>\t<path>"
		if entry, name, ok := strings.Cut(line, "\t"); ok {
			f := strings.Fields(entry)
			if flags[name], stages[name] = f[0], f[3] != "0"; f[3] == "0" {
				index[name] = f[1] + " " + f[2]
			}
		}
	}
	if written, err := try(world, "git", "write-tree"); err == nil { // it fails with unmerged paths
		index = tree(world, strings.TrimSpace(written))
	}
	compare := func(part string, was, is map[string]string, kind func(name string) string) {
		names := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if was[name] != is[name] {
				found = append(found, difference{kind(name), fmt.Sprintf("%s: %q was %q, is %q", part, name, was[name], is[name])})
			}
		}
	}
	state, staged := tree(now, "refs/checkpoints/42:state"), tree(now, "refs/checkpoints/42:staged")
	compare("state", tree(old, "state-of-42"), state, func(name string) string {
		_, err := os.Stat(filepath.Join(world, name))
		switch {
		case flags[name] == "h" || flags[name] == "S" && state[name] != "":
			return "skip-worktree or assume-unchanged: what the worktree has is saved"
		case isRepository(world, name):
			return "a path below a nested repository"
		case errors.Is(err, syscall.ELOOP):
			return "a symlink to itself: the program before kept the files below it"
		}
		return unnamed
	})
	compare("staged", index, staged, func(name string) string {
		if stages[name] && staged[name] == head[name] {
			return "unmerged: staged/ has HEAD's version"
		}
		if staged[name] == "" && strings.HasSuffix(index[name], emptyBlob) {
			return "intent-to-add: absent from staged/"
		}
		return unnamed
	})
	return found
}

const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// isRepository reports whether a path is in a repository inside the worktree.
func isRepository(world, name string) bool {
	for dir := name; dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(world, dir, ".git")); err == nil {
			return true
		}
	}
	return false
}

// tree returns "<mode> <hash>" of each file of a tree, which is empty if there is none.
func tree(dir, rev string) map[string]string {
	files := map[string]string{}
	out, _ := try(dir, "git", "ls-tree", "-r", "-z", rev)
	for _, line := range strings.Split(out, "\x00") {
		if head, name, ok := strings.Cut(line, "\t"); ok {
			f := strings.Fields(head)
			files[name] = f[0] + " " + f[2]
		}
	}
	return files
}

func try(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.Output()
	if e, ok := err.(*exec.ExitError); ok {
		return string(out) + string(e.Stderr), err
	}
	return string(out), err
}

func run(dir, name string, args ...string) string {
	out, err := try(dir, name, args...)
	if err != nil {
		check(fmt.Errorf("%s %q: %w: %s", name, args, err, out))
	}
	return out
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "equality:", err)
		os.Exit(2)
	}
}
