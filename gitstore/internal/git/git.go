// Package git runs the git binary.
//
// This program runs git for ref updates, configuration, the working tree, filters and the
// network instead of imitating git. As a fast path, other packages read plain forms of
// configuration, refs, index and objects directly. Parsed output
// is always plumbing output in the C locale and in NUL-terminated formats. Messages of
// git are shown but rarely parsed.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/fsutil/processtree"
	"git-checkpoint/gitstore/trace"
)

// Git runs git in a directory with an environment.
type Git struct {
	Dir string   // working directory, "" for that of the process
	Env []string // additional environment; later entries override earlier entries

	Unset []string // environment variables that git does not inherit

	Settings []string // settings of each command as key=value, for the option -c

	// UserPathspecs lets git inherit GIT_LITERAL_PATHSPECS and similar variables, for
	// arguments that are pathspecs of the user.
	UserPathspecs bool

	// Replacements lets git follow the refs below refs/replace/, for commands that check out
	// a branch of the user. All other commands see the objects as they are stored.
	Replacements bool

	// Apart starts git in a separate process group, so that signals to this process's
	// group do not reach git. If such a signal killed git, git would leave its lock
	// files.
	Apart bool
	Hold  []*os.File // with Apart: files that stay open, and locked, until git exits
}

// A CommandError reports a failed git command.
type CommandError struct {
	Args   []string // without "git"
	Code   int      // exit status, -1 if git was killed or not started
	Stderr string   // stderr of git, trimmed; the middle of a long text is missing
	Err    error
}

func (e *CommandError) Error() string {
	said := strings.TrimPrefix(strings.TrimPrefix(e.Stderr, "fatal: "), "error: ")
	if said == "" {
		said = e.Err.Error()
	}
	return fmt.Sprintf("git %s: %s", verb(e.Args), WithoutCredentials(said))
}

func (e *CommandError) Unwrap() error { return e.Err }

// verb returns the subcommand in args, for messages.
func verb(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c" || args[i] == "-C":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return strings.Join(args, " ")
}

// lookGit finds the git binary. It caches the result, because each lookup searches PATH.
var lookGit = sync.OnceValues(func() (string, error) { return exec.LookPath("git") })

// With returns a copy of g with additional environment variables.
func (g Git) With(env ...string) Git {
	g.Env = append(g.Env[:len(g.Env):len(g.Env)], env...)
	return g
}

// Output runs git and returns its standard output. If git fails, the error is a
// *CommandError, and Output also returns the output before the failure.
func (g Git) Output(ctx context.Context, args ...string) ([]byte, error) {
	return g.Pipe(ctx, nil, args...)
}

// Pipe is Output with standard input.
func (g Git) Pipe(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	var in io.Reader
	if stdin != nil {
		in = bytes.NewReader(stdin)
	}
	var out bytes.Buffer
	err := g.Filter(ctx, in, &out, args...)
	return out.Bytes(), err
}

// Filter runs git with standard input from r, which may be nil, and streams its standard output to w.
func (g Git) Filter(ctx context.Context, r io.Reader, w io.Writer, args ...string) error {
	run, err := g.command(ctx, args)
	if err != nil {
		return err
	}
	run.cmd.Stdin, run.cmd.Stdout = r, w
	_, err = run.end(run.cmd.Run())
	return err
}

// A Run is a started git process.
type Run struct {
	cmd    *exec.Cmd
	args   []string
	stdin  io.WriteCloser
	said   io.ReadCloser // standard output of a git started by Talk
	stdout bytes.Buffer
	stderr boundedText

	span trace.Span
	stop context.CancelFunc // terminates git
}

