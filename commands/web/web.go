// Package web serves a web page for checkpoints, by default on a loopback address, and
// exports this page as a single file.
//
//	/                              the issues
//	/i/ISSUE                       progress and timeline of an issue
//	/i/ISSUE/archive               archived checkpoints
//	/i/ISSUE/turns                 turns of agents with their changes, at=ID or n=POSITION
//	/i/ISSUE/blame?path=           which turn or commit brought each line, with at= of a checkpoint
//	/i/ISSUE/{undo,redo}           GET describes the undo of the last change, or its redo, POST executes
//	/i/ISSUE/c/ID                  a checkpoint: its files with their changes, record
//	/i/ISSUE/c/ID/diff             changes since another checkpoint
//	/i/ISSUE/c/ID/raw              stored record
//	/i/ISSUE/c/ID/{resume,restore,pin,unpin,archive,drop}   GET describes, POST executes
//	/activity                      the newest checkpoints of all issues
//	/live                          polls of open pages: what is new
//
// ISSUE is the last component of the issue's ref. ID is a checkpoint's id or commit. Both
// are escaped for URLs.
//
// # Security
//
// Each request needs the token in the printed URL; browsers receive a cookie with this
// token. The Host header must name a loopback address, the configured host or the
// connection's local address, which prevents DNS rebinding. Requests from other pages in
// the browser are rejected. A page runs only its own script, loads no external resources,
// and refuses frames. Changes require Options.Write and a form that this program
// generated for the same change and the same plan: if the plan differs by now, nothing is done.
// Of the worktree, the page shows only files that a commit or a checkpoint has.
//
// Text of records, notes, names and files is hostile. Templates escape it for HTML, and render shows
// invisible and bidirectional control characters of the whole page as escapes. Such text never
// becomes a link, except as an escaped part of an https address of the remote's forge (Forge).
//
// # Structure
//
// A page is a template over values of package view and of this package, which have the text of
// records as it is. Templates are parsed for the first page, because every command links this package.
package web

import (
	"cmp"
	"context"
	"errors"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// WebCommand declares git checkpoint web.
var WebCommand = invoke.Command{
	Name: "web", Usage: "show checkpoints on a local web page", Args: "[ISSUE]", Max: 1, Category: "Look",
	Description: "Serves a page on loopback until it is interrupted, and prints its address. The\n" +
		"address contains a token, and nothing is shown without it. Open pages show new\n" +
		"checkpoints within five seconds. With --write the page can also resume, restore,\n" +
		"undo, redo, pin, archive and drop. It first describes what it would do. The issue is\n" +
		"compared as far as that needs no network.\n" +
		"--export writes one file instead, for a CI artifact, or a site with a page for each issue\n" +
		"into a directory. The pages contain text of records and files: check it with\n" +
		"`git checkpoint scan` before others get it.",
	Examples: []string{
		"git checkpoint web",
		"git checkpoint web --open",
		"git checkpoint web 42 --write",
		"git checkpoint web 42 --export checkpoints.html",
		"git checkpoint web --export site/",
	},
	ReadsOnly: true,
	New:       invoke.Bind((*webOptions).flags, runWeb),
}

type webOptions struct {
	addr   string // address to listen at
	write  bool   // the page may change checkpoints and files
	open   bool   // open the page in the browser
	export string // file or directory to write instead, "-" for standard output, "" to serve
}

func (o *webOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "addr", Usage: "listen at `HOST:PORT` (port 0 is any free port)", Value: "127.0.0.1:0", Destination: &o.addr},
		&cli.BoolFlag{Name: "open", Usage: "open the page in the browser", Destination: &o.open},
		&cli.BoolFlag{Name: "write", Usage: "let the page resume, restore, undo, redo, pin, archive and drop", Destination: &o.write},
		&cli.StringFlag{Name: "export", Usage: "write one static page to `FILE` instead (- is standard output), or a site to a directory, as in site/", Destination: &o.export},
	}
}

func runWeb(c *invoke.Invocation, o *webOptions) error {
	for _, served := range []string{"write", "addr", "open"} {
		if o.export != "" && c.Line.Flags.IsSet(served) {
			return failure.Usagef("web: --%s is for a served page, and --export writes a file", served)
		}
	}
	if c.Line.JSON && o.export == "-" {
		return failure.Usagef("web: --json and --export - both want standard output")
	}
	if err := c.Open(); err != nil {
		return err
	}
	if o.write && c.Store.Root() == "" {
		return failure.Errorf(failure.Repository, "git checkpoint web", "web: --write: a bare repository has no worktree")
	}
	var issues []checkpoint.Issue // none means all
	path := ""
	if len(c.Line.Args) > 0 || c.Line.Common.Issue != "" {
		i, err := c.Issue()
		if err != nil {
			return err
		}
		if !c.Store.HasIssue(c.Ctx, i) {
			return &gitstore.NoneError{Issue: i}
		}
		issues, path = []checkpoint.Issue{i}, links{}.issue(i)[1:]
	}
	if o.export != "" {
		return exportPage(c, o.export, issues)
	}
	server, err := Listen(o.addr, pageOptions(c, o.write))
	if err != nil {
		return failure.Usagef("web: --addr: %w", err)
	}
	if !server.Loopback() {
		c.Warnf("everybody who can reach %s and has the address can see this repository's checkpoints", o.addr)
		c.FlushWarnings()
	}
	if c.Line.JSON {
		if err := c.WriteJSON(view.Web{Type: "web", URL: server.URL(path), Write: o.write}); err != nil {
			return err
		}
	} else {
		c.Printf("%s\n", server.URL(path))
		c.Infof("Press Ctrl+C to stop.")
		if c.Out.Err != nil {
			return c.Out.Err
		}
	}
	if o.open {
		closeFile, err := openBrowser(c, server.URL(path))
		defer closeFile()
		if err != nil {
			c.Warnf("the browser was not opened: %v", err)
			c.FlushWarnings()
		}
	}
	return server.Serve(c.Ctx)
}

