package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/secrets/scan"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// scannerTime is the timeout of the external scanner.
const scannerTime = 10 * time.Minute

// scanExternally searches files with a program of the user. It receives a temporary folder as argument
// and working directory. The folder contains the files that a push would expose, each as
// <blob>/<path>. Exit status 0 means that no secret was found. The program reports findings on stdout as
// lines of the form
//
//	<blob>/<path>:<line>
//
// with optional text after it. All other output may contain the secret or the name of a
// rule, and is not shown. If the program cannot run, the scan fails.
func (s *Scanner) scanExternally(ctx context.Context, line string, files []plumbing.Hash, shown exposed) ([]Secret, error) {
	if line == "" || len(files) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-scan-*")
	if err != nil {
		return nil, fmt.Errorf("scan_command: %w", err)
	}
	defer os.RemoveAll(dir)
	for _, blob := range files {
		if err := s.writeFor(ctx, dir, blob, shown.paths[blob]); err != nil {
			return nil, fmt.Errorf("scan_command: write files for it: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, scannerTime)
	defer cancel()
	defer trace.Begin(trace.Process, "scan_command").End()
	cmd := exec.CommandContext(ctx, "sh", "-c", line+` "$@"`, "scan_command", dir)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	err = cmd.Run()
	found := parseFindings(out.String(), shown)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("scan_command: timeout: %w", ctx.Err())
	case errors.As(err, &exit) && (exit.ExitCode() < 0 || exit.ExitCode() == 126 || exit.ExitCode() == 127):
		return nil, failure.Errorf(failure.Failure, "git config checkpoint.scan-command", "scan_command: it did not run: %.200s: %s", line, exit.ProcessState)
	case err != nil && exit == nil:
		return nil, errors.New("scan_command: there is no shell to run it")
	case err != nil && len(found) == 0:
		found = append(found, Secret{Path: "(scan_command)", Rule: scan.ExternalRule})
	}
	return found, nil
}

// writeFor writes a file into the folder of an external scanner.
func (s *Scanner) writeFor(ctx context.Context, dir string, blob plumbing.Hash, path string) error {
	name := filepath.Join(blob.String(), filepath.FromSlash(path))
	if !filepath.IsLocal(name) {
		name = filepath.Join(blob.String(), "file")
	}
	_, size, err := s.repo.Objects.Header(blob)
	if err != nil {
		return err
	}
	content, err := s.contentOf(ctx, blob, size)
	if err != nil {
		return err
	}
	defer content.Close()
	to := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

func parseFindings(out string, shown exposed) []Secret {
	place := regexp.MustCompile(fmt.Sprintf(`(?m)([0-9a-f]{%d})/[^\n]*?:([0-9]{1,9})(?:[:\s].*)?$`, objectformat.HexSize))
	var found []Secret
	for _, m := range place.FindAllStringSubmatch(out, -1) {
		path, known := shown.paths[plumbing.NewHash(m[1])]
		if !known {
			continue
		}
		line, _ := strconv.Atoi(m[2])
		found = append(found, Secret{Path: path, Rule: scan.ExternalRule, Line: line, blob: m[1]})
	}
	return found
}
