package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A repo is a generated repository.
type repo struct {
	b     *bench
	dir   string
	scale scale
	files []string // tracked files, sorted
	short string   // issue with a short chain
	long  string   // issue with a long chain
	many  []string // issues of one checkpoint each
}

// A kind selects the chains of a repository.
type kind string

const (
	kindSave      kind = "save"      // short and long chain, in one pack with the project
	kindTurns     kind = "turns"     // a branch with one turn
	kindUntracked kind = "untracked" // likewise, with many untracked files
	kindGrown     kind = "grown"     // a branch with many turns, each with another line of one file

	kindIssues100  kind = "issues-100" // a hundred issues, packed, see issueKinds
	kindIssues1k   kind = "issues-1k"
	kindIssues10k  kind = "issues-10k"
	kindIssues100k kind = "issues-100k"
)

// repo returns a repository, and generates it if it does not exist.
func (b *bench) repo(ctx context.Context, k kind, s scale) (*repo, error) {
	name := string(k) + "-" + s.name
	if r := b.repos[name]; r != nil {
		return r, nil
	}
	b.say("generate %s", name)
	r := &repo{b: b, dir: filepath.Join(b.work, name), scale: s, files: paths(s)}
	if err := r.generate(ctx, k); err != nil {
		return nil, fmt.Errorf("generate %s: %w", name, err)
	}
	b.repos[name] = r
	return r, nil
}

// generate creates project and chains. All objects are in one pack, without a commit-graph,
// because the targets were measured without a commit-graph.
func (r *repo) generate(ctx context.Context, k kind) error {
	project := func() error { return r.project(ctx) }
	pack := r.quietly(ctx, "-c", "gc.writeCommitGraph=false", "gc", "--quiet", "--prune=now")
	chains := func() error { return r.chains(ctx, k) }
	turn := func() error { return r.branchWithTurn(ctx) }
	switch k {
	case kindSave:
		return try(project, chains, pack, r.b.settle)
	case kindTurns:
		return try(project, pack, turn, r.b.settle)
	case kindUntracked:
		return try(project, pack, r.addUntracked, turn, r.b.settle)
	case kindGrown:
		return try(project, pack, func() error { return r.growInTurns(ctx, r.b.lengths.turns) }, r.b.settle)
	}
	// A gc of the records of many issues takes minutes, and fast-import has packed them.
	return try(project, chains, func() error { return r.packIssues(ctx) }, r.b.settle)
}

// paths returns file names of the form top/leaf/file.
func paths(s scale) []string {
	list := make([]string, s.files)
	for i := range list {
		leaf := i / s.perLeaf
		list[i] = fmt.Sprintf("top%03d/leaf%d/file%03d.txt", leaf/10, leaf%10, i%s.perLeaf)
	}
	return list
}

// content returns about 180 bytes of text, different for every file.
func content(i int) string {
	return fmt.Sprintf("file %d\n", i) + strings.Repeat(fmt.Sprintf("line of file %d, as text goes\n", i*7919), 4) + "\nthe end of it\n"
}

// project creates a repository with one checked-out commit.
func (r *repo) project(ctx context.Context) error {
	if err := os.Mkdir(r.dir, 0o777); err != nil {
		return err
	}
	if _, err := r.git(ctx, "init", "--quiet", "--initial-branch=main"); err != nil {
		return err
	}
	for _, c := range [][2]string{{"user.name", "Bench"}, {"user.email", "bench@localhost"}, {"gc.auto", "0"}} {
		if _, err := r.git(ctx, "config", c[0], c[1]); err != nil {
			return err
		}
	}
	if err := r.fastImport(ctx, r.writeProject); err != nil {
		return err
	}
	_, err := r.git(ctx, "reset", "--quiet", "--hard")
	return err
}

func (r *repo) writeProject(w io.Writer) error {
	fmt.Fprintf(w, "commit refs/heads/main\ncommitter %s %d +0000\ndata 8\nproject\n\n", ident, firstTime)
	for i, name := range r.files {
		fmt.Fprintf(w, "M 100644 inline %s\n", name)
		writeData(w, content(i))
	}
	return nil
}

const (
	ident     = "Bench <bench@localhost>"
	firstTime = 1767312000 // 2026-01-02T00:00:00Z
)

// fastImport runs git fast-import with the output of write.
func (r *repo) fastImport(ctx context.Context, write func(io.Writer) error) error {
	in, out := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(out, 1<<16)
		_, err := io.WriteString(w, "feature done\n")
		if err == nil {
			err = write(w)
		}
		if err == nil {
			_, err = io.WriteString(w, "done\n")
		}
		if err == nil {
			err = w.Flush()
		}
		out.CloseWithError(err)
	}()
	err := r.feed(ctx, in, "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force")
	in.Close()
	return err
}

func writeData(w io.Writer, text string) {
	fmt.Fprintf(w, "data %d\n%s\n", len(text), text)
}
