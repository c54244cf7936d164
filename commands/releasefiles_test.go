package commands

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// packed is a file entry of archives or packages, in addition to the program.
type packed struct{ Src, Dst, Type, Packager string }

// places maps an entry's targets to source files below a directory. An entry without
// matching files is an error, like in goreleaser.
func (p *packed) places(dir string) (map[string]string, error) {
	if p.Type == "dir" {
		return map[string]string{p.Dst: ""}, nil
	}
	names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(p.Src)))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("%s: nothing is there: %v", p.Src, err)
	}
	places := map[string]string{}
	for _, name := range names {
		if strings.Contains(p.Src, "*") {
			places[path.Join(p.Dst, filepath.Base(name))] = name
		} else {
			places[cmp.Or(p.Dst, p.Src)] = name
		}
	}
	return places, nil
}

// releasePlaces returns the places of all entries for a packager, "" for archives.
func releasePlaces(entries []packed, dir, packager string) (map[string]string, error) {
	all := map[string]string{}
	for _, e := range entries {
		if e.Packager != "" && e.Packager != packager {
			continue
		}
		places, err := e.places(dir)
		if err != nil {
			return nil, err
		}
		for place, src := range places {
			if _, twice := all[place]; twice {
				return nil, fmt.Errorf("%s: two entries put it there", place)
			}
			all[place] = src
		}
	}
	return all, nil
}

// makeReleaseFiles runs the steps before the packing of a release, in a directory, with
// the program on PATH.
func makeReleaseFiles(dir string) error {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", filepath.Join(".ci", "names"), filepath.Join(".ci", "release-files")} {
		data, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			return err
		}
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.Command("bash", filepath.Join(dir, ".ci", "release-files"),
		progName, "1.2.3", "2026-02-14T14:30:00Z")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("release-files: %w\n%s", err, out)
	}
	return nil
}

// The content of archives and packages equals the lists in testdata/release: every page
// and every script, in the places where man and the shells look. All files are readable
// by every user, with any umask.
func TestReleaseFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("releases are made where there is a shell")
	}
	g := readGoreleaser(t)
	dir := t.TempDir()
	require.NoError(t, makeReleaseFiles(dir))
	n := g.Nfpms[0]
	var programs, packaged []string
	for _, b := range g.Builds {
		programs = append(programs, b.Binary)
		packaged = append(packaged, path.Join(n.Bindir, b.Binary))
	}
	for _, p := range []struct {
		packager string
		entries  []packed
		made     []string // further files
	}{
		{"archive", g.Archives[0].Files, programs},
		{"deb", n.Contents, append(slices.Clone(packaged), "/usr/share/doc/git-checkpoint/changelog.Debian.gz")},
		{"rpm", n.Contents, packaged},
		{"apk", n.Contents, packaged},
	} {
		places, err := releasePlaces(p.entries, dir, p.packager)
		require.NoError(t, err, p.packager)
		list := p.made
		for place, src := range places {
			list = append(list, place)
			if p.packager != "archive" && src != "" {
				info, err := os.Stat(src)
				require.NoError(t, err)
				assert.Equal(t, fs.FileMode(0o644), info.Mode(), "%s: %s", p.packager, place)
			}
		}
		assertReleased(t, p.packager, list)
		for _, page := range manualPages() {
			assert.Contains(t, strings.ReplaceAll(strings.Join(list, "\n")+"\n", ".gz\n", "\n"), "share/man/"+page.File()+"\n", p.packager)
		}
	}
}

// assertReleased compares names with a list in testdata/release.
func assertReleased(t *testing.T, packager string, names []string) {
	t.Helper()
	slices.Sort(names)
	got := strings.Join(names, "\n") + "\n"
	golden := filepath.Join("..", "testdata", "release", packager+".txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o666))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, packager)
}

// cmdUnpacked unpacks a release archive into a directory: `unpacked .local`. A small
// shell script that runs the test binary replaces each program.
func cmdUnpacked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unpacked directory")
	}
	var g goreleaser
	ts.Check(g.read())
	made := ts.MkAbs("release")
	ts.Check(os.Mkdir(made, 0o777))
	ts.Check(makeReleaseFiles(made))
	places, err := releasePlaces(g.Archives[0].Files, made, "")
	ts.Check(err)
	program, err := exec.LookPath(progName)
	ts.Check(err)
	stub := filepath.Join(made, progName)
	ts.Check(os.WriteFile(stub, []byte("#!/bin/sh\nexec '"+program+"' \"$@\"\n"), 0o777))
	for _, b := range g.Builds {
		places[b.Binary] = stub
	}
	for place, src := range places {
		name := filepath.Join(ts.MkAbs(args[0]), filepath.FromSlash(place))
		ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
		ts.Check(os.Link(src, name))
	}
}

// cmdReadme writes the shell block of the README that contains a text to a file: `readme
// install.sh 'go install'`.
func cmdReadme(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: readme file text")
	}
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	ts.Check(err)
	for i, part := range strings.Split(string(text), "```") {
		if shell, ok := strings.CutPrefix(part, "sh\n"); i%2 == 1 && ok && strings.Contains(shell, args[1]) {
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(shell), 0o666))
			return
		}
	}
	ts.Fatalf("README.md has no shell with %q", args[1])
}
