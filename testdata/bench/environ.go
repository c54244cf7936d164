package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore"
)

// cleanEnv returns an environment independent of the user: only repository configuration,
// and no git variables.
func cleanEnv(work string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(work, "home"),
		"TMPDIR=" + work,
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_DEFAULT_HASH=" + gitstore.ObjectFormat,
		"GIT_TERMINAL_PROMPT=0",
		"LC_ALL=C",
		"TZ=UTC",
	}
}

// do runs a command outside the measured time and returns its standard output.
func (b *bench) do(ctx context.Context, dir string, in io.Reader, argv ...string) (string, error) {
	out, _, err := b.both(ctx, dir, in, argv...)
	return out, err
}

// both is do with standard error.
func (b *bench) both(ctx context.Context, dir string, in io.Reader, argv ...string) (stdout, stderr string, err error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, b.env, in, &out, &said
	if err := cmd.Run(); err != nil {
		return "", "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(said.String()))
	}
	return out.String(), said.String(), nil
}

// git runs git in a repository outside the measured time. It returns output without the
// final newline.
func (r *repo) git(ctx context.Context, args ...string) (string, error) {
	out, err := r.b.do(ctx, r.dir, nil, append([]string{r.b.git}, args...)...)
	return strings.TrimSuffix(out, "\n"), err
}

// feed runs git with standard input.
func (r *repo) feed(ctx context.Context, in io.Reader, args ...string) error {
	_, err := r.b.do(ctx, r.dir, in, append([]string{r.b.git}, args...)...)
	return err
}

// checkpoint runs git-checkpoint outside the measured time.
func (r *repo) checkpoint(ctx context.Context, args ...string) (string, error) {
	out, err := r.b.do(ctx, r.dir, nil, append([]string{r.b.binary}, args...)...)
	return strings.TrimSuffix(out, "\n"), err
}

// try runs steps until one returns an error.
func try(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
