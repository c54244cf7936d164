// Package refs reads refs and reflogs of the files backend from their files, and moves refs with
// git. It also locks the refs of an issue against other processes of this program, see IssueLock.
//
// In git's files backend, a ref is a file in the repository, or a line of packed-refs if
// that file does not exist. See gitrepository-layout(5) and git update-ref.
package refs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Reader reads the refs that all worktrees share. Git lists them. In the files backend, the reader
// reads one ref from its files like git, loose refs first, then packed-refs. An outdated result is
// harmless, because each update is a compare-and-swap.
type Reader struct {
	Git   git.Git
	Path  string // $GIT_COMMON_DIR
	Files bool   // whether refs use the files backend

	Share  func(paths ...string)            // sets the modes of a shared repository
	Notify func(format string, args ...any) // reports an automatic action

	cache *listing // of Cache, or nil

	// Pending contains the new values of a transaction that has not moved its refs yet. Read and
	// Names use these values. Zero means that the transaction deletes the ref.
	Pending map[string]plumbing.Hash
}

// A BrokenError reports a ref that does not contain an object id.
type BrokenError struct{ Name, Text string }

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s: broken ref: %q is not an object name", e.Name, e.Text)
}

// Read returns the object id of a ref, or the zero hash if the ref does not exist. It
// fails with *BrokenError. For an invalid ref name Read returns the zero hash, because a
// record may contain any text as its branch.
func (r *Reader) Read(ctx context.Context, name string) (plumbing.Hash, error) {
	if !MayBe(name) {
		return plumbing.ZeroHash, nil
	}
	if value, is := r.Pending[name]; is {
		return value, nil
	}
	if r.cache.has(name) {
		if _, broken := r.cache.broken[name]; !broken {
			return r.cache.values[name], nil
		}
	}
	return r.Now(ctx, name)
}

// Now is Read without a cache and without Pending.
func (r *Reader) Now(ctx context.Context, name string) (plumbing.Hash, error) {
	if !r.Files {
		l, err := r.list(ctx, name) // includes refs below name if name is a directory
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if target, broken := l.broken[name]; broken {
			err = &BrokenError{name, target}
		}
		return l.values[name], err
	}
	data, err := readFile(folder(r.Path), name)
	switch {
	case err == nil:
		return Parse(name, data)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return findPacked(r.Path, name)
	}
	return plumbing.ZeroHash, fmt.Errorf("read %s: %w", name, err)
}

// MayBe reports whether git check-ref-format accepts a name. The path of such a ref is
// always inside the directory of refs.
func MayBe(name string) bool {
	bad := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsFunc(name, bad) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.HasSuffix(name, ".")
}

// Space contains the characters that are white space in the files of refs.
const Space = " \t\n\r"

// Parse parses the file content of a ref. Like git, it ignores text after an id and white
// space. It fails with *BrokenError.
func Parse(name string, data []byte) (plumbing.Hash, error) {
	text := strings.TrimRight(string(data), Space)
	id := text
	if end := strings.IndexAny(text, Space); end >= 0 {
		id = text[:end]
	}
	if !plumbing.IsHash(id) {
		return plumbing.ZeroHash, &BrokenError{name, text}
	}
	return plumbing.NewHash(id), nil
}

// Cache reads the refs below prefixes once. Until Release, reads below these prefixes return the
// values of that time. A command that reads the refs of all issues calls it, because each read
// takes some system calls, or a git process for reftables. A broken ref is still read by each
// Read. The issue lock releases the cache, because a decision to move a ref needs its value. Cache
// reports whether the cache is new, so that the caller has to release it.
func (r *Reader) Cache(ctx context.Context, prefixes ...string) bool {
	if r.cache.has(prefixes...) {
		return false
	}
	l, err := r.below(ctx, prefixes...)
	if r.cache = nil; err == nil {
		r.cache = l
	}
	return err == nil
}

// Release ends Cache.
func (r *Reader) Release() { r.cache = nil }

// A listing has the refs that match patterns of git for-each-ref.
type listing struct {
	patterns []string
	values   map[string]plumbing.Hash
	broken   map[string]string   // the targets of symbolic refs, and "" for refs without a valid object id
	byBase   map[string][]string // the names of the values by their last component
}

