package gitstore

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/fsutil/filelock"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Trial is a temporary repository outside this one, into which the states of a Line are
// checked out, for commands that change files. It borrows the objects of this repository and has
// its own copies of the objects of the states, so that retention and git gc can go on. Neither
// index, worktree, HEAD nor refs of this repository change.
type Trial struct {
	Dir string // its worktree

	top  string // temporary directory
	lock *filelock.File
	git  git.Git
	from *Line // of a partial clone, in which git fetches missing files, nil for others
}

// trialPrefix is the prefix of the directories of trials in the directory for temporary files.
const trialPrefix = "git-checkpoint-trial-"

// trialConfig lists the settings that decide how files are checked out. A trial has those of this
// repository.
var trialConfig = []string{
	"core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode", "core.protecthfs", "core.protectntfs",
	"core.longpaths", "core.attributesfile", "core.excludesfile", "user.name", "user.email",
}

// NewTrial returns a trial for the states of the line. The caller must close it.
func (l *Line) NewTrial(ctx context.Context) (*Trial, error) {
	defer trace.Begin(trace.Step, "temporary repository").End()
	top, err := os.MkdirTemp("", trialPrefix)
	if err != nil {
		return nil, err
	}
	if top, err = filepath.Abs(top); err != nil {
		return nil, err
	}
	t := &Trial{top: top, Dir: filepath.Join(top, "work")}
	if err := t.fill(ctx, l); err != nil {
		t.Close()
		return nil, fmt.Errorf("temporary repository: %w", err)
	}
	return t, nil
}

func (t *Trial) fill(ctx context.Context, l *Line) (err error) {
	if t.lock, err = filelock.Open(filepath.Join(t.top, "lock"), os.O_CREATE); err != nil {
		return err
	}
	if err := t.lock.Try(); err != nil {
		return err
	}
	if err := os.Mkdir(t.Dir, 0o700); err != nil {
		return err
	}
	s := l.store
	if repository.Partial(s.repo.Config) {
		t.from = l
	}
	t.git = git.Git{Dir: t.Dir, Unset: append(repository.Variables(), "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT", "GIT_INDEX_FILE", "GIT_PREFIX")}
	if _, err := t.git.Output(ctx, "init", "-q", "--template=", "--object-format="+objectformat.Name); err != nil {
		return err
	}
	alternates := strings.Join(s.repo.Info.ObjectDirs(), "\n") + "\n"
	info := filepath.Join(t.Dir, ".git", "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(info, "alternates"), []byte(alternates), 0o600); err != nil {
		return err
	}
	for _, e := range s.repo.Config {
		name := strings.ToLower(e.Key)
		if slices.Contains(trialConfig, name) || strings.HasPrefix(name, "filter.") || strings.HasPrefix(name, "lfs.") {
			if _, err := t.git.Output(ctx, "config", "--add", e.Key, e.Value); err != nil {
				return err
			}
		}
	}
	if dir := filepath.Join(s.repo.Info.CommonDir, "lfs"); fsutil.Exists(dir) {
		if _, err := t.git.Output(ctx, "config", "lfs.storage", dir); err != nil {
			return err
		}
	}
	return t.copyStates(ctx, l)
}

// copyStates stores all states, with the objects that the commits of HEAD lack.
func (t *Trial) copyStates(ctx context.Context, l *Line) error {
	revs := l.Tips.String() + "\n"
	for hash, c := range l.heads {
		if c != nil {
			revs += "^" + hash.String() + "\n"
		}
	}
	pack, err := os.Create(filepath.Join(t.top, "states"))
	if err != nil {
		return err
	}
	defer os.Remove(pack.Name())
	defer pack.Close()
	if err := l.Git.Filter(ctx, strings.NewReader(revs), pack, "pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset"); err != nil {
		return err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return t.git.Filter(ctx, pack, io.Discard, "index-pack", "--stdin", "--fix-thin")
}

// CheckOut replaces the files of the trial by those of a state, and removes untracked files and
// repositories, also in directories that a command made read-only. It keeps ignored files, such as
// the results of a build. No hook runs.
func (t *Trial) CheckOut(ctx context.Context, commit plumbing.Hash) error {
	if t.from != nil {
		if err := t.fetchFiles(ctx, commit); err != nil {
			return err
		}
	}
	err := t.checkOut(ctx, commit)
	if err != nil && ctx.Err() == nil {
		t.makeWritable()
		err = t.checkOut(ctx, commit)
	}
	return err
}

func (t *Trial) checkOut(ctx context.Context, commit plumbing.Hash) error {
	// With its directory, git finds no other repository if a command has deleted that of the trial.
	here := []string{"--git-dir=" + filepath.Join(t.Dir, ".git"), "--work-tree=" + t.Dir, "-c", "core.hooksPath=" + filepath.Join(t.top, "no-hooks"), "-c", "advice.detachedHead=false"}
	if _, err := t.git.Output(ctx, append(here, "checkout", "-q", "-f", "--detach", commit.String())...); err != nil {
		return err
	}
	_, err := t.git.Output(ctx, append(here, "clean", "-ffdq")...)
	return err
}

// fetchFiles lets git fetch the missing files of a state into a partial clone, all at once: git
// does so if it writes them to a directory. The trial knows no remote.
func (t *Trial) fetchFiles(ctx context.Context, commit plumbing.Hash) error {
	dir := filepath.Join(t.top, "fetched")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	index := filepath.Join(t.top, "index")
	defer os.Remove(index)
	_, err := t.from.Git.With("GIT_INDEX_FILE="+index).Output(ctx, "--work-tree="+dir, "-c", "core.hooksPath="+filepath.Join(t.top, "no-hooks"), "-c", "core.sparseCheckout=false", "read-tree", "--reset", "-u", commit.String())
	return err
}

// Environ returns the environment of a command in the trial: that of this process without the
// variables that name a repository.
func (t *Trial) Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(t.git.Unset, name)
	})
}

// Close removes the trial.
func (t *Trial) Close() {
	if t.lock != nil {
		t.lock.Close()
	}
	t.makeWritable()
	os.RemoveAll(t.top)
}

// makeWritable lets files be removed, and git write its own: the directories of some builds are
// read-only. Other files can be hard links of files elsewhere.
func (t *Trial) makeWritable() {
	own := filepath.Join(t.Dir, ".git", "logs")
	_ = filepath.WalkDir(t.top, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
		case d.IsDir():
			os.Chmod(path, 0o700)
		case d.Type().IsRegular() && strings.HasPrefix(path, own):
			os.Chmod(path, 0o600)
		}
		return nil
	})
}

// RemoveLeftTemporaries removes the trials of killed processes, and returns their number.
func RemoveLeftTemporaries() (n int) {
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), trialPrefix+"*", "lock"))
	for _, path := range found {
		if !isMine(filepath.Dir(path)) || fsutil.IsYounger(path, time.Minute) { // it may not be locked yet
			continue
		}
		f, err := filelock.Open(path, 0)
		if err != nil || f.Try() != nil {
			if f != nil {
				f.Close()
			}
			continue
		}
		t := &Trial{top: filepath.Dir(path), Dir: filepath.Join(filepath.Dir(path), "work"), lock: f}
		t.Close()
		n++
	}
	return n
}
