//go:build unix

package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// issueChecks returns checks of the issue of a repository of an organization. They run in
// order: each continues with the issue of the last one.
func (g *gitea) issueChecks() []check {
	dir := ""
	do := func(f func(dir string) error) func() error { return func() error { return f(dir) } }
	return []check{
		{"a token without the scope: the scope is named", func() (err error) {
			if dir, err = g.issueRepository(); err != nil {
				return err
			}
			return g.expect(dir, "read:repository", 0, "checkpoint save 1 --resume-from step-1", "the token needs the scope read:issue")
		}},
		{"title, body, labels and state are saved", do(func(dir string) error {
			if err := g.expect(dir, "read:issue", 0, "checkpoint save 1 --resume-from step-1", "CP-"); err != nil {
				return err
			}
			return g.expect(dir, "read:issue", 0, "checkpoint show 1 --get issue_snapshot",
				`"title":"Sign in","body":"with a key","labels":["bug","prio/low","state:implementing","twin","twin"],"assignees":[],"branch":"main","state":"open"`)
		})},
		{"write-back with a token that may only read", do(func(dir string) error {
			if err := g.setLabels("prio/high", "state:ready"); err != nil {
				return err
			}
			return g.expect(dir, "read:issue", refused, "checkpoint resume 1 --sync-issue", "the token needs the scope write:issue")
		})},
		{"write-back: exclusive labels, labels of repository and organization", do(func(dir string) error {
			if err := g.expect(dir, "write:issue", 0, "checkpoint resume 1 --sync-issue", "removed other exclusive labels too: prio/high"); err != nil {
				return err
			}
			return g.hasLabels("bug", "prio/low", "state:implementing", "twin", "twin")
		})},
		{"write-back: a label that Gitea drops silently is named", do(func(dir string) error {
			if err := g.deleteLabel("bug"); err != nil {
				return err
			}
			return g.expect(dir, "write:issue", refused, "checkpoint resume 1 --sync-issue", `it did not add "bug"`)
		})},
		{"a new title and a closed issue are noticed", do(func(dir string) error {
			if err := g.api(http.MethodPatch, "/repos/team/shop/issues/1", map[string]any{"title": "Sign up", "state": "closed"}, nil); err != nil {
				return err
			}
			if err := g.expect(dir, "read:issue", 0, "checkpoint resume 1", "Issue is closed"); err != nil {
				return err
			}
			return g.expect(dir, "read:issue", 0, "checkpoint resume 1", `"Sign in" -> "Sign up"`)
		})},
	}
}

// issueRepository creates the issue, its labels, and a clone that asks Gitea.
func (g *gitea) issueRepository() (dir string, err error) {
	post := func(path string, body map[string]any) {
		if err == nil {
			err = g.api(http.MethodPost, path, body, nil)
		}
	}
	post("/orgs", map[string]any{"username": "team"})
	post("/orgs/team/repos", map[string]any{"name": "shop", "private": true})
	for _, name := range []string{"bug", "state:ready", "state:implementing", "twin", "prio/high", "prio/low"} {
		post("/repos/team/shop/labels", map[string]any{"name": name, "color": "#00aabb", "exclusive": strings.Contains(name, "/")})
	}
	for _, name := range []string{"state:ready", "twin"} {
		post("/orgs/team/labels", map[string]any{"name": name, "color": "#00aabb"})
	}
	post("/repos/team/shop/issues", map[string]any{"title": "Sign in", "body": "with a key"})
	if err == nil {
		err = g.setLabels("bug", "prio/low", "state:implementing", "twin")
	}
	if err != nil {
		return "", err
	}
	dir, err = g.repository("issues", remote{url: "http://" + g.web + "/team/shop.git"})
	if err != nil {
		return "", err
	}
	return dir, g.all(dir, "config checkpoint.issue-source gitea", "config checkpoint.forges.gitea http://"+g.web)
}

// expect runs git with a new token that has a scope. The output must contain words.
func (g *gitea) expect(dir, scope string, exit int, line, words string) error {
	var token struct{ Sha1 string }
	tokens := "/users/ann/tokens"
	if err := g.api(http.MethodPost, tokens, map[string]any{"name": scope, "scopes": []string{scope}}, &token); err != nil {
		return err
	}
	defer func() { _ = g.api(http.MethodDelete, tokens+"/"+scope, nil, nil) }()
	out, err := g.run(dir, "sh", "-c", "GITEA_TOKEN="+token.Sha1+" git "+line+" 2>&1")
	if got := code(err); err != nil && got != exit || err == nil && exit != 0 {
		return fmt.Errorf("git %s: exit code %d, not %d: %s", line, got, exit, out)
	}
	if !strings.Contains(out, words) {
		return fmt.Errorf("git %s: %q is missing in: %s", line, words, out)
	}
	return nil
}

func (g *gitea) setLabels(names ...string) error {
	return g.api(http.MethodPut, "/repos/team/shop/issues/1/labels", map[string]any{"labels": names}, nil)
}

type giteaLabel struct {
	ID   int
	Name string
}

func (g *gitea) hasLabels(want ...string) error {
	var labels []giteaLabel
	if err := g.api(http.MethodGet, "/repos/team/shop/issues/1/labels", nil, &labels); err != nil {
		return err
	}
	var names []string
	for _, l := range labels {
		names = append(names, l.Name)
	}
	if slices.Sort(names); !slices.Equal(names, want) {
		return fmt.Errorf("the labels are %q, not %q", names, want)
	}
	return nil
}

func (g *gitea) deleteLabel(name string) error {
	var labels []giteaLabel
	if err := g.api(http.MethodGet, "/repos/team/shop/labels", nil, &labels); err != nil {
		return err
	}
	for _, l := range labels {
		if l.Name == name {
			return g.api(http.MethodDelete, fmt.Sprint("/repos/team/shop/labels/", l.ID), nil, nil)
		}
	}
	return fmt.Errorf("there is no label %s", name)
}
