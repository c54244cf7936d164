// Package repository finds the repository of a directory by git. It returns the paths of
// its parts and its formats, and rejects unsupported features.
package repository

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/odb"
)

// Info describes a repository.
type Info struct {
	Dir       string // $GIT_DIR of this worktree
	CommonDir string // $GIT_COMMON_DIR
	Index     string // path of the index file
	ObjectDir string
	Bare      bool
	Shallow   bool
	Prefix    string // working directory relative to the root, "" or "a/b/"
	Root      string // root of the worktree, "" in a bare repository
	RefFormat string // files or reftable; all other values need git
	Precious  bool   // extensions.preciousObjects: nobody may delete objects

	Alternates []string // object directories from which the repository borrows, also nested ones
}

// ErrNone reports that git finds no repository here, or refuses the one that it finds.
var ErrNone = failure.New(failure.Repository, "", "not a git repository")

// ErrAbsent reports that neither the directory nor its parents have a repository.
var ErrAbsent = fmt.Errorf("%w (or any parent directory)", ErrNone)

// An UnsupportedError reports a repository feature that this program does not support.
type UnsupportedError struct{ Feature string }

func (e *UnsupportedError) Error() string { return "unsupported repository: " + e.Feature }

func (e *UnsupportedError) Exit() (code int, hint string) { return failure.Repository, "" }

// An ObjectFormatError reports a repository whose object format is not that of this
// program.
type ObjectFormatError struct {
	Format string // git's name of the repository's format, such as sha256
}

func (e *ObjectFormatError) Error() string {
	return fmt.Sprintf("unsupported repository: %s objects, and this program reads %s objects",
		objectformat.Title(e.Format), objectformat.Title(objectformat.Name))
}

func (e *ObjectFormatError) Exit() (code int, hint string) { return failure.Repository, "" }

// Find returns the repository of g's directory and git's settings, from two processes at
// the same time. It fails with ErrNone, *UnsupportedError or *ObjectFormatError.
func Find(ctx context.Context, g git.Git) (Info, []git.ConfigEntry, error) {
	var r Info
	var missing error
	var discovery sync.WaitGroup
	discovery.Go(func() { r, missing = Discover(ctx, g) })
	entries, err := g.Config(ctx)
	discovery.Wait()
	if missing != nil {
		return Info{}, nil, missing
	}
	if err == nil {
		err = r.extend(entries)
	}
	if err == nil && (os.Getenv(AlternatesVariable) != "" || fsutil.Exists(filepath.Join(r.ObjectDir, "info", "alternates"))) {
		err = r.findAlternates(ctx, g)
	}
	return r, entries, err
}

// ObjectDirs returns the directories of objects: the repository's own and all alternates.
func (r Info) ObjectDirs() []string { return append([]string{r.ObjectDir}, r.Alternates...) }

// findAlternates asks git for the alternates, also nested ones.
func (r *Info) findAlternates(ctx context.Context, g git.Git) error {
	out, err := g.Output(ctx, "count-objects", "-v")
	for line := range strings.Lines(string(out)) {
		if dir, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "alternate: "); ok {
			if plain, err := strconv.Unquote(dir); err == nil {
				dir = plain
			}
			r.Alternates = append(r.Alternates, dir)
		}
	}
	return err
}

// extend applies the repository's extensions, and rejects extensions that this program does not know. If
// the version of the repository's format is 0, git ignores unknown extensions, and so does extend.
func (r *Info) extend(config []git.ConfigEntry) error {
	version, _ := git.Last(config, "core.repositoryformatversion")
	own := slices.IndexFunc(config, func(e git.ConfigEntry) bool { return e.Scope == "local" })
	for _, e := range config {
		name, isExtension := strings.CutPrefix(e.Key, "extensions.")
		if !isExtension || e.Scope != "local" || e.Origin != config[own].Origin { // git reads no included file
			continue
		}
		switch name {
		case "noop", "noop-v1", "objectformat", "partialclone", "worktreeconfig", "relativeworktrees", "submodulepathconfig":
		case "preciousobjects":
			r.Precious = git.Bool(e.Value)
		case "refstorage":
			r.RefFormat = e.Value // files://<folder> differs from the known directory
		default:
			if strings.Trim(version, "0") != "" {
				return &UnsupportedError{Feature: e.Key}
			}
		}
	}
	if elsewhere := os.Getenv("GIT_REFERENCE_BACKEND"); elsewhere != "" {
		r.RefFormat = elsewhere
	}
	return nil
}

