//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A host is the folder and the processes of one server.
type host struct {
	options
	dir, bin string
	running  []*exec.Cmd
}

// program returns the path of a program, or "" if it is missing. Servers are often outside
// the PATH of users.
func (h *host) program(name string) string {
	if path := h.paths[name]; path != "" {
		return path
	}
	for _, try := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(try); err == nil {
			return path
		}
	}
	return ""
}

// missing returns the first missing program.
func (h *host) missing(programs []string) string {
	for _, name := range programs {
		if h.program(name) == "" {
			return name
		}
	}
	return ""
}

// env returns the environment of all processes. They read no settings of the user.
func (h *host) env() []string {
	env := []string{
		"PATH=" + h.bin + ":" + os.Getenv("PATH"), "HOME=" + h.dir, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_CHECKPOINT_TIMEOUTS_ISSUE=30",
	}
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		env = append(env, "GIT_"+name+"_NAME=Ann", "GIT_"+name+"_EMAIL=ann@example.com")
	}
	return env
}

// run runs a program in a folder, and returns its standard output. The error has its
// standard error.
func (h *host) run(dir, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) // longer than the timeout of a sync
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, h.env()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = &runError{fmt.Sprint(filepath.Base(program), " ", strings.Join(args, " ")), stderr.String(), err}
	}
	return strings.TrimSpace(string(out)), err
}

func (h *host) git(dir string, args ...string) (string, error) { return h.run(dir, "git", args...) }

// all runs git once for each line, and stops at an error.
func (h *host) all(dir string, lines ...string) error {
	for _, line := range lines {
		if _, err := h.git(dir, strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// A runError is the failure of a program.
type runError struct {
	command, stderr string
	err             error
}

func (e *runError) Error() string { return fmt.Sprintf("%s: %v: %s", e.command, e.err, e.stderr) }

// code returns the exit code of a failed program, or -1.
func code(err error) int {
	var failed *runError
	var exit *exec.ExitError
	if errors.As(err, &failed) && errors.As(failed.err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// serve starts a server, and waits until it listens.
func (h *host) serve(address string, env []string, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = h.dir, append(h.env(), env...)
	log, err := os.Create(filepath.Join(h.dir, filepath.Base(program)+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // fcgiwrap leaves its children running
	if err := cmd.Start(); err != nil {
		return err
	}
	h.running = append(h.running, cmd)
	network := "tcp"
	if filepath.IsAbs(address) {
		network = "unix"
	}
	for range 1200 {
		if c, err := net.Dial(network, address); err == nil {
			return c.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	return fmt.Errorf("%s does not listen: %s", program, text)
}

// stop ends the processes that the host started, with their children.
func (h *host) stop() {
	for _, cmd := range h.running {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		timer := time.AfterFunc(10*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		_ = cmd.Wait()
		timer.Stop()
	}
}

// port returns a free address on this machine.
func port() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// sshdConfig has the address, the folder and further lines.
const sshdConfig = `ListenAddress %s
HostKey %s/key-host
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
AuthorizedKeysFile %[2]s/.ssh/authorized_keys
SetEnv HOME=%[2]s
%[3]s`

// sshd starts an ssh server with further lines of its configuration, and returns its
// address. The file .ssh/authorized_keys of the host's folder names its users.
func (h *host) sshd(lines string) (address string, err error) {
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // otherwise a start script of the system makes it
		return "", err
	}
	if _, err := h.key("host"); err != nil {
		return "", err
	}
	if address, err = port(); err != nil {
		return "", err
	}
	config := filepath.Join(h.dir, "sshd.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, sshdConfig, address, h.dir, lines), 0o600); err != nil {
		return "", err
	}
	return address, h.serve(address, nil, h.program("sshd"), "-D", "-e", "-f", config)
}

// key creates the ssh key of a user on first use, and returns its public key.
func (h *host) key(user string) (string, error) {
	file := filepath.Join(h.dir, "key-"+user)
	if _, err := os.Stat(file); err != nil {
		if _, err := h.run(h.dir, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", user, "-f", file); err != nil {
			return "", err
		}
	}
	text, err := os.ReadFile(file + ".pub")
	return strings.TrimSpace(string(text)), err
}

// ssh returns the ssh command of a user.
func (h *host) ssh(user string) string {
	return "ssh -F none -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -i " +
		filepath.Join(h.dir, "key-"+user)
}

// repository creates a repository with a commit, and r as its origin.
func (h *host) repository(name string, r remote) (string, error) {
	dir := filepath.Join(h.dir, name)
	if _, err := h.git(h.dir, "init", "-q", "-b", "main", dir); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o666); err != nil {
		return "", err
	}
	if err := h.all(dir, "add .", "commit -qm first", "remote add origin "+r.url); err != nil {
		return "", err
	}
	return dir, h.configure(dir, r)
}

// configure sets the ssh key, and turns off the question for the source.
func (h *host) configure(dir string, r remote) error {
	if err := h.all(dir, "config checkpoint.issue-source none", "config gc.auto 0"); err != nil {
		return err
	}
	if r.user == "" {
		return nil
	}
	_, err := h.git(dir, "config", "core.sshCommand", h.ssh(r.user))
	return err
}
