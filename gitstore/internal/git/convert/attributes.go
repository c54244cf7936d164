// Package convert determines the blobs that git would store for files of a worktree.
//
// By gitattributes(5), the attributes filter, ident and working-tree-encoding make git
// store converted content. With text, eol, crlf and core.autocrlf, git removes carriage
// returns. Files without conversion are hashed in this process, which saves a git
// process. Git hashes all other files. In doubt, a file is left to git.
//
// The rows save-worktree and turn of testdata/bench pay for hashing in this process.
package convert

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// Ask runs git hash-object for files, whose paths are relative to g's directory, and
// returns their blobs. With flag -w, git also stores the blobs. The hash of an unreadable
// file is zero. The result has a hash for each file, even if Ask returns an error.
func Ask(ctx context.Context, g git.Git, files []string, flags ...string) ([]plumbing.Hash, error) {
	hashes, err := askAll(ctx, g, files, flags)
	if err != nil {
		return hashes, err
	}
	for i := range files {
		if hashes[i].IsZero() {
			hashes[i] = askOne(ctx, g, files[i], flags)
		}
	}
	return hashes, ctx.Err()
}

func askOne(ctx context.Context, g git.Git, file string, flags []string) plumbing.Hash {
	line, err := g.Line(ctx, append(append([]string{"hash-object"}, flags...), "--", file)...)
	if err != nil {
		return plumbing.ZeroHash
	}
	return plumbing.NewHash(line)
}

// askAll hashes all files in a git process, except those with line breaks or quotes in
// their names.
func askAll(ctx context.Context, g git.Git, files, flags []string) ([]plumbing.Hash, error) {
	hashes := make([]plumbing.Hash, len(files))
	var in bytes.Buffer
	var asked []int
	for i, file := range files {
		if !strings.ContainsAny(file, "\n\r\"") {
			in.WriteString(file + "\n")
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return hashes, nil
	}
	out, err := g.Pipe(ctx, in.Bytes(), append([]string{"hash-object", "--stdin-paths"}, flags...)...)
	lines := strings.Fields(string(out))
	if err != nil || len(lines) != len(asked) {
		return hashes, ctx.Err() // a file vanished: hash each file separately
	}
	for n, i := range asked {
		hashes[i] = plumbing.NewHash(lines[n])
	}
	return hashes, nil
}

// rules are the conversions of a directory.
type rules struct {
	convert bool     // attributes may convert more than line endings
	digest  [32]byte // of all attributes and settings that apply, zero if unknown
}

// with returns the rules below another attributes file, and the error of its read.
func (r rules) with(attributes []byte, err error) rules {
	if err != nil {
		return rules{convert: true}
	}
	if len(attributes) == 0 {
		return r
	}
	known := r.digest != [32]byte{}
	r.convert = r.convert || May(attributes)
	if known {
		r.digest = sha256.Sum256(append(r.digest[:], attributes...))
	}
	return r
}

// outside returns the rules outside of the worktree: git's settings, and the attributes of
// the repository, the user and the system.
func outside(config []git.ConfigEntry, commonDir string) rules {
	_, moved := git.Last(config, "attr.tree")
	user, known := git.UserFile(config, "core.attributesfile", "attributes")
	if moved || !known || os.Getenv("GIT_ATTR_SOURCE") != "" {
		return rules{convert: true}
	}
	sum := sha256.New()
	for _, e := range config {
		if section, _, _ := strings.Cut(e.Key, "."); section == "core" || section == "filter" {
			fmt.Fprintf(sum, "%s\x00%s\x00", e.Key, e.Value)
		}
	}
	r := rules{digest: [32]byte(sum.Sum(nil))}
	for _, file := range append(systemAttributes(config), filepath.Join(commonDir, "info", "attributes"), user) {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) || isDirectory(err) {
			data, err = nil, nil
		}
		r = r.with(data, err)
	}
	return r
}

// systemAttributes returns all candidates for the system's attributes file. It is next to
// the system configuration, whose location is compiled into git.
func systemAttributes(config []git.ConfigEntry) []string {
	dirs := []string{"/etc"}
	if git, err := exec.LookPath("git"); err == nil {
		prefix := filepath.Dir(filepath.Dir(git))
		// If git has started this process, PATH begins with libexec/git-core.
		dirs = append(dirs, filepath.Join(prefix, "etc"), filepath.Join(filepath.Dir(prefix), "etc"))
	}
	for _, e := range config {
		if path, file := strings.CutPrefix(e.Origin, "file:"); file && e.Scope == "system" {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	slices.Sort(dirs)
	var files []string
	for _, dir := range slices.Compact(dirs) {
		files = append(files, filepath.Join(dir, "gitattributes"))
	}
	return files
}

func isDirectory(err error) bool {
	return errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR)
}