// Partial reports whether these settings belong to a partial clone.
func Partial(config []git.ConfigEntry) bool {
	return slices.ContainsFunc(config, func(e git.ConfigEntry) bool {
		return e.Key == "extensions.partialclone" || strings.HasSuffix(e.Key, ".promisor") && git.Bool(e.Value)
	})
}

// Environ returns absolute values for environment variables with relative paths, such as
// those of a hook, and GIT_DIR if core.worktree names a directory without .git. With them,
// git can run in the root directory too.
func (r Info) Environ() []string {
	var env []string
	if os.Getenv("GIT_DIR") == "" && r.Root != "" && !r.isFoundAtRoot() {
		env = append(env, "GIT_DIR="+r.Dir)
	}
	for _, v := range []struct{ name, value string }{
		{"GIT_DIR", r.Dir},
		{"GIT_COMMON_DIR", r.CommonDir},
		{"GIT_WORK_TREE", r.Root},
		{"GIT_INDEX_FILE", r.Index},
		{"GIT_OBJECT_DIRECTORY", r.ObjectDir},
	} {
		if set := os.Getenv(v.name); set != "" && !filepath.IsAbs(set) && v.value != "" {
			env = append(env, v.name+"="+v.value)
		}
	}
	if os.Getenv(AlternatesVariable) != "" {
		env = append(env, AlternatesVariable+"="+odb.JoinAlternates(r.Alternates))
	}
	return env
}

// Variables returns the environment variables that set paths of the repository. A git
// process in another repository must not inherit them.
func Variables() []string {
	return []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_SHALLOW_FILE",
		"GIT_NAMESPACE", "GIT_REFERENCE_BACKEND",
	}
}

// AlternatesVariable is git's environment variable with additional object directories.
const AlternatesVariable = "GIT_ALTERNATE_OBJECT_DIRECTORIES"

// isFoundAtRoot reports whether git finds this repository in the root directory.
func (r Info) isFoundAtRoot() bool {
	if r.Dir == filepath.Join(r.Root, ".git") {
		return true // in most repositories, without a look at the files
	}
	dir, ok := gitDirAt(r.Root)
	return ok && fsutil.IsSame(dir, r.Dir)
}

// CopiedFrom returns the root of the linked worktree whose git directory this worktree uses,
// if the files of this worktree are a copy of it. Git would use one index for both. It
// returns "" for a worktree that was only moved: its former root does not exist, or belongs
// to another repository now.
func (r Info) CopiedFrom() string {
	if r.Dir == r.CommonDir || r.Root == "" {
		return ""
	}
	link, ok := readPath(filepath.Join(r.Dir, "gitdir"), "", r.Dir)
	if !ok {
		return ""
	}
	owner := filepath.Dir(link)
	there, err := os.Stat(owner)
	if err != nil {
		return ""
	}
	here, err := os.Stat(r.Root)
	if err != nil || os.SameFile(here, there) || !r.isFoundAtRoot() {
		return ""
	}
	if !(Info{Root: owner, Dir: r.Dir}).isFoundAtRoot() {
		return ""
	}
	return owner
}

// Discover runs git rev-parse to find the repository, without its extensions. The root of
// the worktree is the last argument, because git stops there in a bare repository.
func Discover(ctx context.Context, g git.Git) (Info, error) {
	out, err := g.Output(ctx, "rev-parse", "--git-dir", "--git-common-dir", "--git-path", "index",
		"--git-path", "objects", "--is-bare-repository", "--is-shallow-repository", "--show-object-format", "--show-prefix", "--show-toplevel")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) < 7 {
		return Info{}, none(g.Dir, err)
	}
	if len(lines) > 9 {
		return Info{}, &UnsupportedError{Feature: "a line break in the repository's path"}
	}
	base, pathErr := physical(g.Dir)
	if pathErr != nil {
		return Info{}, fmt.Errorf("find the working directory: %w", pathErr)
	}
	abs := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(base, path)
	}
	r := Info{
		Dir: abs(lines[0]), CommonDir: abs(lines[1]), Index: abs(lines[2]), ObjectDir: abs(lines[3]),
		Bare: lines[4] == "true", Shallow: lines[5] == "true", RefFormat: "files",
	}
	if len(lines) == 9 && err == nil {
		r.Prefix, r.Root = lines[7], abs(lines[8])
	}
	if lines[6] != objectformat.Name {
		return r, &ObjectFormatError{Format: lines[6]}
	}
	return r, nil
}

