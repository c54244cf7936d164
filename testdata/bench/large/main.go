// Command large measures the storage cost of large files that change between checkpoints.
// It compares git's own storage, compression before git, and content-defined chunks:
//
//	go run ./testdata/bench/large
//
// For each kind of file and each method, it creates a repository with 30 versions in 30
// commits. It prints three sizes: loose objects before packing, the repository after git
// gc, and the pack that a push of one more version sends.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if err := measure(); err != nil {
		fmt.Fprintf(os.Stderr, "large: %v\n", err)
		os.Exit(1)
	}
}

func measure() error {
	fmt.Printf("%-8s %-8s %9s %9s %9s\n", "file", "way", "loose MB", "gc MB", "push KB")
	for _, k := range kinds() {
		for _, w := range ways() {
			s, err := sizes(k.versions(), w.parts)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", k.name, w.name, err)
			}
			fmt.Printf("%-8s %-8s %9.1f %9.2f %9.0f\n", k.name, w.name, s.loose/1e6, s.packed/1e6, s.pushed/1e3)
		}
	}
	return nil
}

// A way converts a version of a file to stored blobs.
type way struct {
	name  string
	parts func([]byte) ([][]byte, error)
}

func ways() []way {
	list := []way{
		{"plain", func(data []byte) ([][]byte, error) { return [][]byte{data}, nil }},
		{"gzip", func(data []byte) ([][]byte, error) {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, _ = w.Write(data)
			err := w.Close()
			return [][]byte{b.Bytes()}, err
		}},
		{"chunks", func(data []byte) ([][]byte, error) { return chunks(data), nil }},
	}
	if _, err := exec.LookPath("zstd"); err == nil {
		list = append(list, way{"zstd", func(data []byte) ([][]byte, error) {
			cmd := exec.Command("zstd", "-q", "-c")
			cmd.Stdin = bytes.NewReader(data)
			out, err := cmd.Output()
			return [][]byte{out}, err
		}})
	}
	return list
}

// chunks splits data at boundaries of a rolling content hash, into chunks of 8 to 128 KiB
// with an average of 32 KiB.
func chunks(data []byte) [][]byte {
	const least, most, mask = 8 << 10, 128 << 10, 1<<15 - 1
	var list [][]byte
	var hash uint64
	start := 0
	for i, c := range data {
		hash = hash<<1 + (uint64(c)+1)*0x9e3779b97f4a7c15>>20
		if n := i + 1 - start; n >= most || n >= least && hash>>24&mask == 0 {
			list, start, hash = append(list, data[start:i+1]), i+1, 0
		}
	}
	if start < len(data) {
		list = append(list, data[start:])
	}
	return list
}

type stored struct{ loose, packed, pushed float64 }

// sizes commits all versions except the last in a chain, and uses the last version as the
// next push.
func sizes(versions [][]byte, parts func([]byte) ([][]byte, error)) (s stored, err error) {
	dir, err := os.MkdirTemp("", "large")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(dir)
	r := repository{dir: dir}
	r.git(nil, "init", "-q", "--bare", ".")
	head := ""
	for i, data := range versions {
		if i == len(versions)-1 {
			s.loose = r.size()
			r.git(nil, "update-ref", "refs/heads/main", head)
			r.git(nil, "-c", "repack.writeBitmaps=false", "gc", "-q") // as in a clone with a worktree
			s.packed = r.size()
		}
		blobs, err := parts(data)
		if err != nil {
			return s, err
		}
		before := head
		head = r.commit(blobs, before)
		if i == len(versions)-1 {
			list := []byte(head + "\n^" + before + "\n")
			s.pushed = float64(len(r.git(list, "pack-objects", "--revs", "--thin", "--stdout", "-q")))
		}
	}
	return s, r.err
}

// A repository runs git and keeps the first error.
type repository struct {
	dir string
	err error
}

func (r *repository) git(in []byte, args ...string) string {
	if r.err != nil {
		return ""
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = r.dir, bytes.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.Output()
	if err != nil {
		r.err = fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out)
}

// commit stores blobs in a tree as 0000, 0001 and so on.
func (r *repository) commit(blobs [][]byte, parent string) string {
	var tree strings.Builder
	for i, b := range blobs {
		id := strings.TrimSpace(r.git(b, "hash-object", "-w", "--stdin"))
		fmt.Fprintf(&tree, "100644 blob %s\t%04d\n", id, i)
	}
	id := strings.TrimSpace(r.git([]byte(tree.String()), "mktree"))
	args := []string{"commit-tree", "-m", "version", id}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	return strings.TrimSpace(r.git(nil, args...))
}

func (r *repository) size() float64 {
	total := 0.0
	_ = filepath.WalkDir(filepath.Join(r.dir, "objects"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				total += float64(info.Size())
			}
		}
		return nil
	})
	return total
}
