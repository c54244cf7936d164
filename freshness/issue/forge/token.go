package forge

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/url"
	"strings"
)

// A Credential authenticates a request. Messages show only its origin, never the secret.
type Credential struct {
	From   string // GITHUB_TOKEN, "gh", "git's credential helper"; "" for none
	header string
	secret string
	spare  bool // not set for this tool: if refused, the request is repeated without it
}

// String returns the credential's origin.
func (c Credential) String() string { return c.From }

// GoString hides the secret from %#v.
func (c Credential) GoString() string { return "forge.Credential{" + c.From + "}" }

// IsZero reports whether no secret exists.
func (c Credential) IsZero() bool { return c.secret == "" }

// A SignIn finds credentials. Callers supply functions for environment and processes.
type SignIn struct {
	Getenv func(string) string
	// Run runs a program without interactive prompts and returns its output.
	Run func(ctx context.Context, stdin string, name string, args ...string) (string, error)
}

// Find returns a credential from the environment, from gh, or from git's credential
// helper. It returns a zero Credential if no source has one.
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

// variables returns environment variables that hold a token for the site. Each forge's
// tool has one variable for its default host and another for naming a host. CI jobs have a variable
// for their server.
func variables(site Site, getenv func(string) string) (names []string) {
	job := getenv("GITHUB_SERVER_URL") // also of Gitea
	switch site.Kind {
	case GitHub: // the variables that gh reads
		isJob := site.isAt(job)
		switch {
		case githubCom(site.Host()) && (job == "" || isJob):
			return []string{"GH_TOKEN", "GITHUB_TOKEN"}
		case githubCom(site.Host()):
			return []string{"GH_TOKEN"}
		case isJob: // a job's GITHUB_TOKEN is valid for the server that runs the job
			return []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GITHUB_TOKEN"}
		case site.Trusted || site.isAt(getenv("GH_HOST")):
			return []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
		}
		return nil
	case GitLab:
		if home := cmp.Or(getenv("GITLAB_HOST"), getenv("GL_HOST")); site.Trusted && home == "" || site.isAt(home) {
			names = append(names, "GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN")
		}
		if site.isAt(cmp.Or(getenv("CI_SERVER_URL"), getenv("CI_SERVER_HOST"))) {
			names = append(names, "GITLAB_TOKEN", "CI_JOB_TOKEN")
		}
		return names
	}
	if home := getenv("GITEA_SERVER_URL"); site.Trusted && home == "" || site.isAt(home) {
		names = append(names, "GITEA_TOKEN", "GITEA_SERVER_TOKEN", "FORGEJO_TOKEN")
	}
	if site.isAt(job) {
		names = append(names, "GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN")
	}
	return names
}

// isAt reports whether a host or URL in a variable names this site. Tokens for https are
// never sent to a plain http site known only from a remote URL.
func (s Site) isAt(text string) bool {
	plain := strings.HasPrefix(strings.ToLower(text), "http://")
	return sameHost(text, s.Host()) && (s.scheme() == "https" || plain || s.Trusted)
}

// sameHost compares a host or URL with a host.
func sameHost(text, host string) bool {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text, _, _ = strings.Cut(rest, "/")
	}
	return text != "" && strings.EqualFold(strings.TrimRight(text, "/"), host)
}

// token returns a credential in the forge's header.
func (s Site) token(from, secret string) Credential {
	if from == "CI_JOB_TOKEN" {
		return Credential{From: from, header: "JOB-TOKEN", secret: secret}
	}
	d := dialects()[s.Kind]
	return Credential{From: from, header: d.header, secret: d.scheme + secret}
}

// gh runs GitHub's own tool, whose tokens are valid for https. If only the remote URL
// specifies http, no token is returned.
func (s SignIn) gh(ctx context.Context, site Site) Credential {
	if site.Kind != GitHub || site.scheme() != "https" && !site.Trusted {
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

// helper runs git credential fill for the site.
func (s SignIn) helper(ctx context.Context, site Site) Credential {
	ask := "protocol=" + site.scheme() + "\nhost=" + site.Host() + "\npath=" + site.Project + ".git\n\n"
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
	// GitLab accepts git passwords, including OAuth tokens, as bearer tokens.
	c := Credential{From: "git's credential helper", header: "Authorization", secret: "Bearer " + password, spare: true}
	if site.Kind == Gitea {
		c.secret = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	return c
}

// plainSecret reports whether a secret is safe in a header.
func plainSecret(s string) bool {
	return s != "" && len(s) < 8192 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