func (l *listing) add(name string, value plumbing.Hash) {
	l.values[name] = value
	l.byBase[path.Base(name)] = append(l.byBase[path.Base(name)], name)
}

// has reports whether the listing has all refs below prefixes.
func (l *listing) has(prefixes ...string) bool {
	isListed := func(prefix string) bool {
		return slices.ContainsFunc(l.patterns, func(p string) bool { return strings.HasPrefix(prefix, p) })
	}
	return l != nil && !slices.ContainsFunc(prefixes, func(p string) bool { return !isListed(p) })
}

// list runs git for-each-ref.
//
// If git cannot open a reftable, for example without free file descriptors, git for-each-ref
// prints nothing and exits with status 0. So list asks a reftable for HEAD of the main worktree
// too. If git does not list HEAD, either the current branch is unborn, or HEAD cannot be found.
func (r *Reader) list(ctx context.Context, patterns ...string) (*listing, error) {
	g, args := r.Git, []string{"for-each-ref", "--format=%(objectname) %(symref) %(refname)"}
	hasTables := !r.Files && fsutil.Exists(filepath.Join(r.Path, "reftable"))
	if hasTables {
		g, args = g.With("GIT_DIR="+r.Path), append(args, "--include-root-refs", "HEAD")
	}
	for again := false; ; again = true {
		out, err := g.Output(ctx, append(args, patterns...)...)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", strings.Join(patterns, " "), err)
		}
		l := &listing{patterns, map[string]plumbing.Hash{}, map[string]string{}, map[string][]string{}}
		hasHead := false
		for line := range strings.Lines(string(out)) {
			words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
			switch name := words[2]; {
			case name == "HEAD":
				hasHead = true
			case words[1] != "":
				l.broken[name] = words[1]
			default:
				l.add(name, plumbing.NewHash(words[0]))
			}
		}
		if !hasTables || hasHead || again {
			return l, nil
		}
		if _, err := g.Output(ctx, "show-ref", "--exists", "HEAD"); err != nil {
			return nil, fmt.Errorf("list %s: git cannot read its reftable: %w", strings.Join(patterns, " "), err)
		}
	}
}

// addLoose adds the loose refs below prefixes that git for-each-ref leaves out: broken refs, dangling
// symbolic refs, and files with the name of no ref. It fails if a directory is unreadable, of which git
// says nothing.
func (r *Reader) addLoose(ctx context.Context, l *listing) error {
	for _, prefix := range l.patterns {
		root := r.file(prefix) + string(filepath.Separator)
		// Like git, follow a symlink in place of the folder.
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if errors.Is(err, syscall.ENOTDIR) { // a ref has the name of the prefix
				return nil
			}
			if err != nil || d.IsDir() || strings.HasSuffix(file, ".lock") {
				return fsutil.IgnoreMissing(err)
			}
			name := prefix + filepath.ToSlash(file[len(root):])
			if _, isBroken := l.broken[name]; isBroken || !l.values[name].IsZero() {
				return nil
			}
			value, err := r.Now(ctx, name)
			_, lost := os.Lstat(file)
			switch info, statErr := os.Stat(file); {
			case errors.Is(lost, fs.ErrNotExist), statErr == nil && info.IsDir(): // deleted, or a symlink, whose refs git lists
			case err == nil && !value.IsZero() && MayBe(name): // a new ref
				l.add(name, value)
			default:
				l.broken[name] = ""
			}
			return nil
		})
		if fsutil.IgnoreMissing(err) != nil {
			return fmt.Errorf("list %s: %w", prefix, err)
		}
	}
	return nil
}

// below returns the refs below prefixes, from the cache if it has them.
func (r *Reader) below(ctx context.Context, prefixes ...string) (*listing, error) {
	if r.cache.has(prefixes...) {
		return r.cache, nil
	}
	l, err := r.list(ctx, prefixes...)
	if err == nil && r.Files {
		err = r.addLoose(ctx, l)
	}
	return l, err
}

