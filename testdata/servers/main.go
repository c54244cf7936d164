//go:build unix

// Command servers runs clones that save and sync at once against real git servers, and
// prints Markdown tables:
//
//	go run ./testdata/servers [-run REGEXP] [-clones N] [-saves N] [-gitea-files DIR] [PROGRAM=PATH...]
//
// The servers are Gitea, soft-serve, JGit, gitolite, and nginx with git-http-backend. Their
// programs are found on PATH, or at the given paths, such as gitea=/opt/gitea. A server
// whose program is missing is named and left out. A gitea that was built without its files
// needs -gitea-files, the folder of its templates and options.
//
// In the first table, no checkpoint may be lost, no sync may fail, and all clones and the
// server must have the same tip. The second table has refused pushes: the message must
// contain the server's reason. The third table has labels, title and state of an issue
// through Gitea's API. The exit code is 1 if something of it does not hold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

// servers are the servers in the order of the table.
var servers = []server{
	{"Gitea", []string{"gitea", "ssh"}, startGitea},
	{"soft-serve", []string{"soft", "ssh"}, startSoftServe},
	{"JGit", []string{"java", "sshd", "ssh"}, startJGit},
	{"gitolite", []string{"gitolite", "sshd", "ssh"}, startGitolite},
	{"nginx, git-http-backend", []string{"nginx", "fcgiwrap"}, startNginx},
}

// A server starts a git server in the folder of its host.
type server struct {
	name     string
	programs []string
	start    func(context.Context, *host) (*site, error)
}

// A site is a running server.
type site struct {
	transports []transport
	refusals   []refusal
	checks     []check
}

// A transport is a way to an empty repository of the server that may be written.
type transport struct {
	name string
	remote
}

// A remote is the URL of a repository, and the user whose ssh key opens it.
type remote struct{ url, user string }

// A check is a named test of a server, apart from the transfer of checkpoints.
type check struct {
	name string
	run  func() error
}

type options struct {
	run           *regexp.Regexp
	clones, saves int
	files         string            // folder of Gitea's templates and options
	paths         map[string]string // programs
}

func main() {
	o := options{paths: map[string]string{}}
	run := flag.String("run", "", "run only the servers whose names match this regular expression")
	flag.IntVar(&o.clones, "clones", 8, "`number` of clones")
	flag.IntVar(&o.saves, "saves", 30, "`number` of saves in each clone")
	flag.StringVar(&o.files, "gitea-files", "", "`folder` of Gitea's templates and options")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := o.read(*run, flag.Args())
	if err == nil {
		err = start(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func (o *options) read(pattern string, args []string) (err error) {
	if o.run, err = regexp.Compile(pattern); err != nil {
		return err
	}
	for _, arg := range args {
		name, path, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q: want PROGRAM=PATH", arg)
		}
		if o.paths[name], err = filepath.Abs(path); err != nil {
			return err
		}
	}
	return nil
}

// start builds git-checkpoint, and runs the servers one after another.
func start(ctx context.Context, o options) error {
	work, err := os.MkdirTemp("", "servers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	bin := filepath.Join(work, "bin")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(bin, "git-checkpoint"), ".").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	var t tables
	for n, s := range servers {
		if !o.run.MatchString(s.name) {
			continue
		}
		h := &host{dir: filepath.Join(work, fmt.Sprint("host", n)), bin: bin, options: o}
		if missing := h.missing(s.programs); missing != "" {
			t.skip(s.name, missing)
			continue
		}
		if err := t.add(ctx, h, s); err != nil {
			t.fail("%s: %v", s.name, err)
		}
		h.stop()
	}
	t.print(os.Stdout)
	if t.failed {
		return errors.New("a server or a check failed")
	}
	return ctx.Err()
}
