package forge

import (
	"net/url"
	"strings"

	"git-checkpoint/freshness/issue"
)

// Kind is the API that a forge speaks.
type Kind string

// The kinds of forges.
const (
	GitHub Kind = "github"
	GitLab Kind = "gitlab"
	Gitea  Kind = "gitea"
)

// A Site is a project on a forge.
type Site struct {
	Kind    Kind
	Web     string // scheme://host, with a port and a path where there are any
	Project string // owner/name; GitLab has owner/group/name too
	Trusted bool   // tokens of the environment are meant for the host, as trusted settings say
}

// Host is the site's host, with its port where it has one.
func (s Site) Host() string {
	u, err := url.Parse(s.Web)
	if err != nil {
		return ""
	}
	return u.Host
}

// Scheme is https, or http where the settings or the remote say so.
func (s Site) Scheme() string {
	scheme, _, _ := strings.Cut(s.Web, "://")
	return scheme
}

// IssueURL is where people find an issue.
func (s Site) IssueURL(number string) string {
	if s.Kind == GitLab {
		return s.Web + "/" + escapePath(s.Project) + "/-/issues/" + number
	}
	return s.Web + "/" + escapePath(s.Project) + "/issues/" + number
}

// api is where programs find an issue.
func (s Site) api(number string) string {
	switch s.Kind {
	case GitHub:
		return s.githubAPI() + "/repos/" + escapePath(s.Project) + "/issues/" + number
	case GitLab:
		return s.Web + "/api/v4/projects/" + url.PathEscape(s.Project) + "/issues/" + number
	}
	return s.Web + "/api/v1/repos/" + escapePath(s.Project) + "/issues/" + number
}

// githubAPI has a host of its own on GitHub's own servers, and is a path on an
// Enterprise server.
func (s Site) githubAPI() string {
	if host := s.Host(); githubCom(host) {
		return s.Scheme() + "://api." + host
	}
	return s.Web + "/api/v3"
}

func githubCom(host string) bool { return host == "github.com" || strings.HasSuffix(host, ".ghe.com") }

func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// names are the keys of the site's answers.
func (s Site) names() issue.Names {
	if s.Kind == GitLab {
		return issue.Names{Number: "iid", Body: "description", Login: "username"}
	}
	return issue.Names{Number: "number", Body: "body", Login: "login"}
}
