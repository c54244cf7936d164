package commands

import (
	"cmp"
	"context"
	"io"
	"path/filepath"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/commands/web"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

var webCommand = command{
	name: "web", usage: "look at checkpoints on a local page", args: "[ISSUE]", max: 1, category: "Look",
	description: "Serves a page on loopback until it is interrupted, and prints its address, which\n" +
		"has a token in it: without that, nothing is shown. With --write the page can also\n" +
		"pin, unpin, archive and drop, and asks before it does. The issue is compared as far\n" +
		"as that needs no network.\n" +
		"--export writes one file instead, for a CI artifact; it has what records and files\n" +
		"have in them, so look at `git checkpoint scan` before others get it.",
	examples: []string{
		"git checkpoint web",
		"git checkpoint web 42 --write",
		"git checkpoint web 42 --export checkpoints.html",
	},
	flags: webFlags,
	run:   runWeb,
}

func webFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "addr", Usage: "listen at `HOST:PORT` (port 0 is any that is free)", Value: "127.0.0.1:0"},
		&cli.BoolFlag{Name: "write", Usage: "let the page pin, unpin, archive and drop"},
		&cli.StringFlag{Name: "export", Usage: "write one static page to `FILE` (- is standard output) instead"},
	}
}

func runWeb(c *Invocation) error {
	c.onlyLooks = true
	if err := c.checkExport(); err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	issues, path, err := c.webIssue()
	if err != nil {
		return err
	}
	if file := c.flags.String("export"); file != "" {
		return c.exportPage(file, issues)
	}
	server, err := web.Listen(c.flags.String("addr"), c.webOptions())
	if err != nil {
		return exit.Usagef("web: --addr: %w", err)
	}
	if !server.Loopback() {
		c.warnf("everybody who can reach %s and has the address can look at this repository's checkpoints", c.flags.String("addr"))
		c.flushWarnings()
	}
	if err := c.showAddress(server.URL(path)); err != nil {
		return err
	}
	return server.Serve(c.ctx)
}

// checkExport returns an error for flags that do not apply to an exported file.
func (c *Invocation) checkExport() error {
	if !c.flags.IsSet("export") {
		return nil
	}
	for _, served := range []string{"write", "addr"} {
		if c.flags.IsSet(served) {
			return exit.Usagef("web: --export writes a page that nobody serves: --%s is for one that is served", served)
		}
	}
	if c.json && c.flags.String("export") == "-" {
		return exit.Usagef("web: --json and --export - both want standard output")
	}
	return nil
}

// webIssue returns the named issue and the issue's page path. An empty result means all
// issues.
func (c *Invocation) webIssue() (issues []checkpoint.Issue, path string, err error) {
	if len(c.args) == 0 && c.flags.String("issue") == "" {
		return nil, "", nil
	}
	i, err := c.issue()
	if err != nil {
		return nil, "", err
	}
	if !c.store.HasIssue(c.ctx, i) {
		return nil, "", &gitstore.NoneError{Issue: i}
	}
	return []checkpoint.Issue{i}, web.IssuePath(i), nil
}

func (c *Invocation) webOptions() web.Options {
	return web.Options{
		Open: c.webRepository, Now: c.env.Now, Write: c.flags.Bool("write"), Old: freshness.DefaultMaxAge,
		Name: filepath.Base(cmp.Or(c.store.Root(), c.store.CommonDir())),
	}
}

// webRepository opens the repository for one request, because a store belongs to one
// goroutine and settings can change. Git processes get their own process group, so that
// Ctrl+C, which stops the server, does not interrupt a write.
func (c *Invocation) webRepository(ctx context.Context) (*web.Repository, error) {
	own := *c
	own.ctx, own.store, own.warnings = ctx, nil, nil
	own.quiet, own.offline, own.ownProcessGroup = true, true, true
	if err := own.open(); err != nil {
		own.close()
		return nil, err
	}
	return &web.Repository{Store: own.store, Judge: own.webJudge}, nil
}

// webJudge returns the same verdict and progress as status.
func (c *Invocation) webJudge(cp *gitstore.Checkpoint, r *checkpoint.Record) (web.Judged, error) {
	v, err := c.judge(cp, r)
	if err != nil {
		return web.Judged{}, err
	}
	at := standingOf(r, v)
	j := web.Judged{
		Verdict: v, Names: r.Progress().Names,
		Completed: at.completed, Current: at.current, Complete: at.complete, Alone: autoResume(v),
	}
	for _, row := range progressRows(r, v) {
		j.Facts = append(j.Facts, web.Fact{Name: row.Label, Text: row.Text})
	}
	from := cmp.Or(ownWords(r), continueFrom(r))
	if v.Next.Action != "" {
		from = at.from
	}
	j.Facts = append(j.Facts, web.Fact{Name: "Goes on at", Text: from})
	if len(j.Names) == 0 {
		j.Names = append(append(j.Names, at.completed...), at.remaining...)
	}
	if v.CanResume {
		j.Command = "git checkpoint resume " + phrase.QuoteArg(string(cp.Issue))
		j.This = j.Command + " " + phrase.QuoteArg(string(cp.ID))
	}
	return j, nil
}

func (c *Invocation) showAddress(address string) error {
	if c.json {
		return c.write(output.Web{Type: "web", URL: address, Write: c.flags.Bool("write")})
	}
	c.print("%s\n", address)
	c.infof("Ctrl+C ends it.")
	return c.out.err
}

// exportPage writes a page to a file or to standard output.
func (c *Invocation) exportPage(file string, issues []checkpoint.Issue) error {
	repo, err := c.webRepository(c.ctx)
	if err != nil {
		return err
	}
	defer repo.Close()
	write := func(page io.Reader) error { return web.Put(file, page) }
	if file == "-" {
		write = func(page io.Reader) error {
			_, err := io.Copy(c.out, page)
			return err
		}
	}
	left, err := web.Export(c.ctx, write, repo, c.webOptions(), issues)
	if err != nil {
		return exit.Errorf(exit.Failure, "", "web: --export: %w", err)
	}
	for _, what := range left {
		c.warnf("%s", what)
	}
	if c.json {
		return c.write(output.Web{Type: "web", File: file, Warnings: c.takeWarnings()})
	}
	return nil
}
