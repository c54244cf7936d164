package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A version identifies a git by its version and its folder.
type version struct {
	name         string // such as 2.39.5
	dir          string // folder with a program git that runs only programs of this version
	server       string // command of this git as a server
	system       string // "windows", or "" for the system that runs the scripts
	major, minor int
}

// wrap returns the git of folder dir. It writes a script to the folder to, which runs this
// git. The script sets GIT_EXEC_PATH, because a git inherits it from the git that starts
// it, and would run programs of the other version.
func wrap(dir, to string) (version, error) {
	git, err := filepath.Abs(filepath.Join(dir, "git"))
	if err != nil {
		return version{}, err
	}
	execPath, err := ask(git, "--exec-path")
	if err != nil {
		return version{}, err
	}
	v, err := versionOf(git)
	if err != nil {
		return version{}, err
	}
	v.dir, v.server = to, filepath.Join(to, "git")
	if err := os.MkdirAll(to, 0o777); err != nil {
		return version{}, err
	}
	script := fmt.Sprintf("#!/bin/sh\nGIT_EXEC_PATH='%s'\nexport GIT_EXEC_PATH\nexec '%s' \"$@\"\n", execPath, git)
	return v, os.WriteFile(filepath.Join(to, "git"), []byte(script), 0o777)
}

// versionOf asks a git for its version.
func versionOf(git string) (version, error) {
	text, err := ask(git, "version")
	if err != nil {
		return version{}, err
	}
	v := version{name: strings.TrimPrefix(text, "git version ")}
	if _, err := fmt.Sscanf(v.name, "%d.%d", &v.major, &v.minor); err != nil {
		return version{}, fmt.Errorf("%s: %q is no version: %w", git, text, err)
	}
	return v, nil
}

// ask returns the first line that a git prints.
func ask(git string, args ...string) (string, error) {
	cmd := exec.Command(git, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", cmd, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
}

// atLeast reports whether v is the version major.minor or later.
func (v version) atLeast(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

// minorVariable returns the variable of the scripts for the second number of the version.
// Versions of git 3 and later are newer than each version of git 2.
func (v version) minorVariable() string {
	return fmt.Sprintf("MINOR=%d", 100*(v.major-2)+v.minor)
}

// A cell identifies a row of the table: a pair of versions, and the repositories' format.
type cell struct {
	client, server version
	objects, refs  string
}

// cells returns the pairs to run. The last git is the newest.
func cells(gits []version, all bool) []cell {
	newest := gits[len(gits)-1]
	var list []cell
	for _, client := range gits {
		for _, server := range gits {
			switch {
			case client.name == server.name:
				list = append(list, formats(client)...)
			case all || client.name == newest.name || server.name == newest.name:
				list = append(list, cell{client, server, "sha1", "files"})
			}
		}
	}
	return list
}

// formats returns the cells of a version with itself. Git can create SHA-256 repositories
// since 2.29, and reftables since 2.45.
func formats(v version) []cell {
	list := []cell{{v, v, "sha1", "files"}}
	if v.atLeast(2, 45) {
		list = append(list, cell{v, v, "sha1", "reftable"})
	}
	if v.atLeast(2, 29) {
		list = append(list, cell{v, v, "sha256", "files"})
	}
	if v.atLeast(2, 45) {
		list = append(list, cell{v, v, "sha256", "reftable"})
	}
	return list
}

// A result contains the names of the scenarios by their outcome.
type result struct{ passed, skipped, failed []string }

// run runs each scenario with the git of the cell.
func (c cell) run(work, bin string, scripts []script) result {
	var r result
	path := []string{c.client.dir, bin, "/usr/local/bin", "/usr/bin", "/bin"}
	for _, s := range scripts {
		out, err := s.run(work, path,
			"SERVER="+c.server.server, c.client.minorVariable(),
			"REFS="+c.refs, "GIT_DEFAULT_HASH="+c.objects, "GIT_DEFAULT_REF_FORMAT="+c.refs, "SYSTEM="+c.client.system)
		switch {
		case err == nil:
			r.passed = append(r.passed, s.name)
		case isSkipped(err):
			r.skipped = append(r.skipped, s.name)
		default:
			r.failed = append(r.failed, s.name)
			fmt.Fprintf(os.Stderr, "%s with %s, %s, %s: %s: %v\n%s", c.client.name, c.server.name, c.objects, c.refs, s.name, err, lastLines(out, 20))
		}
	}
	return r
}

func printHead(scripts []script) {
	var names []string
	for _, s := range scripts {
		names = append(names, s.name)
	}
	fmt.Printf("%d scenarios: %s.\n\n", len(names), strings.Join(names, ", "))
	fmt.Println("| client | server | objects | refs | passed | failed | not supported by this git |")
	fmt.Println("|---|---|---|---|---|---|---|")
}

func printRow(c cell, r result) {
	fmt.Printf("| %s | %s | %s | %s | %d | %s | %s |\n", c.client.name, c.server.name, c.objects, c.refs,
		len(r.passed), strings.Join(r.failed, ", "), strings.Join(r.skipped, ", "))
}
