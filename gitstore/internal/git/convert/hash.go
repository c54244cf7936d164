package convert

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Hasher computes the blobs that git would store for regular files of a worktree. The caller must
// call Close.
type Hasher struct {
	Git  git.Git  // in any directory of the worktree
	Root *os.Root // root of the worktree
	// Staged returns the staged attributes file at a path, or nil. It is
	// called if the worktree has no file at that path. Nil means no staged attributes, as
	// for git hash-object, but not git add.
	Staged func(file string) ([]byte, error)

	outside func() rules
	inside  map[string]rules // by directory; "." is the root

	dir    *os.Root // directory of the last file that Plain has read, or nil
	opened string   // its path
}

// New returns a Hasher for a worktree of the repository at commonDir, given git's
// configuration.
func New(g git.Git, config []git.ConfigEntry, commonDir string, root *os.Root) *Hasher {
	read := func() rules { return outside(config, commonDir) }
	return &Hasher{Git: g, Root: root, outside: sync.OnceValue(read)}
}

// converting are the attributes that convert more than line endings.
var converting = [][]byte{[]byte("filter"), []byte("ident"), []byte("working-tree-encoding")}

// maxPlain is the maximum size in bytes of files hashed in this process. Git streams
// larger files.
const maxPlain = 1 << 20

