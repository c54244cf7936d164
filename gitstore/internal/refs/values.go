package refs

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// Values is List without a git process in the files backend: git looks up the object of
// each ref, and there may be thousands of refs. Unlike List, Values includes refs to
// missing objects. It omits symbolic refs and refs without a valid object id.
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
	packed, err := packedRefs(r.Path) // after loose refs, because git may pack them meanwhile
	if err != nil {
		return nil, err
	}
	values := packedValues(string(packed), prefixes, len(loose))
	maps.Copy(values, loose)
	return values, nil
}

// Stored returns the names of loose and packed refs below a prefix in the files backend,
// regardless of content. A name may occur twice.
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

// eachLoose calls f for each loose ref below a prefix.
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

// packedValues returns the refs of packed-refs below prefixes, in a map with capacity for
// more entries. It skips lines that begin with "^", the targets of tags.
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

// Below reports whether a name is below one of the prefixes.
func Below(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if len(name) > len(prefix) && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
