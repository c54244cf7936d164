package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"
)

// DefaultMaxUntracked limits the new untracked files of one directory.
const DefaultMaxUntracked = 10_000

// leaveOutFull returns the paths without those in a directory with more of them than limit, and these
// directories, each with a slash. The deepest directories come first. A directory with untracked files
// in the checkpoint before stays.
func leaveOutFull(paths []string, limit int, had func(dir string) bool) (kept, full []string) {
	if len(paths) <= limit {
		return paths, nil
	}
	files := map[string]int{}
	count := func(below string, n int) { // for each directory above a path
		for dir := path.Dir(below); dir != "."; dir = path.Dir(dir) {
			files[dir] += n
		}
	}
	for _, name := range paths {
		count(name, 1)
	}
	dirs := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(strings.Count(b, "/")-strings.Count(a, "/"), strings.Compare(a, b))
	})
	for _, dir := range dirs {
		if files[dir] <= limit || had != nil && had(dir) {
			continue
		}
		count(dir, -files[dir])
		isBelow := func(name string) bool { return strings.HasPrefix(name, dir+"/") }
		paths, full = slices.DeleteFunc(paths, isBelow), append(slices.DeleteFunc(full, isBelow), dir+"/")
	}
	return paths, full
}

const ignoreFile = ".gitignore"

// listIgnored makes git ls-files --others list .gitignore files even if git ignores them. Git reads
// their rules all the same.
const listIgnored = "--exclude=!" + ignoreFile

// Ignores returns a digest of git's rules for ignored files that a snapshot does not have:
// info/exclude, the file of core.excludesFile, and .gitignore files that git ignores.
func (s *Capturer) Ignores(ctx context.Context) (string, error) {
	out, err := s.repo.RootGit().Output(ctx, "ls-files", "--others", "--exclude-standard", listIgnored, "-z", "--", ":(glob)**/"+ignoreFile)
	if err != nil {
		return "", fmt.Errorf("list ignored %s files: %w", ignoreFile, err)
	}
	_, ignored, err := s.splitIgnored(ctx, git.Fields(out))
	return s.ignores(ignored), err
}

