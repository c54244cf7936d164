package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// HashFiles returns the blobs that git add would make of files below g.Dir, by path. With write, git
// stores them. A file that git cannot read is missing in the result, for example if a required
// filter fails.
func (g Git) HashFiles(ctx context.Context, paths []string, write bool) (map[string]plumbing.Hash, error) {
	g.Settings = append(g.Settings[:len(g.Settings):len(g.Settings)], "core.safecrlf=false")
	args := []string{"hash-object", "--stdin-paths"}
	if write {
		args = append(args, "-w")
	}
	hashes := make(map[string]plumbing.Hash, len(paths))
	for len(paths) > 0 {
		var lines bytes.Buffer
		for _, path := range paths {
			lines.WriteString(`"` + quoted.Replace(path) + "\"\n")
		}
		out, err := g.Pipe(ctx, lines.Bytes(), args...)
		if err != nil && (ctx.Err() != nil || Code(err) != fatal) {
			return nil, err
		}
		done := strings.Fields(string(out))
		for i, hash := range done {
			hashes[paths[i]] = plumbing.NewHash(hash)
		}
		paths = paths[min(len(done)+1, len(paths)):] // git has stopped at the next file
	}
	return hashes, nil
}

// fatal is the exit status of git after an error.
const fatal = 128

// quoted quotes a path for git hash-object, which reads a path in a line.
var quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)

// ErrNoMerge reports that git merge-file refused a binary file.
var ErrNoMerge = errors.New("not text")

// MergeFile merges the contents base, mine and checkpoint of a file with git merge-file. The result has
// conflict markers if it is not clean.
func (g Git) MergeFile(ctx context.Context, base, mine, checkpoint []byte) (out []byte, clean bool, err error) {
	if g.Dir, err = os.MkdirTemp("", "git-checkpoint-merge-*"); err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(g.Dir)
	for name, data := range map[string][]byte{"base": base, "mine": mine, "checkpoint": checkpoint} {
		if err := os.WriteFile(filepath.Join(g.Dir, name), data, 0o600); err != nil {
			return nil, false, err
		}
	}
	out, err = g.Output(ctx, "merge-file", "-p", "-q", "-L", "mine", "-L", "base", "-L", "checkpoint", "mine", "base", "checkpoint")
	switch code := Code(err); {
	case code == 255:
		return nil, false, ErrNoMerge
	case code < 0 || code > 127:
		return nil, false, err
	}
	return out, err == nil, nil
}

// A RawChange is an entry of git's raw diff format. A missing file has the mode 0.
type RawChange struct {
	OldMode, NewMode uint32
	Old, New         plumbing.Hash
	Status           byte
	Score            int // similarity of a rename or a copy in percent
	From, Path       string
}

// ParseRaw parses the output of --raw -z: ":<old mode> <new mode> <old hash> <new hash> <letter>" and a
// path. Renames and copies have a score after the letter and two paths. Between commits is an empty field.
// ParseRaw returns the fields of --numstat that follow.
func ParseRaw(out []byte) (changes []RawChange, rest []string, err error) {
	fields := Fields(out)
	for len(fields) > 0 && !strings.Contains(fields[0], "\t") {
		if fields[0] == "" {
			fields = fields[1:]
			continue
		}
		words := strings.Fields(strings.TrimPrefix(fields[0], ":"))
		if len(words) != 5 || len(fields) < 2 {
			return nil, nil, fmt.Errorf("git said %q", fields[0])
		}
		c := RawChange{Status: words[4][0], Path: fields[1], Old: plumbing.NewHash(words[2]), New: plumbing.NewHash(words[3])}
		for i, mode := range []*uint32{&c.OldMode, &c.NewMode} {
			n, err := strconv.ParseUint(words[i], 8, 32)
			if err != nil {
				return nil, nil, fmt.Errorf("git said %q", fields[0])
			}
			*mode = uint32(n)
		}
		n := 2
		if (c.Status == 'R' || c.Status == 'C') && len(fields) > 2 {
			c.Score, _ = strconv.Atoi(words[4][1:])
			c.From, c.Path, n = fields[1], fields[2], 3
		}
		changes, fields = append(changes, c), fields[n:]
	}
	return changes, fields, nil
}
