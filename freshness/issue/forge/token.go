package forge

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/url"
	"strings"
)

// A Credential signs a question. It is shown by the name of the place that it
// comes from, never by what it is.
type Credential struct {
	From   string // GITHUB_TOKEN, "gh", "git's credential helper"; "" for none
	header string
	secret string
	spare  bool // nobody chose it for this: the question is asked without it where it is refused
}

// String is the place that the credential comes from.
func (c Credential) String() string { return c.From }

// GoString keeps the secret out of %#v too.
func (c Credential) GoString() string { return "forge.Credential{" + c.From + "}" }

// IsZero reports that there is nothing to sign with.
func (c Credential) IsZero() bool { return c.secret == "" }

// A SignIn finds credentials. Its functions are the caller's, who knows
// environment and processes.
type SignIn struct {
	Getenv func(string) string
	// Run runs a program that must not ask anybody, and returns what it prints.
	Run func(ctx context.Context, stdin string, name string, args ...string) (string, error)
}

// Find looks for a credential: in the environment, with gh, in git's credential
// helper. There may be none.
func (s SignIn) Find(ctx context.Context, site Site) Credential {
	for _, name := range variables(site, s.Getenv) {
		if v := strings.TrimSpace(s.Getenv(name)); plainSecret(v) {
			return site.token(name, v)
		}
	}
	if s.Run == nil {
		return Credential{}
	}
	if c := s.gh(ctx, site); !c.IsZero() {
		return c
	}
	return s.helper(ctx, site)
}

// variables are those that hold a token for the site. Every forge's tool has a
// variable for its own host and one that names another host.
func variables(site Site, getenv func(string) string) []string {
	switch site.Kind {
	case GitHub:
		return githubVariables(site, getenv)
	case GitLab:
		return gitlabVariables(site, getenv)
	}
	return giteaVariables(site, getenv)
}

// gitlabVariables are glab's, and in a job the job's own.
func gitlabVariables(site Site, getenv func(string) string) []string {
	var names []string
	if home := cmp.Or(getenv("GITLAB_HOST"), getenv("GL_HOST")); site.Trusted && home == "" || site.isAt(home) {
		names = append(names, "GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN")
	}
	if site.isAt(cmp.Or(getenv("CI_SERVER_URL"), getenv("CI_SERVER_HOST"))) {
		names = append(names, "GITLAB_TOKEN", "CI_JOB_TOKEN")
	}
	return names
}

// giteaVariables are tea's. A job on Gitea has its token where one on GitHub
// has it.
func giteaVariables(site Site, getenv func(string) string) []string {
	var names []string
	if home := getenv("GITEA_SERVER_URL"); site.Trusted && home == "" || site.isAt(home) {
		names = append(names, "GITEA_TOKEN", "GITEA_SERVER_TOKEN", "FORGEJO_TOKEN")
	}
	if site.isAt(getenv("GITHUB_SERVER_URL")) {
		names = append(names, "GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN")
	}
	return names
}

// githubVariables are as gh has them. A job's GITHUB_TOKEN is for the server
// that runs the job.
func githubVariables(site Site, getenv func(string) string) []string {
	host, server := site.Host(), getenv("GITHUB_SERVER_URL")
	ours := server == "" || site.isAt(server)
	switch {
	case githubCom(host) && ours:
		return []string{"GH_TOKEN", "GITHUB_TOKEN"}
	case githubCom(host):
		return []string{"GH_TOKEN"}
	case server != "" && ours:
		return []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GITHUB_TOKEN"}
	case site.Trusted || site.isAt(getenv("GH_HOST")):
		return []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
	}
	return nil
}

// isAt reports whether a variable that names a host, or its URL, means the site.
// A token for https goes into no http that only a remote's URL asks for.
func (s Site) isAt(text string) bool {
	plain := strings.HasPrefix(strings.ToLower(text), "http://")
	return sameHost(text, s.Host()) && (s.Scheme() == "https" || plain || s.Trusted)
}

// sameHost compares a host, or its URL, with a host.
func sameHost(text, host string) bool {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text, _, _ = strings.Cut(rest, "/")
	}
	return text != "" && strings.EqualFold(strings.TrimRight(text, "/"), host)
}

// token is a credential in the header that the forge wants it in.
func (s Site) token(from, secret string) Credential {
	c := Credential{From: from, header: "Authorization", secret: "Bearer " + secret}
	switch {
	case from == "CI_JOB_TOKEN":
		c.header, c.secret = "JOB-TOKEN", secret
	case s.Kind == GitLab:
		c.header, c.secret = "PRIVATE-TOKEN", secret
	case s.Kind == Gitea:
		c.secret = "token " + secret
	}
	return c
}

// gh asks GitHub's own tool, whose tokens are for https: an http that only a
// remote's URL asks for gets none.
func (s SignIn) gh(ctx context.Context, site Site) Credential {
	if site.Kind != GitHub || site.Scheme() != "https" && !site.Trusted {
		return Credential{}
	}
	out, err := s.Run(ctx, "", "gh", "auth", "token", "--hostname", site.Host())
	token := strings.TrimSpace(out)
	if err != nil || !plainSecret(token) {
		return Credential{}
	}
	c := site.token("gh", token)
	c.spare = true
	return c
}

// helper asks git for what it would sign in with at that host.
func (s SignIn) helper(ctx context.Context, site Site) Credential {
	ask := "protocol=" + site.Scheme() + "\nhost=" + site.Host() + "\npath=" + site.Project + ".git\n\n"
	out, err := s.Run(ctx, ask, "git", "credential", "fill")
	if err != nil {
		return Credential{}
	}
	got := url.Values{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		got.Set(key, value)
	}
	user, password := got.Get("username"), got.Get("password")
	if !plainSecret(password) || !sameHost(cmp.Or(got.Get("host"), site.Host()), site.Host()) {
		return Credential{}
	}
	// GitLab takes what git signs in with, an OAuth token too, as a bearer's.
	c := Credential{From: "git's credential helper", header: "Authorization", secret: "Bearer " + password, spare: true}
	if site.Kind == Gitea {
		c.secret = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	return c
}

// plainSecret accepts what can stand in a header.
func plainSecret(s string) bool {
	return s != "" && len(s) < 8192 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
