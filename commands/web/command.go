package web

import (
	"cmp"
	"context"
	"io"
	"path/filepath"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/issuesource"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// WebCommand declares git checkpoint web.
var WebCommand = invoke.Command{
	Name: "web", Usage: "look at checkpoints on a local page", Args: "[ISSUE]", Max: 1, Category: "Look",
	Description: "Serves a page on loopback until it is interrupted, and prints its address, which\n" +
		"has a token in it: without that, nothing is shown. With --write the page can also\n" +
		"pin, unpin, archive and drop, and asks before it does. The issue is compared as far\n" +
		"as that needs no network.\n" +
		"--export writes one file instead, for a CI artifact; it has what records and files\n" +
		"have in them, so look at `git checkpoint scan` before others get it.",
	Examples: []string{
		"git checkpoint web",
		"git checkpoint web 42 --write",
		"git checkpoint web 42 --export checkpoints.html",
	},
	Flags: webFlags,
	Run:   runWeb,
}

func webFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "addr", Usage: "listen at `HOST:PORT` (port 0 is any that is free)", Value: "127.0.0.1:0"},
		&cli.BoolFlag{Name: "write", Usage: "let the page pin, unpin, archive and drop"},
		&cli.StringFlag{Name: "export", Usage: "write one static page to `FILE` (- is standard output) instead"},
	}
}

func runWeb(c *invoke.Invocation) error {
	if err := checkExport(c); err != nil {
		return err
	}
	if err := c.Open(); err != nil {
		return err
	}
	issues, path, err := webIssue(c)
	if err != nil {
		return err
	}
	if file := c.Flags.String("export"); file != "" {
		return exportPage(c, file, issues)
	}
	server, err := Listen(c.Flags.String("addr"), webOptions(c))
	if err != nil {
		return exit.Usagef("web: --addr: %w", err)
	}
	if !server.Loopback() {
		c.Warnf("everybody who can reach %s and has the address can look at this repository's checkpoints", c.Flags.String("addr"))
		c.FlushWarnings()
	}
	if err := showAddress(c, server.URL(path)); err != nil {
		return err
	}
	return server.Serve(c.Ctx)
}

// checkExport returns an error for flags that do not apply to an exported file.
func checkExport(c *invoke.Invocation) error {
	if !c.Flags.IsSet("export") {
		return nil
	}
	for _, served := range []string{"write", "addr"} {
		if c.Flags.IsSet(served) {
			return exit.Usagef("web: --export writes a page that nobody serves: --%s is for one that is served", served)
		}
	}
	if c.JSON && c.Flags.String("export") == "-" {
		return exit.Usagef("web: --json and --export - both want standard output")
	}
	return nil
}

// webIssue returns the named issue and the issue's page path. An empty result means all
// issues.
func webIssue(c *invoke.Invocation) (issues []checkpoint.Issue, path string, err error) {
	if len(c.Args) == 0 && c.Common.Issue == "" {
		return nil, "", nil
	}
	i, err := c.Issue()
	if err != nil {
		return nil, "", err
	}
	if !c.Store.HasIssue(c.Ctx, i) {
		return nil, "", &gitstore.NoneError{Issue: i}
	}
	return []checkpoint.Issue{i}, IssuePath(i), nil
}

func webOptions(c *invoke.Invocation) Options {
	return Options{
		Open: func(ctx context.Context) (*Repository, error) { return webRepository(c, ctx) }, Now: c.Env.Now, Write: c.Flags.Bool("write"), Old: freshness.DefaultMaxAge,
		Name: filepath.Base(cmp.Or(c.Store.Root(), c.Store.CommonDir())),
	}
}

// webRepository opens the repository for one request, because a store belongs to one
// goroutine and settings can change. Git processes get their own process group, so that
// Ctrl+C, which stops the server, does not interrupt a write.
func webRepository(c *invoke.Invocation, ctx context.Context) (*Repository, error) {
	own := *c
	own.Ctx, own.Store, own.Warnings = ctx, nil, nil
	own.Quiet, own.Offline, own.OwnProcessGroup = true, true, true
	if err := own.Open(); err != nil {
		own.Close()
		return nil, err
	}
	return &Repository{Store: own.Store, Judge: func(cp *gitstore.Checkpoint, r *checkpoint.Record) (Judged, error) { return webJudge(&own, cp, r) }}, nil
}

// webJudge returns the same verdict and progress as status.
func webJudge(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record) (Judged, error) {
	v, err := judge.Verdict(c, cp, r, judge.Options{Issue: issuesource.Options{Recent: true}})
	if err != nil {
		return Judged{}, err
	}
	at := standing.Of(r, v)
	j := Judged{
		Verdict: v, Names: r.Progress().Names,
		Completed: at.Completed, Current: at.Current, Complete: at.Complete, Alone: standing.AutoResume(v),
	}
	for _, row := range standing.ProgressRows(r, v) {
		j.Facts = append(j.Facts, Fact{Name: row.Label, Text: row.Text})
	}
	from := cmp.Or(standing.OwnWords(r), standing.ContinueFrom(r))
	if v.Next.Action != "" {
		from = at.From
	}
	j.Facts = append(j.Facts, Fact{Name: "Goes on at", Text: from})
	if len(j.Names) == 0 {
		j.Names = append(append(j.Names, at.Completed...), at.Remaining...)
	}
	if v.CanResume {
		j.Command = "git checkpoint resume " + phrase.QuoteArg(string(cp.Issue))
		j.This = j.Command + " " + phrase.QuoteArg(string(cp.ID))
	}
	return j, nil
}

func showAddress(c *invoke.Invocation, address string) error {
	if c.JSON {
		return c.WriteJSON(output.Web{Type: "web", URL: address, Write: c.Flags.Bool("write")})
	}
	c.Printf("%s\n", address)
	c.Infof("Ctrl+C ends it.")
	return c.Out.Err
}

// exportPage writes a page to a file or to standard output.
func exportPage(c *invoke.Invocation, file string, issues []checkpoint.Issue) error {
	repo, err := webRepository(c, c.Ctx)
	if err != nil {
		return err
	}
	defer repo.Close()
	write := func(page io.Reader) error { return Put(file, page) }
	if file == "-" {
		write = func(page io.Reader) error {
			_, err := io.Copy(c.Out, page)
			return err
		}
	}
	left, err := Export(c.Ctx, write, repo, webOptions(c), issues)
	if err != nil {
		return exit.Errorf(exit.Failure, "", "web: --export: %w", err)
	}
	for _, what := range left {
		c.Warnf("%s", what)
	}
	if c.JSON {
		return c.WriteJSON(output.Web{Type: "web", File: file, Warnings: c.TakeWarnings()})
	}
	return nil
}
