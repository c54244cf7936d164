package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
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

// A State is the content of a worktree and its index, as git would store it.
type State struct {
	Head     repo.Head
	HeadTree plumbing.Hash // zero on an unborn branch
	User     userIndex     // the user's index
	Staged   plumbing.Hash // tree of the index, with HEAD's version of unmerged paths
	Tree     plumbing.Hash // tree of the files that git reads from the worktree, with submodules as staged
	Skipped  []checkpoint.Skipped
	Left     []string // all skipped paths whose content the tree may not have
	Flagged  []checkpoint.Flagged
	Hidden   map[string]bool // artifacts that git ignores
	Named    map[string]bool // artifacts, and those of the checkpoint before
	Required map[string]bool // artifacts of the request
	Ignores  string          // digest of git's rules for ignored files that the tree does not have
	Cut      bool            // the time ended before all files were read
	Unlisted bool            // the time ended before git had listed the files

	Changes  []trees.Change   // from HEAD to the index
	Sizes    map[string]int64 // of the staged files that differ from HEAD, in bytes
	Unstaged []trees.Change   // from the index to the files
	Read     int64            // bytes of the files that were read, without those that are staged

	listed int // number of skipped paths, also beyond MaxListed
}

// A taker takes a state.
type taker struct {
	*Capturer
	*State
	ctx      context.Context
	req      Request
	k        *repo.ObjectWriter
	o        *ownIndex
	boundary *repository.Boundary
	dirs     map[string]error // parents of paths: nil for a directory, errNotDir, or the error of lstat
	unmerged map[string]bool  // unmerged paths of the user's index
	end      time.Time        // of the time limit, or zero
	room     int64            // bytes that may still be read
	failed   error            // an artifact of the request cannot be stored
}

// Take takes the state of the worktree: git lists new, changed and missing paths, this program vets
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
func (s *Capturer) Take(ctx context.Context, req Request, k *repo.ObjectWriter) (*State, error) {
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
		s.repo.Objects.Refresh()
	}
	for tries := 1; ; tries++ {
		t := &taker{Capturer: s, State: &State{Head: head, HeadTree: tree, Hidden: map[string]bool{}, Named: map[string]bool{}, Required: map[string]bool{}}, ctx: ctx, req: req, k: k, o: o, boundary: s.repo.Boundary(ctx)}
		err := t.take(fresh)
		var failed *git.CommandError
		if !fresh && ctx.Err() == nil && errors.As(err, &failed) && failed.Code == 128 {
			fresh = true // the own index is damaged, or git has pruned a blob that only it knew
			continue
		}
		if err == nil && tries < maxTries && t.User.Identity != identityOf(s.repo.Info.Index) {
			continue // the user's index has changed meanwhile
		}
		if err == nil && req.DryRun {
			err = o.addTo(k)
		}
		return t.State, err
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

func (t *taker) take(fresh bool) error {
	if t.room = t.req.MaxSize; t.room <= 0 {
		t.room = noLimit
	}
	t.dirs = map[string]error{}
	ctx := t.ctx
	if t.req.Budget > 0 {
		t.end = time.Now().Add(t.req.Budget)
		limited, cancel := context.WithDeadline(ctx, t.end)
		defer cancel()
		ctx = limited
	}
	if t.req.Staged {
		return t.takeStaged()
	}
	if err := t.o.begin(fresh); err != nil {
		return err
	}
	listing := t.list(ctx)
	user, err := t.o.userIndex(t.ctx, t.HeadTree)
	if err != nil {
		<-listing
		return err
	}
	l := <-listing
	if err := t.compare(user); err != nil {
		return err
	}
	if cleared, err := t.clearFlags(l.others); err != nil {
		return err
	} else if cleared {
		l = <-t.list(ctx)
	}
	if l.err != nil && !t.late() {
		return fmt.Errorf("list the files of the worktree: %w", l.err)
	}
	t.Cut, t.Unlisted = l.err != nil, l.err != nil
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
	if err == nil {
		err = t.leaveRepositories()
	}
	if err == nil {
		err = t.submodules()
	}
	if more := t.listed - MaxListed; more > 0 {
		t.Skipped = append(t.Skipped, checkpoint.Skipped{Path: ".", Reason: fmt.Sprintf("%d more files", more)})
	}
	return errors.Join(err, t.o.writeNote())
}

// compare compares HEAD with the user's index.
func (t *taker) compare(user *userIndex) (err error) {
	t.User, t.Staged, t.Sizes = *user, plumbing.NewHash(user.Staged), map[string]int64{}
	t.unmerged = map[string]bool{}
	for _, e := range user.Conflicts {
		t.unmerged[e.Path] = true
	}
	if t.Changes, err = trees.Diff(t.o.reader, t.HeadTree, t.Staged); err != nil {
		return err
	}
	fetched := !t.isPartial()
	for _, c := range t.Changes {
		if c.New.Hash.IsZero() || c.New.Mode == trees.ModeGitlink {
			continue
		}
		if !fetched && !t.repo.Objects.Has(c.New.Hash) {
			// For the sizes git fetches all files that this partial clone lacks together.
			if _, err := t.repo.FetchPromised(t.ctx, nil, "diff-index", "--cached", "--numstat", t.HeadTree.String()); err != nil {
				return fmt.Errorf("staged file %q: object %s is missing: %w", c.Path, c.New.Hash, err)
			}
			fetched = true
		}
		size, err := t.repo.Objects.Size(c.New.Hash)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			err = fmt.Errorf("object %s is missing", c.New.Hash)
		}
		if err != nil {
			return fmt.Errorf("staged file %q: %w", c.Path, err)
		}
		t.Sizes[c.Path] = size
		t.room -= size
	}
	return nil
}