// Hash returns the blob of each file. The hash of an unreadable file is zero, for example
// if a filter fails. Hash runs git only for files that git may convert.
func (h *Hasher) Hash(ctx context.Context, files []string) ([]plumbing.Hash, error) {
	hashes := make([]plumbing.Hash, len(files))
	var left []int
	var asked []string
	for i, file := range files {
		if hashes[i] = h.Plain(file); hashes[i].IsZero() {
			left, asked = append(left, i), append(asked, file)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	told, err := h.Converted(ctx, asked)
	for n, i := range left {
		hashes[i] = told[n]
	}
	return hashes, err
}

// Converted is Hash by git, for files that Plain does not hash.
func (h *Hasher) Converted(ctx context.Context, files []string) ([]plumbing.Hash, error) {
	hashes, err := Ask(ctx, h.git(), files)
	if err == nil {
		err = h.keepCarriages(ctx, files, hashes)
	}
	return hashes, err
}

// IsContent reports whether a blob is the content of a file without conversion. It returns
// false for a large file that git may convert, because a second read would take too long.
func (h *Hasher) IsContent(file string, blob plumbing.Hash) bool {
	if h.rules(path.Dir(file)).convert {
		info, err := h.Root.Lstat(filepath.FromSlash(file))
		if err != nil || info.Size() > maxPlain {
			return false
		}
	}
	return h.Raw(file) == blob
}

// Key identifies the attributes and settings that decide how git converts a file. Equal
// content, keys and staged blobs make equal blobs. If an attributes file cannot be read, the
// key is 0.
func (h *Hasher) Key(file string) uint64 {
	r := h.rules(path.Dir(file))
	return binary.BigEndian.Uint64(r.digest[:])
}

func (h *Hasher) git() git.Git {
	g := h.Git
	g.Dir = h.Root.Name()
	return g
}

// Close closes the directory that Plain keeps open, but not Root.
func (h *Hasher) Close() {
	if h.dir != nil {
		h.dir.Close()
		h.dir, h.opened = nil, ""
	}
}

// parent opens the directory of a file. It stays open for the next file.
func (h *Hasher) parent(file string) (*os.Root, error) {
	dir := path.Dir(file)
	if dir == "." {
		return h.Root, nil
	}
	if h.opened != dir {
		h.Close()
		opened, err := h.Root.OpenRoot(filepath.FromSlash(dir))
		if err != nil {
			return nil, err
		}
		h.dir, h.opened = opened, dir
	}
	return h.dir, nil
}

// Plain returns the hash of a regular file that git stores without conversion, else zero.
func (h *Hasher) Plain(file string) plumbing.Hash {
	dir, err := h.parent(file)
	if err != nil {
		return plumbing.ZeroHash
	}
	info, err := dir.Lstat(path.Base(file))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPlain || h.rules(path.Dir(file)).convert {
		return plumbing.ZeroHash
	}
	data, err := dir.ReadFile(path.Base(file))
	if err != nil || bytes.IndexByte(data, '\r') >= 0 {
		return plumbing.ZeroHash
	}
	return plumbing.ComputeHash(plumbing.BlobObject, data)
}

// rules returns the rules of a directory, including those of its parents.
func (h *Hasher) rules(dir string) rules {
	r, known := h.inside[dir]
	if known {
		return r
	}
	if dir == "." {
		r = h.outside()
	} else {
		r = h.rules(path.Dir(dir))
	}
	r = r.with(h.attributes(dir))
	if h.inside == nil {
		h.inside = map[string]rules{}
	}
	h.inside[dir] = r
	return r
}

// attributes returns a directory's attributes file: the file in the worktree, or else the
// staged file. Git does not follow symlinks there.
func (h *Hasher) attributes(dir string) ([]byte, error) {
	file := path.Join(dir, ".gitattributes")
	info, err := h.Root.Lstat(filepath.FromSlash(file))
	switch {
	case errors.Is(err, fs.ErrNotExist) && h.Staged != nil:
		return h.Staged(file)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && !info.Mode().IsRegular():
		return nil, fs.ErrInvalid
	case err != nil:
		return nil, err
	}
	return h.Root.ReadFile(filepath.FromSlash(file))
}

// May reports whether attributes may convert more than line endings.
func May(attributes []byte) bool {
	return slices.ContainsFunc(converting, func(name []byte) bool { return bytes.Contains(attributes, name) })
}

// perCall is the maximum number of paths in a command line.
const perCall = 200

// keepCarriages corrects the hash of files whose carriage returns git add keeps and git
// hash-object removes. If only core.autocrlf or text=auto requests conversion, git add
// does not convert files that are staged with carriage returns.
func (h *Hasher) keepCarriages(ctx context.Context, files []string, hashes []plumbing.Hash) error {
	told := map[string]plumbing.Hash{}
	var plain, unsure []string
	for i, file := range files {
		if hashes[i].IsZero() {
			continue
		}
		told[file] = hashes[i]
		if !h.rules(path.Dir(file)).convert {
			plain = append(plain, file)
		} else if h.hasCarriage(file) {
			unsure = append(unsure, file)
		}
	}
	more, err := h.unfiltered(ctx, unsure)
	if err != nil {
		return err
	}
	var converted []string
	raw := map[string]plumbing.Hash{}
	for _, file := range append(plain, more...) {
		if hash := h.Raw(file); !hash.IsZero() && hash != told[file] {
			converted, raw[file] = append(converted, file), hash
		}
	}
	keeps, err := h.asStaged(ctx, converted)
	for i, file := range files {
		if keeps[file] {
			hashes[i] = raw[file]
		}
	}
	return err
}

// unfiltered returns the files that have no converting attribute.
func (h *Hasher) unfiltered(ctx context.Context, files []string) ([]string, error) {
	var found []string
	for some := range slices.Chunk(files, perCall) {
		args := []string{"check-attr", "-z"}
		for _, name := range converting {
			args = append(args, string(name))
		}
		out, err := h.git().Output(ctx, append(append(args, "--"), some...)...)
		if err != nil {
			return nil, err
		}
		filtered := map[string]bool{}
		for told := range slices.Chunk(strings.Split(string(out), "\x00"), 3) { // file, attribute, value
			if len(told) == 3 && told[2] != "unspecified" && told[2] != "unset" {
				filtered[told[0]] = true
			}
		}
		for _, file := range some {
			if !filtered[file] {
				found = append(found, file)
			}
		}
	}
	return found, nil
}

// hasCarriage reports whether a file is text with carriage returns. Git never converts
// binary files, which includes most files with a filter.
func (h *Hasher) hasCarriage(file string) bool {
	f, err := h.Root.Open(filepath.FromSlash(file))
	if err != nil {
		return false
	}
	defer f.Close()
	buf := make([]byte, 32<<10)
	n, _ := io.ReadFull(f, buf)
	if bytes.IndexByte(buf[:n], 0) >= 0 {
		return false
	}
	for ; n > 0; n, _ = io.ReadFull(f, buf) {
		if bytes.IndexByte(buf[:n], '\r') >= 0 {
			return true
		}
	}
	return false
}

// asStaged returns the files that git add does not convert because they are staged with
// carriage returns.
func (h *Hasher) asStaged(ctx context.Context, files []string) (map[string]bool, error) {
	keeps := map[string]bool{}
	for some := range slices.Chunk(files, perCall) {
		args := append([]string{"--literal-pathspecs", "ls-files", "-z", "--eol", "--"}, some...)
		out, err := h.git().Output(ctx, args...)
		if err != nil {
			return keeps, err
		}
		for item := range strings.SplitSeq(string(out), "\x00") {
			if eol, file, ok := strings.Cut(item, "\t"); ok && staysAsStaged(eol) {
				keeps[file] = true
			}
		}
	}
	return keeps, nil
}

// staysAsStaged evaluates a file's info from git ls-files --eol, such as "i/crlf w/mixed
// attr/text=auto".
func staysAsStaged(eol string) bool {
	staged, rest, _ := strings.Cut(eol, " ")
	_, attributes, _ := strings.Cut(rest, "attr/")
	attributes = strings.TrimSpace(attributes)
	return (staged == "i/crlf" || staged == "i/mixed") && (attributes == "" || strings.HasPrefix(attributes, "text=auto"))
}

// Raw returns the hash of a regular file without conversion, zero for irregular files.
func (h *Hasher) Raw(file string) plumbing.Hash {
	name := filepath.FromSlash(file)
	if info, err := h.Root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return plumbing.ZeroHash
	}
	f, err := h.Root.Open(name)
	if err != nil {
		return plumbing.ZeroHash
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return plumbing.ZeroHash
	}
	sum := plumbing.NewHasher(plumbing.BlobObject, info.Size())
	if n, err := io.Copy(sum, f); err != nil || n != info.Size() {
		return plumbing.ZeroHash
	}
	return sum.Sum()
}
