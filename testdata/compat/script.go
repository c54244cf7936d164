package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed versions/*.sh programs/*.sh runners suite/*.sh windows/*.sh casefold
var files embed.FS

//go:embed helpers.sh
var helpers string

const (
	// skipped is the exit code of a script whose git or program is missing.
	skipped = 77
	// limit is the time of a script. On an idle machine, a script takes a few seconds.
	limit = 10 * time.Minute
)

// A script is a shell script with a name. It has the functions of helpers.sh.
type script struct{ name, text string }

// readScripts returns the scripts of some folders whose names match.
func readScripts(match *regexp.Regexp, folders ...string) ([]script, error) {
	var list []script
	for _, folder := range folders {
		paths, err := fs.Glob(files, folder+"/*.sh")
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := fs.ReadFile(files, path)
			if err != nil {
				return nil, err
			}
			name := strings.TrimSuffix(filepath.Base(path), ".sh")
			if match.MatchString(name) {
				list = append(list, script{name, string(text)})
			}
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no script has such a name")
	}
	return list, nil
}

// run empties the folder work, runs the script there, and returns its output and error.
// env is added to the variables of all scripts.
func (s script) run(work string, path []string, env ...string) ([]byte, error) {
	if err := remove(work); err != nil {
		return nil, err
	}
	home := filepath.Join(work, "home")
	if err := os.MkdirAll(home, 0o777); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-eux", "-c", helpers+s.text)
	cmd.Dir = work
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append([]string{
		"PATH=" + strings.Join(path, string(filepath.ListSeparator)),
		"HOME=" + home, "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(work),
		"LC_ALL=C", "TZ=UTC", "TERM=dumb",
	}, env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil // the script succeeded, and a process of wine keeps its output open
	}
	return out.Bytes(), err
}

// isSkipped reports whether a script ended because its git or program is missing.
func isSkipped(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == skipped
}

// remove deletes a folder, also if a script made folders read-only.
func remove(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// lastLines returns the last n lines of a text, indented.
func lastLines(text []byte, n int) string {
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-n):], "\n    ") + "\n"
}
