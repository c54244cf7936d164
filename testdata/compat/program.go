package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// runPrograms runs the scripts of other programs.
func runPrograms(o options, work string) error {
	scripts, err := readScripts(o.run, "programs")
	if err != nil {
		return err
	}
	return runTable(scripts, work, append([]string{o.bin}, filepath.SplitList(os.Getenv("PATH"))...))
}

// runTable runs scripts with the git on PATH, and prints a row for each script. A script
// prints a line "program: NAME AND VERSION", and lines "note: TEXT" about its results. path
// and env are the PATH and further variables of the scripts.
func runTable(scripts []script, work string, path []string, env ...string) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	v, err := wrap(filepath.Dir(git), filepath.Join(work, "git"))
	if err != nil {
		return err
	}
	fmt.Printf("With git %s.\n\n| script | program | outcome | notes |\n|---|---|---|---|\n", v.name)
	env = append(env, "SERVER="+git, v.minorVariable(), "REFS=files")
	failed := false
	for _, s := range scripts {
		out, err := s.run(filepath.Join(work, "world"), path, env...)
		outcome := "passed"
		switch {
		case isSkipped(err):
			outcome = "skipped: not installed"
		case err != nil:
			outcome, failed = "failed", true
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", s.name, err, lastLines(out, 20))
		}
		fmt.Printf("| %s | %s | %s | %s |\n", s.name, said(out, "program"), outcome, said(out, "note"))
	}
	if failed {
		return errors.New("a script failed")
	}
	return nil
}

// said returns what follows "KEY: " at the beginning of lines.
func said(out []byte, key string) string {
	var found []string
	for line := range bytes.Lines(out) {
		if text, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(key+": ")); ok {
			found = append(found, string(text))
		}
	}
	return strings.Join(found, "; ")
}
