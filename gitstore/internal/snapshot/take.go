package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// A taker takes the snapshot of a save.
type taker struct {
	*Capturer
	*CapturedSnapshot
	ctx      context.Context
	req      Request
	k        *repo.ObjectWriter
	o        *ownIndex
	boundary *repository.Boundary
	dirs     map[string]error // parents of paths: nil for a directory, errNotDir, or the error of lstat

	user     userIndex        // the user's index
	unmerged map[string]bool  // its unmerged paths
	changes  []trees.Change   // from HEAD to the user's index
	sizes    map[string]int64 // of the staged files that differ from HEAD, in bytes

	named    map[string]bool // artifacts, and those of the checkpoint before
	required map[string]bool // artifacts of the request
	hidden   map[string]bool // artifacts that git ignores

	tree     plumbing.Hash  // of the files that git reads from the worktree, with submodules as staged
	unstaged []trees.Change // from the user's index to tree
	left     []string       // all skipped paths whose content tree may not have
	listed   int            // number of skipped paths, also beyond MaxListed
	cut      bool           // the time ended before all files were read
	unlisted bool           // there is no list of files, so only named files are read

	end    time.Time // of the time limit, or zero
	room   int64     // bytes that may still be read
	read   int64     // bytes of the files that were read, without those that are staged
	failed error     // an artifact of the request cannot be stored
}

// take takes the state of the worktree: git lists new, changed and missing paths, this program vets
// the list, and git stores it, all on an index of this program (ownIndex). The user's index is only
// read. In a dry run all objects are added to k, else git stores those that it makes.
//
//	list   git ls-files -o -m -d, one pass
//	vet    limits, repositories, symlinks above a path, files that cannot be read
//	feed   git update-index --stdin, removals first
//	write  git write-tree
//
// A file that cannot be stored is left out and named. Only a lack of resources, and an artifact
// of the request that cannot be stored, fail the save.
func (s *Capturer) take(ctx context.Context, req Request, k *repo.ObjectWriter) (*taker, error) {
	defer trace.Begin(trace.Step, "take the state").End()
	head, err := s.repo.ReadHead(ctx)
	if err != nil {
		return nil, err
	}
	tree, err := s.repo.TreeOf(head)
	if err != nil {
		return nil, err
	}
	o, err := s.openOwnIndex(ctx, req)
	if err != nil {
		return nil, err
	}
	defer o.close()
	fresh := req.Reread
	if fresh {
		o.note.User = userIndex{}
		s.repo.Objects.Close()
	}
	for tries := 1; ; tries++ {
		t := &taker{
			Capturer: s, CapturedSnapshot: &CapturedSnapshot{Head: head, HeadTree: tree}, ctx: ctx, req: req, k: k, o: o, boundary: s.repo.Boundary(ctx),
			dirs: map[string]error{}, hidden: map[string]bool{}, named: map[string]bool{}, required: map[string]bool{},
		}
		err := t.run(fresh)
		var failed *git.CommandError
		if !fresh && ctx.Err() == nil && errors.As(err, &failed) && failed.Code == 128 {
			fresh = true // the own index is damaged, or git has pruned a blob that only it knew
			continue
		}
		if err == nil && tries < maxTries && t.user.Identity != identityOf(s.repo.Info.Index) {
			continue // the user's index has changed meanwhile
		}
		if err == nil && req.DryRun {
			err = o.addTo(k)
		}
		return t, err
	}
}

// maxTries limits the repetitions of a take.
const maxTries = 4

// errNotDir reports that a parent of a path is a symlink or a file.
var errNotDir error = syscall.ENOTDIR

// isGone reports whether a file or one of its parents does not exist.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// noLimit exceeds any file size.
const noLimit = 1 << 62