// none returns the error for a missing repository, which wraps ErrNone. For the usual reason, git's message
// contains no directory and repeats the text of ErrNone. Git gives this reason for a damaged .git too.
func none(dir string, err error) error {
	if err == nil {
		return fmt.Errorf("%w: git answered nothing", ErrNone)
	}
	here, pathErr := physical(dir)
	isUsual := strings.Contains(err.Error(), "(or any of the parent directories)")
	if pathErr != nil || !isUsual && !strings.Contains(err.Error(), "(or any parent up to mount point") {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	ceilings := filepath.SplitList(os.Getenv("GIT_CEILING_DIRECTORIES"))
	for up, below := here, ""; isUsual && up != below && (below == "" || !slices.Contains(ceilings, up)); up, below = filepath.Dir(up), up {
		if parts, _ := os.ReadDir(filepath.Join(up, ".git")); len(parts) > 0 {
			return failure.Errorf(failure.Repository, "git init "+failure.Quote(up)+" # makes what is missing, with HEAD on the default branch",
				"%w: %s is damaged: HEAD, objects or refs are missing or invalid", ErrNone, filepath.Join(up, ".git"))
		}
	}
	return fmt.Errorf("%w: %s", ErrAbsent, here)
}

// physical returns a directory without symlinks. Relative paths in git's output are
// relative to it.
func physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// UnderWay returns the operation in progress in this worktree, such as "merge", or "".
func (r Info) UnderWay() string {
	for _, b := range []struct{ file, what string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer", "cherry-pick"},
	} {
		if fsutil.Exists(filepath.Join(r.Dir, filepath.FromSlash(b.file))) {
			return b.what
		}
	}
	return ""
}

// OperationBranch returns the branch to which a rebase or a bisection in progress will
// return, or "". HEAD is detached during such an operation.
func (r Info) OperationBranch() string {
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
		data, err := os.ReadFile(filepath.Join(r.Dir, filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		branch, isBranch := strings.CutPrefix(strings.TrimSuffix(string(data), "\n"), "refs/heads/")
		if isBranch || name == "BISECT_START" {
			return branch // a bisection that began at a detached HEAD has its commit here
		}
	}
	return ""
}

// MergeHeads returns the commits of a merge in progress.
func (r Info) MergeHeads() []string {
	data, err := os.ReadFile(filepath.Join(r.Dir, "MERGE_HEAD"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}

// A WorktreeEntry is an entry of git worktree list.
type WorktreeEntry struct {
	Path   string
	Branch string // ref of the checked-out branch, "" if HEAD is detached
	Bare   bool
}

// Worktrees returns the worktrees of the repository, the main worktree first. A path with a line break,
// which Discover refuses, is truncated.
func Worktrees(ctx context.Context, g git.Git) ([]WorktreeEntry, error) {
	out, err := g.Output(ctx, "worktree", "list", "--porcelain")
	var list []WorktreeEntry
	for line := range strings.SplitSeq(string(out), "\n") {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			list = append(list, WorktreeEntry{Path: value})
		}
		if len(list) == 0 {
			continue
		}
		switch last := &list[len(list)-1]; key {
		case "branch":
			last.Branch = value
		case "bare":
			last.Bare = true
		}
	}
	return list, err
}

// CheckedOut returns the path of the worktree in which a branch is checked out, or "".
func CheckedOut(ctx context.Context, g git.Git, branch string) string {
	list, _ := Worktrees(ctx, g)
	for _, w := range list {
		if w.Branch == "refs/heads/"+branch {
			return w.Path
		}
	}
	return ""
}

// MainRoot returns the root of the main worktree, or "" if it is bare. It runs git only
// in linked worktrees.
func (r Info) MainRoot(ctx context.Context, g git.Git) (string, error) {
	if r.Root != "" && r.Dir == r.CommonDir {
		return r.Root, nil
	}
	list, err := Worktrees(ctx, g)
	if err != nil || len(list) == 0 || list[0].Bare {
		return "", err
	}
	return list[0].Path, nil
}
