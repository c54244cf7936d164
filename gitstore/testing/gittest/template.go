package gittest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// config is the configuration that a template adds to that of `git init`. Without
// maintenance.auto=false, each commit and each fetch starts another git process.
const config = `[user]
	name = ` + Name + `
	email = ` + Email + `
[gc]
	auto = 0
[maintenance]
	auto = false
[core]
	autocrlf = false
`

// A Template is a repository that is built once per process. New copies its files, so that
// a test starts at most one git process for its repository.
type Template struct {
	build func(*Repo)
	init  []string
	once  sync.Once
	files []File
	now   time.Time
}

// A File is a file, a symlink or a directory of a template, parents first.
type File struct {
	path    string // relative to the worktree
	mode    fs.FileMode
	changed time.Time
	content []byte // of a symlink its target
}

// NewTemplate returns a template of an empty repository on branch main that build changes.
// A nil build changes nothing. init has further arguments of git init.
func NewTemplate(build func(*Repo), init ...string) *Template {
	return &Template{build: build, init: init}
}

// Seed is a template with the committed files a.txt and dir/b.txt.
var Seed = NewTemplate(func(r *Repo) {
	r.Write("a.txt", "one\n")
	r.Write("dir/b.txt", "two\n")
	r.Git("add", "-A")
	r.Commit("first")
})

// New returns a copy of the template.
func (m *Template) New(t testing.TB) *Repo {
	t.Helper()
	m.once.Do(func() { m.make(t) })
	root := tempDir(t)
	r := At(t, filepath.Join(root, "repo"), filepath.Join(root, "home"))
	r.now = m.now
	if err := WriteFiles(r.Dir, m.files); err != nil {
		t.Fatal(err)
	}
	if m.build != nil { // the copied index has the inodes of the template's files
		_, _ = r.Run(nil, "update-index", "-q", "--refresh")
	}
	return r
}

// make builds the repository and reads its files.
func (m *Template) make(t testing.TB) {
	t.Helper()
	root := tempDir(t)
	r := At(t, filepath.Join(root, "repo"), filepath.Join(root, "home"))
	mkdir(t, r.Dir)
	r.Git(append([]string{"init", "-q"}, m.init...)...)
	// git init -b requires git 2.28.
	r.Git("symbolic-ref", "HEAD", "refs/heads/main")
	r.append(".git/config", config)
	if m.build != nil {
		m.build(r)
	}
	var err error
	if m.files, err = ReadFiles(r.Dir); err != nil {
		t.Fatal(err)
	}
	m.now = r.now
}

func (r *Repo) append(path, text string) {
	r.t.Helper()
	r.Write(path, r.Read(path)+text)
}

// ReadFiles reads everything below dir, except git's examples of hooks.
func ReadFiles(dir string) (files []File, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, ".sample") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f := File{path: name, mode: info.Mode(), changed: info.ModTime()}
		switch f.mode.Type() {
		case 0:
			f.content, err = os.ReadFile(path)
		case fs.ModeSymlink:
			var target string
			target, err = os.Readlink(path)
			f.content = []byte(target)
		}
		files = append(files, f)
		return err
	})
	return files, err
}

// WriteFiles writes the files of ReadFiles below dir, with the time of their last change.
func WriteFiles(dir string, files []File) error {
	for _, f := range files {
		path := filepath.Join(dir, f.path)
		switch f.mode.Type() {
		case fs.ModeDir:
			if err := os.MkdirAll(path, f.mode.Perm()|0o700); err != nil {
				return err
			}
		case fs.ModeSymlink:
			if err := os.Symlink(string(f.content), path); err != nil {
				return err
			}
		default:
			if err := os.WriteFile(path, f.content, f.mode.Perm()|0o200); err != nil {
				return err
			}
			if err := os.Chmod(path, f.mode.Perm()); err != nil {
				return err
			}
			if err := os.Chtimes(path, f.changed, f.changed); err != nil {
				return err
			}
		}
	}
	return nil
}
