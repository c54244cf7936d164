package gittest

import (
	"bytes"
	"fmt"
	"strings"
)

// The shape of a generated repository.
const (
	FilesPerLeaf  = 100
	LeavesPerTop  = 10
	lineOfContent = "The quick brown fox jumps over the lazy dog, again and again and again.\n"
)

// GeneratedPath is the path of file i of a generated repository.
func GeneratedPath(i int) string {
	leaf := i / FilesPerLeaf
	return fmt.Sprintf("dir%04d/leaf%d/file%02d.txt", leaf/LeavesPerTop, leaf%LeavesPerTop, i%FilesPerLeaf)
}

// GeneratedContent is the content of file i of a generated repository.
func GeneratedContent(i int) string {
	return fmt.Sprintf("file %d\n%s%s", i, lineOfContent, lineOfContent)
}

// Generate commits that many files on the current branch, 100 in a leaf
// directory and 10 leaf directories in a top one, as one pack, and fills the
// index from the commit, cache-tree included. The worktree stays empty: call
// Checkout for it. 100,000 files take about two seconds.
func (r *Repo) Generate(files int) string {
	r.t.Helper()
	r.Pipe(r.importStream(files), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force")
	r.Git("read-tree", "HEAD")
	return r.Git("rev-parse", "HEAD")
}

// Checkout writes the worktree from HEAD and gives the index its stat data.
func (r *Repo) Checkout() {
	r.t.Helper()
	r.Git("reset", "-q", "--hard")
}

// Stage changes one file in each of n leaf directories of a generated
// repository, spread over all of them, and stages the changes. It returns
// the paths. round makes the content of one call differ from another's.
func (r *Repo) Stage(files, n, round int) []string {
	r.t.Helper()
	leaves := (files + FilesPerLeaf - 1) / FilesPerLeaf
	n = min(n, leaves)
	paths := make([]string, n)
	for i := range paths {
		paths[i] = GeneratedPath(i * leaves / n * FilesPerLeaf)
		r.Write(paths[i], fmt.Sprintf("change %d of round %d\n", i, round))
	}
	r.Pipe([]byte(strings.Join(paths, "\x00")), "update-index", "--add", "-z", "--stdin")
	return paths
}

// importStream is the input of git fast-import for one commit.
func (r *Repo) importStream(files int) []byte {
	var b bytes.Buffer
	branch := r.Git("symbolic-ref", "HEAD")
	fmt.Fprintf(&b, "commit %s\ncommitter %s <%s> %d +0000\ndata 9\ngenerated\n", branch, Name, Email, r.now.Unix())
	for i := range files {
		content := GeneratedContent(i)
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", GeneratedPath(i), len(content), content)
	}
	b.WriteString("done\n")
	return b.Bytes()
}
