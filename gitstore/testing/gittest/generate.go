package gittest

import (
	"bytes"
	"fmt"
	"strings"
)

// Layout of a generated repository.
const (
	FilesPerLeaf  = 100
	LeavesPerTop  = 10
	lineOfContent = "The quick brown fox jumps over the lazy dog, again and again and again.\n"
)

// GeneratedPath returns the path of file i in a generated repository.
func GeneratedPath(i int) string {
	leaf := i / FilesPerLeaf
	return fmt.Sprintf("dir%04d/leaf%d/file%02d.txt", leaf/LeavesPerTop, leaf%LeavesPerTop, i%FilesPerLeaf)
}

// GeneratedContent returns the content of file i in a generated repository.
func GeneratedContent(i int) string {
	return fmt.Sprintf("file %d\n%s%s", i, lineOfContent, lineOfContent)
}

// Generate commits files on the current branch as a single pack, with 100 files per leaf
// directory and 10 leaf directories per top directory. It fills the index from the
// commit, including the cache-tree. The worktree remains empty until Checkout. 100,000
// files take about two seconds.
func (r *Repo) Generate(files int) string {
	r.t.Helper()
	r.Pipe(r.importStream(files), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force")
	r.Git("read-tree", "HEAD")
	return r.Git("rev-parse", "HEAD")
}

// Checkout writes the worktree from HEAD and updates the stat data of the index.
func (r *Repo) Checkout() {
	r.t.Helper()
	r.Git("reset", "-q", "--hard")
}

// Stage changes a file in each of n evenly distributed leaf directories of a generated
// repository, stages the changes and returns the paths. A different round gives different
// contents.
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

// importStream returns input for git fast-import with one commit.
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
