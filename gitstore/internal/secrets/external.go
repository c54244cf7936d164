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
)

// A scanner is an external program, configured by the user, that also searches for
// secrets. It receives a temporary folder as argument and working directory. The folder
// contains the files that a push would expose, each as <blob>/<path>. Exit status 0 means
// that no secret was found. The scanner reports findings on stdout as lines of the form
//
//	<blob>/<path>:<line>
//
// with optional text after it. All other output may contain the secret or the name of a
// rule, and is not shown. If the program cannot run, the scan fails.
type scanner struct {
	line  string
	dir   string
	paths map[string]string // paths in the folder, by blob
}

// scannerTime is the timeout of the program.
const scannerTime = 10 * time.Minute

// startScanner creates the scanner's folder. Without a configured program it returns nil.
func startScanner(line string) (*scanner, error) {
	if line == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-scan-*")
	if err != nil {
		return nil, fmt.Errorf("scan_command: %w", err)
	}
	return &scanner{line: line, dir: dir, paths: map[string]string{}}, nil
}

func (x *scanner) close() {
	if x != nil {
		_ = os.RemoveAll(x.dir)
	}
}

// add writes a file into the scanner's folder.
func (x *scanner) add(blob, path string, r io.Reader) error {
	name := filepath.Join(blob, filepath.FromSlash(path))
	if !filepath.IsLocal(name) {
		name = filepath.Join(blob, "file")
	}
	x.paths[blob] = path
	to := filepath.Join(x.dir, name)
	err := os.MkdirAll(filepath.Dir(to), 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600); err == nil {
			_, err = io.Copy(f, r)
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("scan_command: write files for it: %w", err)
	}
	return nil
}

// run runs the program on its folder.
func (x *scanner) run(ctx context.Context) ([]Secret, error) {
	if x == nil || len(x.paths) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, scannerTime)
	defer cancel()
	defer trace.Begin(trace.Process, "scan_command").End()
	cmd := exec.CommandContext(ctx, "sh", "-c", x.line+` "$@"`, "scan_command", x.dir)
	cmd.Dir, cmd.WaitDelay = x.dir, time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	found := x.parse(out.String())
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("scan_command: timeout: %w", ctx.Err())
	case errors.As(err, &exit) && (exit.ExitCode() < 0 || exit.ExitCode() == 126 || exit.ExitCode() == 127):
		return nil, failure.Errorf(failure.Failure, "git config checkpoint.scan-command", "scan_command: it did not run: %.200s: %s", x.line, exit.ProcessState)
	case err != nil && exit == nil:
		return nil, errors.New("scan_command: there is no shell to run it")
	case err != nil && len(found) == 0:
		found = append(found, Secret{Path: "(scan_command)", Rule: scan.ExternalRule})
	}
	return found, nil
}

// parse returns the findings in the program's output.
func (x *scanner) parse(out string) []Secret {
	place := regexp.MustCompile(fmt.Sprintf(`(?m)([0-9a-f]{%d})/[^\n]*?:([0-9]{1,9})(?:[:\s].*)?$`, objectformat.HexSize))
	var found []Secret
	for _, m := range place.FindAllStringSubmatch(out, -1) {
		path, known := x.paths[m[1]]
		if !known {
			continue
		}
		line, _ := strconv.Atoi(m[2])
		found = append(found, Secret{Path: path, Rule: scan.ExternalRule, Line: line, blob: m[1]})
	}
	return found
}
