package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// refValues is refs without a git process where refs are files: git looks for
// the object of each ref, and there may be thousands. A ref whose object is
// missing is there, one that holds no object's name is not, nor is a symbolic
// one.
func (s *Store) refValues(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
	if s.repo.refFormat != "files" {
		return s.refs(ctx, prefixes...)
	}
	values := make(map[string]plumbing.Hash, 64)
	for _, prefix := range prefixes {
		if err := looseValues(s.repo.commonDir, prefix, values); err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
	}
	packed, err := readPackedRefs(s.repo.commonDir) // after loose ones: they may be packed meanwhile
	if err != nil {
		return nil, err
	}
	packedValues(packed, prefixes, values)
	return values, nil
}

// looseValues adds the refs below a prefix that have files of their own.
func looseValues(commonDir, prefix string, values map[string]plumbing.Hash) error {
	root := filepath.Join(commonDir, filepath.FromSlash(prefix))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return ignoreMissing(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return ignoreMissing(err)
		}
		name := prefix + filepath.ToSlash(path[len(root)+1:])
		if hash, err := parseRef(name, data); err == nil {
			values[name] = hash
		}
		return nil
	})
	return ignoreMissing(err)
}

// packedValues adds the refs below prefixes in packed-refs that have no value
// yet. Lines that begin with "^" tell what the tag before them leads to.
func packedValues(packed []byte, prefixes []string, values map[string]plumbing.Hash) {
	for line := range bytes.Lines(packed) {
		hex, name, ok := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
		if !ok || len(hex) != 2*len(plumbing.ZeroHash) || !belowAny(name, prefixes) {
			continue
		}
		if _, loose := values[string(name)]; !loose && plumbing.IsHash(string(hex)) {
			values[string(name)] = plumbing.NewHash(string(hex))
		}
	}
}

func belowAny(name []byte, prefixes []string) bool {
	for _, prefix := range prefixes {
		if len(name) > len(prefix) && string(name[:len(prefix)]) == prefix {
			return true
		}
	}
	return false
}
