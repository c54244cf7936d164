package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore"
)

// A bench is one run of this program.
type bench struct {
	*options
	work   string // parent directory of all files
	env    []string
	git    string
	binary string
	log    io.Writer
	line   string // a program that prints a line
	repos  map[string]*repo
}

func newBench(ctx context.Context, o *options, log io.Writer) (*bench, error) {
	work, err := os.MkdirTemp(o.dir, "git-checkpoint-bench-*")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, work: work, env: cleanEnv(work), log: log, repos: map[string]*repo{}}
	if b.git, err = exec.LookPath("git"); err == nil {
		err = os.Mkdir(filepath.Join(work, "home"), 0o777)
	}
	if err == nil {
		b.binary, err = b.build(ctx)
	}
	if err == nil {
		b.line, err = b.buildLine(ctx)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// close removes all repositories after the last measurement.
func (b *bench) close() {
	if b.keep {
		fmt.Fprintf(b.log, "kept: %s\n", b.work)
		return
	}
	os.RemoveAll(b.work)
}

// build returns the path of the measured binary. If no binary was given, it builds the
// program with release flags.
func (b *bench) build(ctx context.Context) (string, error) {
	if b.options.binary != "" {
		return filepath.Abs(b.options.binary)
	}
	b.say("build git-checkpoint")
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	target := filepath.Join(b.work, "git-checkpoint")
	tags := "urfave_cli_no_docs"
	if gitstore.ObjectFormat == "sha256" {
		tags += ",sha256"
	}
	return target, b.goBuild(ctx, root, target, ".", "-tags", tags)
}

// buildLine builds a Go program that prints a line.
func (b *bench) buildLine(ctx context.Context) (string, error) {
	source, target := filepath.Join(b.work, "line.go"), filepath.Join(b.work, "line")
	const text = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"a line\") }\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		return "", err
	}
	return target, b.goBuild(ctx, b.work, target, source)
}

// goBuild builds a program with release flags.
func (b *bench) goBuild(ctx context.Context, dir, target, source string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", target}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, source)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", source, err, out)
	}
	return nil
}

// moduleRoot returns the directory of go.mod at or above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod here or above: run in the source, or give -binary")
		}
	}
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, format+"\n", args...)
}

// all measures every selected row at each of its sizes.
func (b *bench) all(ctx context.Context) ([]result, error) {
	var results []result
	for i, s := range b.scales {
		for _, w := range rows {
			if !b.rows.MatchString(w.name) || w.once && i > 0 {
				continue
			}
			r, err := b.one(ctx, w, s)
			if err != nil {
				return results, fmt.Errorf("row %s at %s files: %w", w.name, s.name, err)
			}
			results = append(results, r)
		}
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("-rows: nothing matches; there are %s", strings.Join(rowNames(), ", "))
	}
	return results, nil
}

func (b *bench) one(ctx context.Context, w row, s scale) (result, error) {
	r, err := b.repo(ctx, w.store, s)
	if err != nil {
		return result{}, err
	}
	b.say("%s at %s files", w.name, s.name)
	res, err := w.run(ctx, r)
	if err != nil {
		return result{}, err
	}
	res.Row, res.Size, res.What, res.Against = w.name, s.name, w.what, w.against
	res.finish(w.target(s))
	b.say("  %s", res.line())
	return res, nil
}