// run takes the state. A save of the index alone, and one whose time ends before git has listed the
// files, read only the named files.
func (t *taker) run(fresh bool) error {
	if t.room = t.req.MaxSize; t.room <= 0 {
		t.room = noLimit
	}
	ctx := t.ctx
	if t.req.Budget > 0 {
		t.end = time.Now().Add(t.req.Budget)
		limited, cancel := context.WithDeadline(ctx, t.end)
		defer cancel()
		ctx = limited
	}
	if err := t.o.begin(fresh); err != nil {
		return err
	}
	listing := t.list(ctx)
	user, err := t.o.userIndex(t.ctx, t.HeadTree)
	l := <-listing
	if err == nil {
		err = t.compare(user)
	}
	if err != nil {
		return err
	}
	if cleared, err := t.clearFlags(); err != nil {
		return err
	} else if cleared {
		l = <-t.list(ctx)
	}
	if l.err != nil && !t.late() {
		return fmt.Errorf("list the files of the worktree: %w", l.err)
	}
	t.unlisted = l.err != nil || t.req.Staged
	t.cut = t.unlisted
	if err := t.artifacts(); err != nil {
		return err
	}
	if !t.takesUntracked() {
		t.skip(".", 0, checkpoint.NotListed)
	}
	changed, err := t.feed(ctx, l)
	if err == nil {
		err = t.write(changed)
	}
	if err == nil {
		err = t.addMissing(ctx)
	}
	if err == nil && !t.req.Staged {
		if err = t.leaveRepositories(); err == nil {
			err = t.submodules()
		}
	}
	if more := t.listed - MaxListed; more > 0 {
		t.Facts.Skipped = append(t.Facts.Skipped, checkpoint.Skipped{Path: ".", Reason: fmt.Sprintf("%d more files", more)})
	}
	return errors.Join(err, t.o.writeNote())
}

// compare compares HEAD with the user's index.
func (t *taker) compare(user *userIndex) (err error) {
	t.user, t.Staged, t.sizes = *user, plumbing.NewHash(user.Staged), map[string]int64{}
	t.unmerged = map[string]bool{}
	for _, e := range user.Conflicts {
		t.unmerged[e.Path] = true
	}
	if t.changes, err = trees.Diff(t.o.reader, t.HeadTree, t.Staged); err != nil {
		return err
	}
	fetched := !repository.Partial(t.repo.Config)
	for _, c := range t.changes {
		if c.New.Hash.IsZero() || c.New.Mode == trees.ModeGitlink {
			continue
		}
		if !fetched && !t.repo.Objects.Has(c.New.Hash) {
			// For the sizes git fetches all files that this partial clone lacks together.
			if _, err := t.repo.FetchPromised(t.ctx, "diff-index", "--cached", "--numstat", t.HeadTree.String()); err != nil {
				return fmt.Errorf("staged file %q: object %s is missing: %w", c.Path, c.New.Hash, err)
			}
			fetched = true
		}
		_, size, err := t.repo.Objects.Header(c.New.Hash)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			err = fmt.Errorf("object %s is missing", c.New.Hash)
		}
		if err != nil {
			return fmt.Errorf("staged file %q: %w", c.Path, err)
		}
		t.sizes[c.Path] = size
		t.room -= size
	}
	return nil
}

// write stores the tree of the own index, and compares it with the index of the user.
func (t *taker) write(changed bool) (err error) {
	if changed || !t.o.has(t.o.note.Tree) {
		t.o.note.Tree = ""
		out, err := t.o.run(t.ctx, nil, t.writeTree()...)
		if err != nil {
			return fmt.Errorf("store the files of the worktree: %w", err)
		}
		t.o.note.Tree = strings.TrimSpace(string(out))
	}
	t.tree = plumbing.NewHash(t.o.note.Tree)
	if t.unlisted { // the other files of the own index are those that an earlier save read
		var named []trees.FileEntry
		find := &trees.Finder{Reader: t.o.reader}
		for name := range t.named {
			mode, hash, err := find.Lookup(t.tree, name)
			if err != nil {
				return err
			}
			named = append(named, trees.FileEntry{Path: name, Mode: mode, Hash: hash})
		}
		if t.tree, err = replace(t.o.reader, t.k, t.Staged, named); err != nil {
			return err
		}
	}
	t.unstaged, err = trees.Diff(t.o.reader, t.Staged, t.tree)
	return err
}

// addMissing adds files that are in the worktree, and that git does not list because it ignores
// them: artifacts, and files that the user's index has.
func (t *taker) addMissing(ctx context.Context) error {
	names := slices.Collect(maps.Keys(t.named))
	if !t.cut {
		names = append(slices.AppendSeq(names, maps.Keys(t.unmerged)), t.user.Intent...)
	}
	find := &trees.Finder{Reader: t.o.reader}
	names = slices.DeleteFunc(names, func(name string) bool {
		mode, _, err := find.Lookup(t.tree, name)
		return err == nil && mode != 0 && !t.unlisted
	})
	for _, c := range t.unstaged {
		if c.New.Mode == 0 && c.Old.Mode != trees.ModeGitlink && !t.cut {
			names = append(names, c.Path)
		}
	}
	slices.Sort(names)
	var files []readFile
	for _, name := range slices.Compact(names) {
		t.hidden[name] = t.named[name]
		info, err := t.lstat(name)
		skips := func(f checkpoint.Skipped) bool { return f.Path != "." && checkpoint.IsWithin(name, f.Path) }
		if isGone(err) || err == nil && info.IsDir() || slices.ContainsFunc(t.Facts.Skipped, skips) || t.boundary.Find(name).Reason != "" {
			continue
		}
		t.vetFile(name, info, err, func(string) bool { return true }, &files)
	}
	added, err := t.add(ctx, files)
	if err = errors.Join(err, t.failed); err != nil || !added {
		return err
	}
	return t.write(true)
}

