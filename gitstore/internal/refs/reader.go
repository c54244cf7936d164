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
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Reader reads the refs that all worktrees share. In the files backend it reads the
// files like git, loose refs first, then packed-refs. For other backends it runs git. An
// outdated result is harmless, because each update is a compare-and-swap.
type Reader struct {
	Git   git.Git
	Path  string // $GIT_COMMON_DIR
	Files bool   // whether refs use the files backend

	Share  func(paths ...string)            // sets the modes of a shared repository
	Notify func(format string, args ...any) // reports an automatic action

	cache *cache // of Cache, or nil

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
func (r *Reader) Read(ctx context.Context, name string) (value plumbing.Hash, err error) {
	if !MayBe(name) {
		return plumbing.ZeroHash, nil
	}
	if value, is := r.Pending[name]; is {
		return value, nil
	}
	if r.cache.has(name) && !r.cache.broken[name] {
		return r.cache.values[name], nil
	}
	if !r.Files {
		refs, err := r.List(ctx, name) // includes refs below name if name is a directory
		return refs[name], err
	}
	data, err := readFile(folder(r.Path), name)
	switch {
	case err == nil:
		return Parse(name, data)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		err = withPacked(r.Path, func(p *packedFile) (err error) {
			value, err = p.find(name)
			return err
		})
		return value, err
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
// Read. The issue lock releases the cache, because a decision to move a ref needs its value.
func (r *Reader) Cache(ctx context.Context, prefixes ...string) error {
	r.Release()
	c := &cache{prefixes: prefixes, broken: map[string]bool{}, folders: map[string][]string{}}
	var err error
	if c.values, err = r.values(ctx, prefixes, func(name string) { c.broken[name] = true }); err == nil {
		r.cache = c
	}
	return err
}

// IsCached reports whether the refs below prefixes are cached.
func (r *Reader) IsCached(prefixes ...string) bool { return r.cache.has(prefixes...) }

// Release ends Cache.
func (r *Reader) Release() { r.cache = nil }

// A cache has the refs below prefixes.
type cache struct {
	prefixes []string
	values   map[string]plumbing.Hash
	broken   map[string]bool     // refs whose files have no object id
	folders  map[string][]string // by prefix
}

// has reports whether the cache has the values of all refs below prefixes.
func (c *cache) has(prefixes ...string) bool {
	isCached := func(prefix string) bool {
		return slices.ContainsFunc(c.prefixes, func(p string) bool { return strings.HasPrefix(prefix, p) })
	}
	return c != nil && !slices.ContainsFunc(prefixes, func(p string) bool { return !isCached(p) })
}

// names returns the sorted names of the refs below a prefix, including broken refs.
func (c *cache) names(prefix string) []string {
	var names []string
	for name := range c.values {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	for name := range c.broken {
		if strings.HasPrefix(name, prefix) && c.values[name].IsZero() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// List runs git for-each-ref and returns the refs below prefixes. It omits refs without a
// valid object id and refs to missing objects.
//
// If git cannot open a reftable, for example without free file descriptors, git for-each-ref
// prints nothing and exits with status 0. So List asks a reftable for HEAD of the main worktree
// too. If git does not list HEAD, either the current branch is unborn, or HEAD cannot be found.
func (r *Reader) List(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
	g, args := r.Git, []string{"for-each-ref", "--format=%(objectname) %(refname)"}
	hasTables := !r.Files && fsutil.Exists(filepath.Join(r.Path, "reftable"))
	if hasTables {
		g, args = g.With("GIT_DIR="+r.Path), append(args, "--include-root-refs", "HEAD")
	}
	for again := false; ; again = true {
		out, err := g.Output(ctx, append(args, prefixes...)...)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", strings.Join(prefixes, " "), err)
		}
		refs := map[string]plumbing.Hash{}
		for line := range strings.Lines(string(out)) {
			hex, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			refs[name] = plumbing.NewHash(hex)
		}
		if hasHead := !refs["HEAD"].IsZero(); !hasTables || hasHead || again {
			delete(refs, "HEAD")
			return refs, nil
		}
		if _, err := g.Output(ctx, "show-ref", "--exists", "HEAD"); err != nil {
			return nil, fmt.Errorf("list %s: git cannot read its reftable: %w", strings.Join(prefixes, " "), err)
		}
	}
}

// Names returns the sorted names of the refs below a prefix. In the files backend, it
// includes broken refs that git omits from lists.
func (r *Reader) Names(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	var err error
	switch {
	case r.cache.has(prefix):
		names = r.cache.names(prefix)
	case r.Files:
		err = eachLoose(r.Path, prefix, func(name, _ string) error {
			names = append(names, name)
			return nil
		})
		var packed []string
		if err == nil { // after loose refs, because git may pack them meanwhile
			packed, err = packedNames(r.Path, prefix)
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
		names = append(names, packed...)
		slices.Sort(names)
		names = slices.Compact(names)
	default:
		var refs map[string]plumbing.Hash
		refs, err = r.List(ctx, prefix)
		names = slices.Sorted(maps.Keys(refs))
	}
	for name, value := range r.Pending {
		at, found := slices.BinarySearch(names, name)
		if !strings.HasPrefix(name, prefix) || found == !value.IsZero() {
			continue
		}
		if found {
			names = slices.Delete(names, at, at+1)
		} else {
			names = slices.Insert(names, at, name)
		}
	}
	return names, err
}

// Values is List without a git process in the files backend: git looks up the object of
// each ref, and there may be thousands of refs. Unlike List, Values includes refs to
// missing objects. It omits symbolic refs and refs without a valid object id.
func (r *Reader) Values(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
	if r.cache.has(prefixes...) {
		found := map[string]plumbing.Hash{}
		for name, hash := range r.cache.values {
			if Below(name, prefixes) {
				found[name] = hash
			}
		}
		return found, nil
	}
	return r.values(ctx, prefixes, func(string) {})
}

// values is Values without the cache. It calls broken for each loose ref without an object id.
func (r *Reader) values(ctx context.Context, prefixes []string, broken func(name string)) (map[string]plumbing.Hash, error) {
	if !r.Files {
		return r.List(ctx, prefixes...)
	}
	loose := map[string]plumbing.Hash{}
	for _, prefix := range prefixes {
		err := eachLoose(r.Path, prefix, func(name, file string) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return fsutil.IgnoreMissing(err)
			}
			if loose[name], err = Parse(name, data); err != nil {
				delete(loose, name)
				broken(name)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
	}
	values := map[string]plumbing.Hash{}
	err := eachPacked(r.Path, prefixes, func(name, hex string) { // after loose refs, because git may pack them meanwhile
		if plumbing.IsHash(hex) {
			values[name] = plumbing.NewHash(hex)
		}
	})
	maps.Copy(values, loose)
	return values, err
}

// InFolders returns the refs prefix + folder + "/" + base for all folders, which are one component
// of a name. It reads no other refs in these folders. It omits refs without a valid object id.
func (r *Reader) InFolders(ctx context.Context, prefix, base string) (map[string]plumbing.Hash, error) {
	if !r.Files && !r.cache.has(prefix) {
		return r.List(ctx, prefix+"*/"+base)
	}
	folders, err := r.folders(prefix)
	if err != nil {
		return nil, err
	}
	found := map[string]plumbing.Hash{}
	for _, folder := range folders {
		name := prefix + folder + "/" + base
		hash, err := r.Read(ctx, name)
		if err != nil && !errors.As(err, new(*BrokenError)) {
			return nil, err
		}
		if !hash.IsZero() {
			found[name] = hash
		}
	}
	return found, nil
}

// folders returns the folders below a prefix that have refs, or had loose refs.
func (r *Reader) folders(prefix string) ([]string, error) {
	if r.cache.has(prefix) {
		known, isKnown := r.cache.folders[prefix]
		if !isKnown {
			known = foldersIn(r.cache.names(prefix), prefix)
			r.cache.folders[prefix] = known
		}
		return known, nil
	}
	var loose []string
	entries, err := os.ReadDir(filepath.Join(r.Path, filepath.FromSlash(prefix)))
	if fsutil.IgnoreMissing(err) != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	for _, e := range entries {
		if e.IsDir() {
			loose = append(loose, e.Name())
		}
	}
	names, err := packedNames(r.Path, prefix)
	if err != nil {
		return nil, err
	}
	folders := append(loose, foldersIn(names, prefix)...)
	slices.Sort(folders)
	return slices.Compact(folders), nil
}

// foldersIn returns the folders in sorted names below a prefix.
func foldersIn(names []string, prefix string) []string {
	var folders []string
	for _, name := range names {
		if folder, _, ok := strings.Cut(strings.TrimPrefix(name, prefix), "/"); ok && (len(folders) == 0 || folders[len(folders)-1] != folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// packedNames returns the sorted names of packed refs below a prefix.
func packedNames(path, prefix string) (names []string, err error) {
	err = eachPacked(path, []string{prefix}, func(name, _ string) { names = append(names, name) })
	slices.Sort(names)
	return names, err
}

// eachLoose calls f for each loose ref below a prefix.
func eachLoose(dir, prefix string, f func(name, file string) error) error {
	root := filepath.Join(dir, filepath.FromSlash(prefix))
	// Like git, follow a symlink in place of the folder.
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, syscall.ENOTDIR) { // a ref has the name of the prefix
			return nil
		}
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return fsutil.IgnoreMissing(err)
		}
		return f(prefix+filepath.ToSlash(path[len(root)+1:]), path)
	})
	return fsutil.IgnoreMissing(err)
}

// Below reports whether a name is below one of the prefixes.
func Below(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if len(name) > len(prefix) && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// A folder is an os.DirFS that accepts ref names, which may be invalid UTF-8.
type folder string

func (d folder) file(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d folder) Open(name string) (fs.File, error) { return os.Open(d.file(name)) }

func (d folder) ReadFile(name string) ([]byte, error) { return os.ReadFile(d.file(name)) }

func (d folder) Stat(name string) (fs.FileInfo, error) { return os.Stat(d.file(name)) }

func (d folder) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(d.file(name)) }