// ignores returns the digest of Ignores. ignored has the paths of the .gitignore files that git
// ignores.
func (s *Capturer) ignores(ignored []string) string {
	sum := sha256.New()
	user, _ := git.UserFile(s.repo.Config, "core.excludesfile", "ignore")
	files := []string{filepath.Join(s.repo.Info.CommonDir, "info", "exclude"), user}
	slices.Sort(ignored)
	for _, name := range ignored {
		fmt.Fprintf(sum, "%q\n", name)
		files = append(files, filepath.Join(s.repo.Info.Root, filepath.FromSlash(name)))
	}
	addFiles(sum, files...)
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// splitIgnored splits a list with listIgnored into the files that git does not ignore, and
// the .gitignore files that it ignores. It starts git only if the list has a .gitignore file.
func (s *Capturer) splitIgnored(ctx context.Context, listed []string) (others, ignored []string, err error) {
	var doubtful []string
	for _, name := range listed {
		if strings.Contains("/"+name+"/", "/"+ignoreFile+"/") {
			doubtful = append(doubtful, name)
		}
	}
	hidden := map[string]bool{}
	if len(doubtful) > 0 {
		out, err := s.repo.RootGit().Pipe(ctx, joinPaths(doubtful), "check-ignore", "--no-index", "-z", "--stdin")
		if err != nil && git.Code(err) != 1 { // git ignores none
			return listed, nil, err
		}
		hidden = chain.SetOf(git.Fields(out))
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

// feed gives the vetted list to git, and reports whether the own index has changed.
func (t *taker) feed(ctx context.Context, l fileList) (changed bool, err error) {
	if t.req.Idle && !t.cut && (len(l.others)+len(l.changed) > 0 || t.o.reread) { // the save writes
		if err := t.listIgnored(t.ctx, &l); err != nil {
			return false, fmt.Errorf("list ignored files: %w", err)
		}
	}
	forced, err := t.ignoredNow(l.dropped)
	if err != nil {
		return false, err
	}
	var files []readFile
	if !t.cut {
		var hidden []string
		leave := chain.SetOf(forced)
		l.changed = slices.DeleteFunc(l.changed, func(name string) bool { return leave[name] })
		hidden, files = t.vet(l)
		forced = append(forced, hidden...)
		t.Facts.Ignores = t.ignores(l.ignored)
	}
	if t.failed != nil {
		return false, t.failed
	}
	if err := t.remove(forced); err != nil {
		return false, err
	}
	fed, err := t.add(ctx, files)
	if err = errors.Join(err, t.failed); err != nil || !t.o.fresh {
		return fed || len(forced) > 0, err
	}
	// A new own index has the unmerged paths of the user's index. Git write-tree fails for those that
	// git add has not resolved.
	unresolved, left := maps.Clone(t.unmerged), chain.SetOf(t.left)
	for _, f := range files {
		if !left[f.path] {
			delete(unresolved, f.path)
		}
	}
	return true, t.remove(slices.Collect(maps.Keys(unresolved)))
}

// remove removes paths from the own index, whatever the worktree has there.
func (t *taker) remove(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	t.o.note.Tree = ""
	if _, err := t.o.run(t.ctx, joinPaths(paths), "update-index", "--force-remove", "-z", "--stdin"); err != nil {
		return fmt.Errorf("remove paths from %s: %w", t.o.file, err)
	}
	return nil
}

// ignoredNow returns the paths of the own index that git ignores now, without those that the
// user's index has and without artifacts. A file that was untracked and is ignored now may be a
// secret.
func (t *taker) ignoredNow(paths []string) (dropped []string, err error) {
	find, intended := &trees.Finder{Reader: t.o.reader}, chain.SetOf(t.user.Intent)
	for _, name := range paths {
		t.hidden[name] = t.named[name]
		if t.named[name] || intended[name] || t.unmerged[name] {
			continue
		}
		mode, _, err := find.Lookup(t.Staged, name)
		if err != nil {
			return nil, err
		}
		if mode == 0 {
			dropped = append(dropped, name)
		}
	}
	return dropped, nil
}

// Limits of one call of git update-index under a time limit.
const (
	batchPaths = 1000
	batchBytes = 64 << 20
)

// maxCulprits limits the files that git cannot store, one call each.
const maxCulprits = 20

// add makes git read files into the own index, and reports whether it did. Under a time limit it
// works in batches. When the time has ended, only named files are read, and the rest is left out.
func (t *taker) add(ctx context.Context, files []readFile) (changed bool, err error) {
	for late := false; len(files) > 0; {
		n, size := 0, int64(0)
		for n < len(files) && (t.end.IsZero() || n < batchPaths && (n == 0 || size+files[n].size <= batchBytes)) {
			size += files[n].size
			n++
		}
		batch, limited := files[:n], ctx
		if late = late || t.late(); late {
			limited = t.ctx
			batch = slices.DeleteFunc(slices.Clone(batch), func(f readFile) bool {
				if !t.named[f.path] {
					t.cut = true
					t.skip(f.path, f.size, checkpoint.OutOfTime)
				}
				return !t.named[f.path]
			})
		}
		rest, err := t.update(limited, batch)
		if changed = true; err != nil {
			return changed, err
		}
		if files = files[n:]; len(rest) > 0 {
			late, files = true, slices.Concat(rest, files)
		}
	}
	return changed, nil
}

// update is one batch of add. If git cannot store a file, update leaves it out and tries again,
// and with it all files that the same filter converts. It returns the files for which the time did
// not suffice.
func (t *taker) update(ctx context.Context, files []readFile) (rest []readFile, err error) {
	for culprits := 0; len(files) > 0; culprits++ {
		if culprits > maxCulprits || ctx.Err() != nil {
			return files, t.ctx.Err()
		}
		paths := make([]string, len(files))
		for i, f := range files {
			paths[i] = f.path
		}
		before := len(t.o.warnings)
		t.o.note.Tree = ""
		out, err := t.o.run(ctx, joinPaths(paths), "update-index", "--ignore-skip-worktree-entries", "--add", "--remove", "--replace", "--verbose", "-z", "--stdin")
		if err == nil {
			for _, line := range t.o.warnings[before:] {
				if isWarning(line) {
					t.skip(".", 0, "git: "+line)
				}
			}
			return nil, nil
		}
		t.o.warnings = t.o.warnings[:before]
		var failed *git.CommandError
		if !errors.As(err, &failed) || failed.Code != 128 || ctx.Err() != nil || lacksResources().MatchString(failed.Stderr) {
			if t.ctx.Err() == nil && ctx.Err() != nil {
				return files, nil
			}
			return nil, fmt.Errorf("store the files of the worktree: %w", err)
		}
		n := countDone(out, paths)
		if n == len(paths) {
			return nil, fmt.Errorf("store the files of the worktree: %w", err)
		}
		leave := append(t.sameFilter(ctx, paths[n], paths), paths[n])
		reason := "git: " + firstLine(failed.Stderr)
		files = slices.DeleteFunc(slices.Clone(files), func(f readFile) bool {
			out := slices.Contains(leave, f.path)
			if out {
				t.skip(f.path, f.size, reason)
			}
			return out
		})
	}
	return nil, nil
}

// lacksResources matches errors of git that do not concern one file.
var lacksResources = document.Pattern(`insert into database|[Uu]nable to (write|create)|\.lock'|No space left|quota exceeded|[Tt]oo many open files|[Oo]ut of memory`)

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimPrefix(strings.TrimPrefix(line, "error: "), "fatal: ")
}

// countDone returns the number of paths that git update-index --verbose has reported, in order.
func countDone(out []byte, paths []string) (n int) {
	text := string(out)
	for n < len(paths) {
		rest, ok := strings.CutPrefix(text, "add '"+paths[n]+"'\n")
		if !ok {
			rest, ok = strings.CutPrefix(text, "remove '"+paths[n]+"'\n")
		}
		if !ok {
			break
		}
		text, n = rest, n+1
	}
	return n
}

// sameFilter returns the paths with the filter attribute of a path, or nil if it has none.
func (t *taker) sameFilter(ctx context.Context, culprit string, paths []string) (same []string) {
	out, err := t.o.git.Pipe(ctx, joinPaths(append([]string{culprit}, paths...)), "check-attr", "-z", "--stdin", "filter")
	fields := git.Fields(out)
	if err != nil || len(fields) < 3 || slices.Contains([]string{"unspecified", "unset"}, fields[2]) {
		return nil
	}
	for i := 0; i+2 < len(fields); i += 3 {
		if fields[i+2] == fields[2] {
			same = append(same, fields[i])
		}
	}
	return same
}