// leaveRepositories removes untracked files that belong to a repository by now: a directory whose
// files the own index knows may have become one.
func (t *taker) leaveRepositories() error {
	var inside []string
	for _, c := range t.unstaged {
		if c.Old.Mode == 0 && c.New.Mode != trees.ModeGitlink {
			if f := t.boundary.Find(c.Path); f.Reason != "" {
				t.skipOnce(f.Path, f.Reason)
				inside = append(inside, c.Path)
			}
		}
	}
	if err := t.remove(inside); err != nil || len(inside) == 0 {
		return err
	}
	return t.write(true)
}

// submodules names the submodules whose files or commits differ from the index, and sets their
// entries in the tree to those that are staged.
func (t *taker) submodules() error {
	var entries []trees.FileEntry
	find := &trees.Finder{Reader: t.o.reader}
	others := slices.DeleteFunc(slices.Clone(t.unstaged), func(c trees.Change) bool {
		if c.Old.Mode != trees.ModeGitlink && c.New.Mode != trees.ModeGitlink || c.New.Mode != 0 && c.New.Mode != trees.ModeGitlink {
			return false // a file in place of a submodule is a file
		}
		if mode, _, err := find.Lookup(t.tree, c.Path); err == nil && mode == trees.ModeTree {
			return false // likewise files
		}
		entries = append(entries, trees.FileEntry{Path: c.Path, Mode: c.Old.Mode, Hash: c.Old.Hash})
		return true
	})
	if len(entries) > 0 {
		tree, err := replace(t.o.reader, t.k, t.tree, entries)
		if err != nil {
			return err
		}
		t.tree, t.unstaged = tree, others
	}
	if len(t.user.Links) == 0 {
		return nil
	}
	status := func(links ...string) ([]byte, error) {
		args := []string{"--literal-pathspecs", "status", "--porcelain=v2", "-z", "-uno", "--no-renames", "--ignore-submodules=none", "--"}
		return t.repo.RootGit().Output(t.ctx, append(args, links...)...)
	}
	out, err := status(t.user.Links...)
	if err != nil { // git stops at a damaged submodule, and at a symlink in place of one
		out = nil
		for _, link := range t.user.Links {
			one, err := status(link)
			if t.ctx.Err() != nil {
				return fmt.Errorf("compare submodules: %w", err)
			}
			if err != nil {
				t.skipOnce(link, checkpoint.NotReadable)
			} else {
				out = append(out, one...)
			}
		}
	}
	for _, line := range git.Fields(out) { // "1 XY <sub> <mH> <mI> <mW> <hH> <hI> <path>"
		f := strings.SplitN(line, " ", 9)
		if len(f) == 9 && f[0] == "1" && strings.HasPrefix(f[2], "S") && f[2] != "S..." {
			reason := checkpoint.ChangedSubmodule
			if f[2][1] == 'C' {
				reason = checkpoint.MovedSubmodule
			}
			t.skipOnce(f[8], reason)
		}
	}
	return nil
}

func (t *taker) late() bool { return !t.end.IsZero() && !time.Now().Before(t.end) }

// A fileList is the difference between the worktree and the own index, as git lists it.
type fileList struct {
	others  []string // new files; a repository ends with a slash
	changed []string // changed files, possibly with equal content, and missing ones
	dropped []string // ignored files in the own index
	ignored []string // .gitignore files that git ignores
	text    string   // warnings
	err     error
}

