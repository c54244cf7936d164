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
	files []string // tracked ones, in order
	short string   // issues of its chains: of the short length,
	thin  string   // of the short length, where each save makes retention drop one,
	long  string   // of the long length,
	prune []string // those for prune, one a run,
	many  []string // and those for syncs
}

// A kind says what chains a repository has.
type kind string

const (
	kindSave  kind = "save"  // short, thin and long, in the project's one pack
	kindLoose kind = "loose" // long, loose
	kindPrune kind = "prune" // many for prune, packed
	kindMany  kind = "many"  // of many issues, packed, and a remote that has them
	kindFew   kind = "few"   // the same with a few issues
)

// repo generates a repository, or returns the one that was.
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

// generate makes project and chains. Everything but loose chains ends up in
// one pack, without a commit-graph: the figures come from repositories that
// had none.
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
	if k == kindMany || k == kindFew {
		steps = append(steps, func() error { return r.share(ctx) })
	}
	steps = append(steps, func() error { return r.stage(ctx, 0) }, r.b.settle)
	return try(steps...)
}

// paths names the files: top/leaf/file.
func paths(s scale) []string {
	list := make([]string, s.files)
	for i := range list {
		leaf := i / s.perLeaf
		list[i] = fmt.Sprintf("top%03d/leaf%d/file%03d.txt", leaf/10, leaf%10, i%s.perLeaf)
	}
	return list
}

// content is about 180 bytes of text, different in every file.
func content(i int) string {
	return fmt.Sprintf("file %d\n", i) + strings.Repeat(fmt.Sprintf("line of file %d, as text goes\n", i*7919), 4) + "\nthe end of it\n"
}

// project makes the repository with one commit that is checked out.
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

// fastImport feeds git what write writes. At least that many objects make a
// pack, fewer become loose.
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
