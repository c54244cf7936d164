package convert

import (
	"context"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// perCall is how many paths one command line names.
const perCall = 200

// keepCarriages sets the hash of files whose carriage returns git add keeps and
// git hash-object takes away: where nothing but core.autocrlf or text=auto asks
// for it, git converts no file that is staged with carriage returns.
func (h *Hasher) keepCarriages(ctx context.Context, files []string, hashes []plumbing.Hash) error {
	var converted []string
	raw := map[string]plumbing.Hash{}
	for i, file := range files {
		if hashes[i].IsZero() || h.Elsewhere() || h.within(path.Dir(file)) {
			continue
		}
		if hash := h.raw(file); !hash.IsZero() && hash != hashes[i] {
			converted, raw[file] = append(converted, file), hash
		}
	}
	keeps := map[string]bool{}
	for some := range slices.Chunk(converted, perCall) {
		args := append([]string{"--literal-pathspecs", "ls-files", "-z", "--eol", "--"}, some...)
		out, err := h.git().Output(ctx, args...)
		if err != nil {
			return err
		}
		for item := range strings.SplitSeq(string(out), "\x00") {
			if eol, file, ok := strings.Cut(item, "\t"); ok && staysAsStaged(eol) {
				keeps[file] = true
			}
		}
	}
	for i, file := range files {
		if keeps[file] {
			hashes[i] = raw[file]
		}
	}
	return nil
}

// staysAsStaged judges what git ls-files --eol says of a file, such as
// "i/crlf  w/mixed attr/text=auto".
func staysAsStaged(eol string) bool {
	staged, rest, _ := strings.Cut(eol, " ")
	_, attributes, _ := strings.Cut(rest, "attr/")
	attributes = strings.TrimSpace(attributes)
	return (staged == "i/crlf" || staged == "i/mixed") && (attributes == "" || strings.HasPrefix(attributes, "text=auto"))
}

// raw is the hash of a regular file as it stands, the zero hash for any other.
func (h *Hasher) raw(file string) plumbing.Hash {
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
