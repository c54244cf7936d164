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
	thin  string   // issue with a short chain; each save makes retention drop one checkpoint
	long  string   // issue with a long chain
	prune []string // issues for prune, one per run
	many  []string // issues for sync
}

// A kind selects the chains of a repository.
type kind string

const (
	kindSave  kind = "save"  // short, thin and long chain, in one pack with the project
	kindLoose kind = "loose" // long chain as loose objects
	kindPrune kind = "prune" // many chains for prune, packed
	kindMany  kind = "many"  // many issues, packed, with a synced remote
	kindFew   kind = "few"   // like kindMany with few issues

	kindTurns     kind = "turns"      // a branch with one turn
	kindUntracked kind = "untracked"  // likewise, with many untracked files
	kindTouched   kind = "touched"    // likewise, whose index has other times than the files
	kindFewTurns  kind = "few-turns"  // a branch with a few turns
	kindManyTurns kind = "many-turns" // a branch with many turns
	kindGrown     kind = "grown"      // likewise, each with another line of one file

	kindWide kind = "wide" // many files in one directory, without a chain

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
	if k == kindWide {
		r.files = append(r.files, widePaths()...)
	}
	if err := r.generate(ctx, k); err != nil {
		return nil, fmt.Errorf("generate %s: %w", name, err)
	}
	b.repos[name] = r
	return r, nil
}

// generate creates project and chains. All objects except loose chains are in one pack,
// without a commit-graph, because the targets were measured without a commit-graph.
func (r *repo) generate(ctx context.Context, k kind) error {
	pack := func() error {
		_, err := r.git(ctx, "-c", "gc.writeCommitGraph=false", "gc", "--quiet", "--prune=now")
		return err
	}
	chains := func() error { return r.chains(ctx, k) }
	steps := []func() error{func() error { return r.project(ctx) }, chains, pack}
	if k == kindLoose {
		steps[1], steps[2] = pack, chains
	}
	if turns, ok := r.b.turns(k); ok {
		files := map[kind]func() error{kindUntracked: r.addUntracked, kindTouched: r.touch}[k]
		if files == nil {
			files = func() error { return nil }
		}
		branch := func() error { return r.branchWithTurns(ctx, turns) }
		return try(steps[0], pack, files, branch, r.b.settle)
	}
	if k == kindWide {
		return try(steps[0], pack, r.b.settle)
	}
	if k == kindGrown {
		grow := func() error { return r.growInTurns(ctx, r.b.lengths.manyTurns) }
		return try(steps[0], pack, grow, r.b.settle)
	}
	if r.b.issuesOf(k) > 0 { // gc of so many records takes minutes, and fast-import has packed them
		return try(steps[0], chains, func() error { return r.packIssues(ctx) }, r.b.settle)
	}
	if k == kindMany || k == kindFew {
		steps = append(steps, func() error { return r.share(ctx) })
	}
	steps = append(steps, func() error { return r.stage(ctx, 0) }, r.b.settle)
	return try(steps...)
}

// turns returns the number of saved turns of a kind of repository. It returns false if the
// repository has other chains.
func (b *bench) turns(k kind) (int, bool) {
	turns, ok := map[kind]int{kindTurns: 1, kindUntracked: 1, kindTouched: 1, kindFewTurns: b.lengths.fewTurns, kindManyTurns: b.lengths.manyTurns}[k]
	return turns, ok
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
	if err := r.fastImport(ctx, 1, r.writeProject); err != nil {
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

// fastImport runs git fast-import with the output of write. If the number of objects is
// below packFrom, git stores loose objects instead of a pack.
func (r *repo) fastImport(ctx context.Context, packFrom int, write func(io.Writer) error) error {
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
	err := r.feed(ctx, in, "-c", fmt.Sprintf("fastimport.unpackLimit=%d", packFrom), "fast-import", "--quiet", "--force")
	in.Close()
	return err
}

func writeData(w io.Writer, text string) {
	fmt.Fprintf(w, "data %d\n%s\n", len(text), text)
}