// takeStaged takes the user's index, and the named files.
func (t *taker) takeStaged() error {
	user, err := t.o.userIndex(t.ctx, t.HeadTree)
	if err != nil {
		return err
	}
	if err := t.compare(user); err != nil {
		return err
	}
	t.Tree = t.Staged
	if err := t.artifacts(); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(t.Named))
	hashes, err := t.git().HashFiles(t.ctx, names, !t.req.DryRun)
	if err != nil {
		return err
	}
	var named []trees.FileEntry
	for _, name := range names {
		info, err := t.lstat(name)
		if t.Hidden[name] = true; err != nil || hashes[name].IsZero() {
			t.skip(name, 0, checkpoint.NotReadable)
			continue
		}
		named = append(named, trees.FileEntry{Path: name, Mode: trees.ModeOf(info), Hash: hashes[name]})
	}
	if len(named) > 0 {
		t.Tree, err = trees.Replace(t.o.reader, t.k, t.Tree, named)
	}
	return errors.Join(err, t.failed, t.o.writeNote())
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
	t.Tree = plumbing.NewHash(t.o.note.Tree)
	t.Unstaged, err = trees.Diff(t.o.reader, t.Staged, t.Tree)
	return err
}

// addMissing adds files that are in the worktree, and that git does not list because it ignores
// them: artifacts, and files that the user's index has.
func (t *taker) addMissing(ctx context.Context) error {
	names := slices.Sorted(maps.Keys(t.Named))
	if !t.Cut {
		names = append(slices.AppendSeq(names, maps.Keys(t.unmerged)), t.User.Intent...)
	}
	find := &trees.Finder{Reader: t.o.reader}
	names = slices.DeleteFunc(names, func(name string) bool {
		mode, _, err := find.Lookup(t.Tree, name)
		return err == nil && mode != 0
	})
	for _, c := range t.Unstaged {
		if c.New.Mode == 0 && c.Old.Mode != trees.ModeGitlink && !t.Cut {
			names = append(names, c.Path)
		}
	}
	slices.Sort(names)
	var files []readFile
	for _, name := range slices.Compact(names) {
		t.Hidden[name] = t.Named[name]
		info, err := t.lstat(name)
		skips := func(f checkpoint.Skipped) bool { return f.Path != "." && checkpoint.IsWithin(name, f.Path) }
		if isGone(err) || err == nil && info.IsDir() || slices.ContainsFunc(t.Skipped, skips) || t.boundary.Find(name).Reason != "" {
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
	for _, c := range t.Unstaged {
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
	isBack := map[string]bool{}
	find := &trees.Finder{Reader: t.o.reader}
	for _, c := range t.Unstaged {
		if c.Old.Mode != trees.ModeGitlink && c.New.Mode != trees.ModeGitlink || c.New.Mode != 0 && c.New.Mode != trees.ModeGitlink {
			continue // a file in place of a submodule is a file
		}
		if mode, _, err := find.Lookup(t.Tree, c.Path); err == nil && mode == trees.ModeTree {
			continue // likewise files
		}
		isBack[c.Path] = true
		entries = append(entries, trees.FileEntry{Path: c.Path, Mode: c.Old.Mode, Hash: c.Old.Hash})
	}
	if len(entries) > 0 {
		tree, err := replace(t.o.reader, t.k, t.Tree, entries)
		if err != nil {
			return err
		}
		t.Tree = tree
		t.Unstaged = slices.DeleteFunc(t.Unstaged, func(c trees.Change) bool { return isBack[c.Path] })
	}
	if len(t.User.Links) == 0 {
		return nil
	}
	status := func(links ...string) ([]byte, error) {
		args := []string{"--literal-pathspecs", "status", "--porcelain=v2", "-z", "-uno", "--no-renames", "--ignore-submodules=none", "--"}
		return t.git().Output(t.ctx, append(args, links...)...)
	}
	out, err := status(t.User.Links...)
	if err != nil { // git stops at a damaged submodule, and at a symlink in place of one
		out = nil
		for _, link := range t.User.Links {
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

// listIgnored lists the paths of the own index that git ignores.
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

// clearFlags makes git read files that the user's index marks as unchanged, and reports whether it
// changed the own index. In a sparse checkout, git itself reads files that are there. others are the
// new files.
func (t *taker) clearFlags(others []string) (cleared bool, err error) {
	sparse, _ := git.Last(t.repo.Config, "core.sparsecheckout")
	before := setOf(t.o.note.Cleared) // a path may have both flags, and is cleared of both
	for _, f := range []struct {
		paths []string
		flag  string
	}{{t.User.Skip, "skip-worktree"}, {t.User.Assume, "assume-unchanged"}} {
		if f.flag == "skip-worktree" && git.Bool(sparse) {
			continue
		}
		there := slices.DeleteFunc(slices.Clone(f.paths), func(name string) bool {
			info, err := t.lstat(name)
			isBelow := func(other string) bool { return strings.HasPrefix(other, name+"/") }
			isFree := err == nil && info.IsDir() && !slices.ContainsFunc(others, isBelow) // for the file
			return f.flag == "skip-worktree" && (isGone(err) || isFree)
		})
		for _, name := range there[:min(len(there), MaxListed)] {
			t.Flagged = append(t.Flagged, checkpoint.Flagged{Path: name, Flag: f.flag})
		}
		new := slices.DeleteFunc(slices.Clone(there), func(name string) bool { return before[name] })
		if len(new) == 0 {
			continue
		}
		if _, err := t.o.run(t.ctx, joinPaths(new), "update-index", "--no-"+f.flag, "-z", "--stdin"); err != nil {
			return false, fmt.Errorf("read marked files: %w", err)
		}
		t.o.note.Cleared, cleared = append(t.o.note.Cleared, new...), true
	}
	return cleared, nil
}

func setOf(paths []string) map[string]bool {
	set := make(map[string]bool, len(paths))
	for _, name := range paths {
		set[name] = true
	}
	return set
}

func joinPaths(paths []string) []byte {
	return []byte(strings.Join(paths, "\x00") + "\x00")
}

// artifacts checks the named files of the request.
func (t *taker) artifacts() error {
	if len(t.req.Artifacts)+len(t.req.kept) == 0 {
		return nil
	}
	root, err := os.OpenRoot(t.repo.Info.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range t.req.Artifacts {
		clean, err := checkArtifact(root, name)
		if err != nil {
			return fmt.Errorf("artifact %q: %w", name, err)
		}
		if f := t.boundary.Find(clean); f.Reason != "" {
			return fmt.Errorf("artifact %q: %q is %s", name, f.Path, f.Reason)
		}
		t.Required[clean], t.Named[clean] = true, true
	}
	for _, name := range t.req.kept {
		if clean, err := checkArtifact(root, name); err == nil && t.boundary.Find(clean).Reason == "" {
			t.Named[clean] = true
		}
	}
	return nil
}
