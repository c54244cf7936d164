package refs

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// Values is List without a git process where refs are files: git looks for the
// object of each ref, and there may be thousands. A ref whose object is missing
// is there, one that holds no object's name is not, nor is a symbolic one.
func (r *Reader) Values(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
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
			if hash, err := Parse(name, data); err == nil {
				loose[name] = hash
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
	}
	packed, err := packedRefs(r.Path) // after loose ones: they may be packed meanwhile
	if err != nil {
		return nil, err
	}
	values := packedValues(string(packed), prefixes, len(loose))
	maps.Copy(values, loose)
	return values, nil
}

// Stored are the names of the refs below a prefix as the files backend has them,
// loose and packed, whatever they hold. One may come twice.
func Stored(path, prefix string) ([]string, error) {
	var names []string
	err := eachLoose(path, prefix, func(name, _ string) error {
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	packed, err := packedRefs(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(packed)) {
		if _, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// eachLoose gives f the refs below a prefix that have files of their own.
func eachLoose(dir, prefix string, f func(name, file string) error) error {
	root := filepath.Join(dir, filepath.FromSlash(prefix))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return fsutil.IgnoreMissing(err)
		}
		return f(prefix+filepath.ToSlash(path[len(root)+1:]), path)
	})
	return fsutil.IgnoreMissing(err)
}

// packedValues reads the refs below prefixes of packed-refs, with room for more.
// Lines that begin with "^" tell what the tag before them leads to.
func packedValues(packed string, prefixes []string, more int) map[string]plumbing.Hash {
	values := make(map[string]plumbing.Hash, more+min(strings.Count(packed, "\n"), 1<<14))
	for line := range strings.Lines(packed) {
		hex, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok && Below(name, prefixes) && plumbing.IsHash(hex) {
			values[name] = plumbing.NewHash(hex)
		}
	}
	return values
}

// Below reports whether a name is below one of some prefixes.
func Below(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if len(name) > len(prefix) && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