func pageOptions(c *invoke.Invocation, write bool) Options {
	return Options{
		Open: func(ctx context.Context) (*Repository, error) { return webRepository(c, ctx) }, Now: c.Env.Now, Write: write,
		Name: filepath.Base(cmp.Or(c.Store.Root(), c.Store.CommonDir())),
	}
}

// webRepository opens the repository for one request, because a store belongs to one
// goroutine and settings can change. Git processes get their own process group, so that
// Ctrl+C, which stops the server, does not interrupt a write. Only a request that has
// changed checkpoints starts the mirror.
func webRepository(c *invoke.Invocation, ctx context.Context) (*Repository, error) {
	own := c.Fork(ctx)
	own.Out.Quiet, own.Needs.Offline, own.Needs.OwnProcessGroup = true, true, true
	if err := own.Open(); err != nil {
		own.Close()
		return nil, err
	}
	issues, code := work.ForgeSites(own)
	return &Repository{
		Store: own.Store,
		Judge: func(cp *gitstore.Checkpoint, r *checkpoint.Record) (*view.Standing, error) {
			return work.Judge(own, cp, r, work.JudgeOptions{Issue: work.IssueOptions{Recent: true}})
		},
		Agent: func(session string) string { return work.AgentOf(own, session) },
		Beside: func(s *view.Standing) {
			if p, err := own.Store.Point(own.Ctx, s.Checkpoint.Issue); err == nil && p.ID == s.Checkpoint.ID {
				s.Point = p
			}
			work.LookBeside(own, s)
		},
		NotSaved: func(cp *gitstore.Checkpoint) (int, error) { return work.NotSaved(own, cp) },
		Forge:    Forge{issues, code},
		Detached: own.DetachedBranch,
		Mirror: func() {
			if mirror := c.StartMirror(own); mirror != nil {
				mirror.End(own)
				mirror.Close()
			}
		},
	}, nil
}

// exportPage writes a page to a file or to standard output, or a site to a directory.
func exportPage(c *invoke.Invocation, file string, issues []checkpoint.Issue) error {
	if file != "-" {
		abs, err := filepath.Abs(file)
		if err != nil {
			return failure.Errorf(failure.Failure, "", "web: --export: %w", err)
		}
		if f := c.Store.Files.Boundary(c.Ctx).FindPlace(abs); f.Reason != "" {
			return failure.Usagef("web: --export: %s is inside git's directory", view.QuotePath(file))
		}
	}
	repo, err := webRepository(c, c.Ctx)
	if err != nil {
		return err
	}
	defer repo.Close()
	info, err := os.Stat(file)
	site := err == nil && info.IsDir() || os.IsPathSeparator(file[len(file)-1])
	write := func(name string, page io.Reader) error {
		switch {
		case site:
			if err := os.MkdirAll(file, 0o777); err != nil {
				return err
			}
			return Put(filepath.Join(file, name), page)
		case file == "-":
			_, err := io.Copy(c.Out, page)
			return err
		}
		return Put(file, page)
	}
	t := c.Tick("web: writing the page")
	left, err := Export(c.Ctx, write, repo, pageOptions(c, false), issues, site)
	t.End()
	if err != nil {
		if _, missing := os.Stat(filepath.Dir(file)); missing != nil { // named without the temporary file in it
			dir := view.QuoteArg(filepath.Dir(file))
			return failure.Errorf(failure.Failure, "mkdir -p "+dir, "web: --export: %s: no such directory", dir)
		}
		return failure.Errorf(failure.Failure, "", "web: --export: %w", err)
	}
	for _, what := range left {
		c.Warnf("%s", what)
	}
	if c.Line.JSON {
		return c.WriteJSON(view.Web{Type: "web", File: file, Warnings: c.TakeWarnings()})
	}
	return nil
}

// openBrowser opens an address in the browser. The address has the token, and other users of
// the machine can read the arguments of a process. So the browser opens a file that only
// this user can read, and the file leads to the address. The returned function removes the
// file.
func openBrowser(c *invoke.Invocation, address string) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "git-checkpoint-web-*") // mode 0700
	if err != nil {
		return func() {}, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	file := filepath.Join(dir, "open.html")
	if err := os.WriteFile(file, []byte(redirectTo(address)), 0o600); err != nil {
		return remove, err
	}
	argv := browserCommand(c.Env.Getenv("BROWSER"), file)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return remove, errors.New("the program " + argv[0] + " was not found")
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env = c.Env.Environ
	if err := cmd.Start(); err != nil {
		return remove, err
	}
	go func() { _ = cmd.Wait() }()
	return remove, nil
}

// redirectTo returns a page that leads to an address at once.
func redirectTo(address string) string {
	address = html.EscapeString(address)
	return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">` +
		`<meta http-equiv="refresh" content="0;url=` + address + `"><title>git-checkpoint</title><a href="` + address + `">Open the page</a></html>` + "\n"
}

// browserCommand returns the command that opens a file in the browser. browser is the
// variable BROWSER: a list of programs, whose first is used.
func browserCommand(browser, file string) []string {
	if first, _, _ := strings.Cut(browser, string(os.PathListSeparator)); first != "" && !strings.ContainsAny(first, " %") {
		return []string{first, file}
	}
	switch runtime.GOOS {
	case "darwin":
		return []string{"open", file}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", file}
	}
	return []string{"xdg-open", file}
}