// Names returns the sorted names of the refs below a prefix, including broken refs.
func (r *Reader) Names(ctx context.Context, prefix string) ([]string, error) {
	l, err := r.below(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range slices.AppendSeq(slices.Collect(maps.Keys(l.values)), maps.Keys(l.broken)) {
		if value, pending := r.Pending[name]; strings.HasPrefix(name, prefix) && !(pending && value.IsZero()) {
			names = append(names, name)
		}
	}
	for name, value := range r.Pending {
		if strings.HasPrefix(name, prefix) && !value.IsZero() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Values returns the values of the refs below prefixes, including refs to missing objects. It omits
// symbolic refs and refs without a valid object id.
func (r *Reader) Values(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
	l, err := r.below(ctx, prefixes...)
	if err != nil {
		return nil, err
	}
	found := map[string]plumbing.Hash{}
	for name, hash := range l.values {
		if Below(name, prefixes) {
			found[name] = hash
		}
	}
	return found, nil
}

// InFolders returns the refs prefix + folder + "/" + base for all folders, which are one component
// of a name. It omits refs without a valid object id.
func (r *Reader) InFolders(ctx context.Context, prefix, base string) (map[string]plumbing.Hash, error) {
	l, err := r.cache, error(nil)
	if !l.has(prefix) {
		l, err = r.list(ctx, prefix+"*/"+base)
	}
	if err != nil {
		return nil, err
	}
	found := map[string]plumbing.Hash{}
	for _, name := range l.byBase[path.Base(base)] {
		folder, isBelow := strings.CutPrefix(name, prefix)
		if folder, isBase := strings.CutSuffix(folder, "/"+base); isBelow && isBase && !strings.Contains(folder, "/") {
			found[name] = l.values[name]
		}
	}
	return found, nil
}

// Below reports whether a name is below one of the prefixes.
func Below(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return len(name) > len(p) && strings.HasPrefix(name, p) })
}

// A folder is an os.DirFS that accepts ref names, which may be invalid UTF-8.
type folder string

func (d folder) file(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d folder) Open(name string) (fs.File, error) { return os.Open(d.file(name)) }

func (d folder) ReadFile(name string) ([]byte, error) { return os.ReadFile(d.file(name)) }

func (d folder) Stat(name string) (fs.FileInfo, error) { return os.Stat(d.file(name)) }

func (d folder) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(d.file(name)) }

// bookkeeping is the prefix of the refs of this program beside the chains and archives.
const bookkeeping = "refs/git-checkpoint/"

// ownRefs are the prefixes of the refs of this program. On a case-insensitive file system, an
// issue must not read the chain of another issue. Git does not distinguish such names: after
// git checkout MAIN, HEAD is the branch in the file refs/heads/main.
var ownRefs = []string{"refs/checkpoints/", "refs/checkpoints-archive/", bookkeeping}

// readFile reads the file of a ref. For a ref of this program, it fails with fs.ErrNotExist
// if the file system opened the file of another ref.
func readFile(dir fs.FS, name string) ([]byte, error) {
	data, err := fs.ReadFile(dir, name)
	if err == nil && Below(name, ownRefs) && isAlias(dir, name) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return data, err
}

// isTaken reports whether the file system has the file of another ref under this name, because
// it ignores case or normalizes letters.
func isTaken(dir fs.FS, name string) bool {
	info, err := fs.Stat(dir, name)
	return err == nil && info.Mode().IsRegular() && isAlias(dir, name)
}

// aliasTries limits the number of looks at a directory in which a ref moves meanwhile.
const aliasTries = 3

// isAlias reports whether a directory lists the file that a name opens under another name only.
// It lists the directory only if the name may be an alias.
func isAlias(dir fs.FS, name string) bool {
	parent, base := path.Split(name)
	opens := func(other string) bool {
		_, err := fs.Stat(dir, parent+other)
		return err == nil
	}
	if !fsutil.MayBeAlias(base, opens) {
		return false
	}
	for range aliasTries {
		info, err := fs.Stat(dir, name)
		if err != nil {
			return false
		}
		entries, err := fs.ReadDir(dir, path.Clean(parent))
		if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == base }) {
			return false
		}
		// Some file systems omit a file that is renamed meanwhile, for example btrfs.
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			other, err := fs.Stat(dir, parent+e.Name())
			return err == nil && os.SameFile(info, other)
		}) {
			return true
		}
	}
	return false
}