// list starts git's comparison of the worktree with the own index.
func (t *taker) list(ctx context.Context) <-chan fileList {
	done := make(chan fileList, 1)
	if t.req.Staged {
		done <- fileList{}
		return done
	}
	go func() {
		var l fileList
		dropped := make(chan error, 1)
		if !t.req.Idle {
			go func() { dropped <- t.listIgnored(ctx, &l) }()
		} else {
			dropped <- nil
		}
		args := []string{"ls-files", "-z", "-t", "-m", "-d"}
		if t.takesUntracked() {
			args = append(args, "-o", "--exclude-standard", listIgnored)
		}
		g := t.o.git
		for _, e := range t.repo.Config { // a filter that fails leaves out its files, see update
			if strings.HasPrefix(e.Key, "filter.") && strings.HasSuffix(e.Key, ".required") {
				g.Settings = append(slices.Clone(g.Settings), e.Key+"=false")
			}
		}
		run, err := g.Start(ctx, args...)
		if err == nil {
			var out []byte
			out, err = run.Finish(nil)
			l.text = failedFilter().ReplaceAllString(run.Warnings(), "")
			for _, line := range git.Fields(out) {
				switch tag, name := line[:min(2, len(line))], line[min(2, len(line)):]; tag {
				case "? ":
					l.others = append(l.others, name)
				case "C ", "R ":
					l.changed = append(l.changed, name)
				default:
					err = fmt.Errorf("git ls-files said %q", line)
				}
			}
		}
		l.err = errors.Join(err, <-dropped)
		if l.err == nil {
			l.others, l.ignored, l.err = t.splitIgnored(ctx, l.others)
		}
		l.changed = slices.Compact(l.changed) // an unmerged path has a line for each stage
		done <- l
	}()
	return done
}

func (t *taker) listIgnored(ctx context.Context, l *fileList) error {
	out, err := t.o.git.Output(ctx, "ls-files", "-z", "-c", "-i", "--exclude-standard")
	l.dropped = git.Fields(out)
	return err
}

// takesUntracked reports whether a save takes untracked files. Repositories of settings files
// whose worktree is a home directory hide them.
func (t *taker) takesUntracked() bool {
	value, ok := git.Last(t.repo.Config, "status.showuntrackedfiles")
	hidden := ok && slices.Contains([]string{"no", "false", "off", "0"}, strings.ToLower(value))
	return !hidden || !t.req.Automatic
}

// clearFlags makes git read files that the user's index marks as unchanged, and names them. It reports
// whether it changed the own index, which has marks only if it is a new copy. In a sparse checkout,
// git itself reads files that are there.
func (t *taker) clearFlags() (cleared bool, err error) {
	sparse, _ := git.Last(t.repo.Config, "core.sparsecheckout")
	for _, f := range []struct {
		paths []string
		flag  string
	}{{t.user.Skip, "skip-worktree"}, {t.user.Assume, "assume-unchanged"}} {
		if len(f.paths) == 0 || t.req.Staged || f.flag == "skip-worktree" && git.Bool(sparse) {
			continue
		}
		for _, name := range f.paths {
			info, err := t.lstat(name)
			isAbsent := f.flag == "skip-worktree" && (isGone(err) || err == nil && info.IsDir())
			if !isAbsent && len(t.Facts.Flagged) < MaxListed {
				t.Facts.Flagged = append(t.Facts.Flagged, checkpoint.Flagged{Path: name, Flag: f.flag})
			}
		}
		if !t.o.fresh {
			continue
		}
		if _, err := t.o.run(t.ctx, joinPaths(f.paths), "update-index", "--no-"+f.flag, "-z", "--stdin"); err != nil {
			return false, fmt.Errorf("read marked files: %w", err)
		}
		cleared = true
	}
	return cleared, nil
}

func joinPaths(paths []string) []byte {
	return []byte(strings.Join(paths, "\x00") + "\x00")
}

func (t *taker) artifacts() error {
	for i, name := range slices.Concat(t.req.Artifacts, t.req.kept) {
		clean, err := t.checkArtifact(name)
		isRequired := i < len(t.req.Artifacts)
		if err == nil {
			t.named[clean], t.required[clean] = true, isRequired || t.required[clean]
		} else if isRequired {
			return fmt.Errorf("artifact %q: %w", name, err)
		}
	}
	return nil
}

// checkArtifact returns the clean path of an artifact below the root. It returns an error
// if a restore could not write a file to that path.
func (t *taker) checkArtifact(name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", errors.New("outside the worktree")
	}
	clean := path.Clean(filepath.ToSlash(name))
	info, err := t.lstat(clean)
	switch f := t.boundary.Find(clean); {
	case err == errNotDir:
		return "", errors.New("a parent of it is a symlink or a file")
	case err != nil:
		return "", errors.Unwrap(err)
	case !info.Mode().IsRegular():
		return "", errors.New("not a regular file")
	case f.Reason != "":
		return "", fmt.Errorf("%q is %s", f.Path, f.Reason)
	}
	return clean, trees.CheckPath(clean, trees.ModeFile)
}