func (g Git) command(ctx context.Context, args []string) (*Run, error) {
	path, err := lookGit()
	if err != nil {
		return nil, &CommandError{Args: args, Code: -1, Err: err}
	}
	ctx, stop := context.WithCancel(ctx)
	var all []string
	for _, setting := range g.Settings {
		all = append(all, "-c", setting)
	}
	all = append(all, args...)
	run := &Run{cmd: exec.CommandContext(ctx, path, all...), args: args, stop: stop, span: traced(path, args)}
	run.cmd.Dir = g.Dir
	run.cmd.Env = g.environ()
	run.cmd.Stdout, run.cmd.Stderr = &run.stdout, &run.stderr
	end := ask
	if g.Apart {
		apart(run.cmd, g.Hold)
		end = askAll
	}
	run.cmd.Cancel, run.cmd.WaitDelay = func() error { return end(run.cmd.Process) }, graceful
	return run, nil
}

// ignored are variables of git config alone: with GIT_CONFIG, it would not list the
// configuration that other git commands use.
var ignored = []string{"GIT_CONFIG"}

// pathspecVariables change the meaning of all pathspecs. Git sets them for this process if
// it is called as git --glob-pathspecs checkpoint.
var pathspecVariables = []string{
	"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
}

func (g Git) environ() []string {
	env := without(os.Environ(), ignored)
	if !g.UserPathspecs {
		env = without(env, pathspecVariables)
	}
	if !g.Replacements {
		env = append(env, "GIT_NO_REPLACE_OBJECTS=1")
	}
	return without(append(append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"), g.Env...), g.Unset)
}

func without(env, names []string) []string {
	return slices.DeleteFunc(env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(names, name)
	})
}

// Start starts git. The caller provides standard input later, with Write and Finish.
func (g Git) Start(ctx context.Context, args ...string) (*Run, error) {
	return g.start(ctx, false, args)
}

// Detach starts git in the background, with no open file of this process. Where this is not supported,
// it fails with errors.ErrUnsupported.
func (g Git) Detach(args ...string) error {
	path, err := lookGit()
	if err != nil {
		return err
	}
	defer traced(path, args).End()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = g.Dir, g.environ()
	if err := processtree.Detach(cmd); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// Talk is Start for an interactive git, whose output the caller reads with Read.
func (g Git) Talk(ctx context.Context, args ...string) (*Run, error) { return g.start(ctx, true, args) }

func (g Git) start(ctx context.Context, talks bool, args []string) (*Run, error) {
	run, err := g.command(ctx, args)
	if err != nil {
		return nil, err
	}
	run.stdin, err = run.cmd.StdinPipe()
	if err == nil && talks {
		run.cmd.Stdout = nil
		run.said, err = run.cmd.StdoutPipe()
	}
	if err == nil {
		err = run.cmd.Start()
	}
	if err != nil {
		run.stop()
		return nil, &CommandError{Args: args, Code: -1, Err: err}
	}
	return run, nil
}

// Read reads the output of a git started by Talk.
func (r *Run) Read(p []byte) (int, error) { return r.said.Read(p) }

// Kill ends a git started by Talk at once, and returns its error.
func (r *Run) Kill() error {
	r.stop()
	_, err := r.Finish(nil)
	return err
}

// Write writes p to git's standard input.
func (r *Run) Write(p []byte) (int, error) { return r.stdin.Write(p) }

// Finish writes the rest of the standard input, waits for exit, and returns the output.
// An error of git takes precedence over a write error, because it is more specific.
func (r *Run) Finish(stdin []byte) ([]byte, error) {
	_, writeErr := r.stdin.Write(stdin)
	writeErr = errors.Join(writeErr, r.stdin.Close())
	if r.said != nil {
		_, _ = r.stdout.ReadFrom(r.said)
	}
	out, err := r.end(r.cmd.Wait())
	if err == nil && writeErr != nil {
		err = &CommandError{Args: r.args, Code: -1, Err: writeErr}
	}
	return out, err
}

// Warnings returns what git has printed on its standard error, after Finish. The middle of a
// long text is missing.
func (r *Run) Warnings() string { return r.stderr.String() }

// traced begins the line of a git process in the trace.
func traced(path string, args []string) trace.Span {
	if !trace.On() {
		return trace.Span{}
	}
	return trace.Begin(trace.Process, trace.Words(path, args))
}

func (r *Run) end(err error) ([]byte, error) {
	r.stop()
	if r.cmd.ProcessState != nil && !r.cmd.ProcessState.Success() {
		r.span.EndWith(r.cmd.ProcessState.String())
	} else {
		r.span.End()
	}
	if err == nil {
		return r.stdout.Bytes(), nil
	}
	failed := &CommandError{
		Args: r.args, Code: r.cmd.ProcessState.ExitCode(),
		Stderr: strings.TrimSpace(r.stderr.String()), Err: err,
	}
	if tooOld := r.tooOld(failed); tooOld != nil {
		failed.Err, failed.Stderr = tooOld, ""
	}
	return r.stdout.Bytes(), failed
}

// graceful is the time that git has to exit after SIGTERM.
const graceful = 5 * time.Second

// ask terminates a process with SIGTERM, so that git removes its lock files. A killed git
// leaves them, and the lock file of a ref blocks all later updates.
func ask(p *os.Process) error {
	err := p.Signal(syscall.SIGTERM)
	if err == nil || errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.Kill()
}

// Line is Output without the final newline.
func (g Git) Line(ctx context.Context, args ...string) (string, error) {
	out, err := g.Output(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Code returns the exit status in err: 0 for nil, and -1 if err is not a CommandError.
func Code(err error) int {
	if err == nil {
		return 0
	}
	var e *CommandError
	if errors.As(err, &e) {
		return e.Code
	}
	return -1
}

// Fields splits NUL-terminated output.
func Fields(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// A ConfigEntry is a git setting, after git has resolved includes and conditions.
type ConfigEntry struct {
	Key    string // section and variable in lower case, subsection unchanged
	Value  string
	Scope  string // system, global, local, worktree, command
	Origin string // file:<path>, command line:, ...
}

// Config returns git's settings in the order in which git reads them. The last entry of a
// key takes precedence.
func (g Git) Config(ctx context.Context) ([]ConfigEntry, error) {
	out, err := g.Output(ctx, "config", "--list", "--null", "--show-scope", "--show-origin")
	if err != nil {
		return nil, fmt.Errorf("read git's configuration: %w", err)
	}
	return parseConfig(out)
}

// parseConfig parses `scope NUL origin NUL key LF value NUL` groups. A variable without
// "=" has no LF and is true.
func parseConfig(out []byte) ([]ConfigEntry, error) {
	var entries []ConfigEntry
	for len(out) > 0 {
		parts := bytes.SplitN(out, []byte{0}, 4)
		if len(parts) < 4 {
			return nil, fmt.Errorf("read git's configuration: truncated after %d settings", len(entries))
		}
		key, value, found := strings.Cut(string(parts[2]), "\n")
		if !found {
			value = "true"
		}
		entries = append(entries, ConfigEntry{Key: key, Value: value, Scope: string(parts[0]), Origin: string(parts[1])})
		out = parts[3]
	}
	return entries, nil
}

// Last returns the effective value of key and whether key is set.
func Last(entries []ConfigEntry, key string) (string, bool) {
	e, ok := LastEntry(entries, key)
	return e.Value, ok
}

// LastEntry returns the effective entry of key and whether key is set.
func LastEntry(entries []ConfigEntry, key string) (ConfigEntry, bool) {
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Key == key {
			return entries[i], true
		}
	}
	return ConfigEntry{}, false
}

// UserFile returns the file that a setting names, by default that with the given name in
// git's folder of the user, and whether its path is known.
func UserFile(config []ConfigEntry, key, name string) (file string, known bool) {
	file, set := Last(config, key)
	home, err := os.UserHomeDir()
	if !set {
		file = filepath.Join("~", ".config", "git", name)
		if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
			file = filepath.Join(dir, "git", name)
		}
	}
	if below, ok := strings.CutPrefix(filepath.ToSlash(file), "~/"); ok {
		return filepath.Join(home, below), err == nil
	}
	return file, filepath.IsAbs(file)
}

// Bool parses a boolean value by git's rules, which include numbers. It returns false for
// invalid text.
func Bool(value string) bool {
	value = strings.ToLower(value)
	switch value {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.ParseInt(strings.TrimRight(value, "kmg"), 0, 64)
	return err == nil && n != 0
}

// OnIndex returns a copy of g for an index file that this program keeps, for example a copy of
// the user's index. Git starts neither hooks nor a file system monitor for this index. It writes
// the whole index to the file, with its checksum, and syncs it together with new objects. It
// never removes the shared part of a split index, which the user's index may need. config are
// the settings of the repository: hooks that they define are disabled too.
func (g Git) OnIndex(file string, config ...ConfigEntry) Git {
	g = g.With("GIT_INDEX_FILE=" + file)
	g.Settings = append(slices.Clone(g.Settings),
		"core.hooksPath="+os.DevNull, "core.fsmonitor=false", "core.safecrlf=false",
		"core.splitIndex=false", "splitIndex.sharedIndexExpire=never", "index.skipHash=false",
	)
	for _, e := range config { // git 2.54 and newer
		hook, isCommand := strings.CutSuffix(e.Key, ".command")
		if isCommand && strings.HasPrefix(hook, "hook.") && !strings.Contains(hook, "=") {
			g.Settings = append(g.Settings, hook+".enabled=false")
		}
	}
	// Before 2.36 git ignores this setting, and nothing is promised about a loss of power.
	fsync := "core.fsync=loose-object,pack,pack-metadata,index"
	if !fsutil.Syncs() {
		fsync = "core.fsync=none"
	}
	g.Settings = append(g.Settings, fsync)
	return g
}

// maxKept limits the start and the end of standard error that are kept, in bytes each. A
// server can print any amount to it.
const maxKept = 32 << 10

// A boundedText keeps the start and the end of the text written to it.
type boundedText struct {
	head, tail []byte
	cut        bool // text between head and tail is missing
}

func (t *boundedText) Write(p []byte) (int, error) {
	n := len(p)
	room := min(maxKept-len(t.head), n)
	t.head, p = append(t.head, p[:room]...), p[room:]
	if t.tail = append(t.tail, p...); len(t.tail) > 2*maxKept {
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-maxKept:]...)
		t.cut = true
	}
	return n, nil
}

// String returns the kept text. A line break replaces missing text.
func (t *boundedText) String() string {
	if t.cut {
		return string(t.head) + "\n" + string(t.tail)
	}
	return string(t.head) + string(t.tail)
}

// A Version is a git version, such as {2, 54}.
type Version [2]int

// ParseVersion parses the output of `git version`.
func ParseVersion(line string) (v Version, err error) {
	if _, err := fmt.Sscanf(line, "git version %d.%d", &v[0], &v[1]); err != nil {
		return Version{}, fmt.Errorf("git version: %q", line)
	}
	return v, nil
}

// AtLeast reports whether v is major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v[0] > major || v[0] == major && v[1] >= minor
}

// Oldest is the oldest git that is supported.
var Oldest = Version{2, 34}

// UsageCode is git's exit status for an unknown option.
const UsageCode = 129

// tooOld returns an error if git's version explains a failure: an unknown option, or
// an unknown command of update-ref, which has no distinct exit status.
func (r *Run) tooOld(failed *CommandError) error {
	if failed.Code != UsageCode && verb(r.args) != "update-ref" {
		return nil
	}
	version, err := InstalledVersion()
	if err != nil {
		return nil
	}
	return version.TooOld()
}

// TooOld returns an error if v is older than Oldest.
func (v Version) TooOld() error {
	if v.AtLeast(Oldest[0], Oldest[1]) {
		return nil
	}
	return failure.New(failure.Repository, "upgrade git", fmt.Sprintf("git %d.%d is too old: git %d.%d or newer is needed", v[0], v[1], Oldest[0], Oldest[1]))
}

// InstalledVersion returns git's version and caches it.
var InstalledVersion = sync.OnceValues(func() (v Version, err error) {
	path, err := lookGit()
	if err != nil {
		return v, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return v, err
	}
	return ParseVersion(string(out))
})
