package forge

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"git-checkpoint/freshness/issue"
)

// Kind is the API of a forge.
type Kind string

// The kinds of forges.
const (
	GitHub Kind = "github"
	GitLab Kind = "gitlab"
	Gitea  Kind = "gitea"
)

// A dialect has the parts of API and pages in which the forges differ.
type dialect struct {
	title                 string
	api                   string              // path of the API of projects on a server
	project               func(string) string // escapes a project for the API
	issue, commit, branch string              // paths of pages below the project's page
	names                 issue.Names         // JSON keys
	header, scheme        string              // of a token in a request
	advice                string              // instructions for setting a token
}

var dialects = sync.OnceValue(func() map[Kind]dialect {
	return map[Kind]dialect{
		GitHub: {
			title: "GitHub", api: "/api/v3/repos/", project: escapePath, issue: "/issues/", commit: "/commit/", branch: "/tree/",
			names:  issue.Names{Number: "number", Body: "body", Login: "login"},
			header: "Authorization", scheme: "Bearer ", advice: "gh auth login, or GITHUB_TOKEN",
		},
		GitLab: {
			title: "GitLab", api: "/api/v4/projects/", project: url.PathEscape, issue: "/-/issues/", commit: "/-/commit/", branch: "/-/tree/",
			names:  issue.Names{Number: "iid", Body: "description", Login: "username"},
			header: "PRIVATE-TOKEN", advice: "GITLAB_TOKEN",
		},
		Gitea: {
			title: "Gitea", api: "/api/v1/repos/", project: escapePath, issue: "/issues/", commit: "/commit/", branch: "/src/branch/",
			names:  issue.Names{Number: "number", Body: "body", Login: "login"},
			header: "Authorization", scheme: "token ", advice: "GITEA_TOKEN",
		},
	}
})

// A Site is a project on a forge.
type Site struct {
	Kind    Kind
	Web     string // scheme://host with optional port and path
	Project string // owner/name; GitLab also has owner/group/name
	Trusted bool   // trusted settings allow tokens of the environment for this host
}

// Host returns the host with its port, if any.
func (s Site) Host() string {
	u, err := url.Parse(s.Web)
	if err != nil {
		return ""
	}
	return u.Host
}

// scheme returns https, or http if settings or remote specify http.
func (s Site) scheme() string {
	scheme, _, _ := strings.Cut(s.Web, "://")
	return scheme
}

func (s Site) issueURL(number string) string {
	return s.Web + "/" + escapePath(s.Project) + dialects()[s.Kind].issue + number
}

// A Remote is the parsed URL of a git remote, without user and password.
type Remote struct {
	Scheme string // https, http or ssh
	Host   string // lower case, with optional port
	Path   string // owner/name, without .git
}

var errRemote = errors.New("not the URL of a project on a server")

// ParseRemote parses a remote URL as git does, including git@host:owner/name. If the URL
// names no project on a server, for example a local path, it returns an error.
func ParseRemote(text string) (Remote, error) {
	if r, ok := scpLike(text); ok {
		return r.checked()
	}
	u, err := url.Parse(text)
	if err != nil {
		return Remote{}, errRemote // the original error would show a password
	}
	r := Remote{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	switch u.Scheme {
	case "https", "http", "ssh":
	case "git", "git+ssh", "ssh+git":
		r.Scheme = "ssh"
	default:
		return Remote{}, errRemote
	}
	return r.checked()
}

// Hosts lists the servers of each kind from trusted settings. Entries have the form host,
// host:port, or URL; the URL has a path if the forge is not at the root.
type Hosts map[Kind][]string

// Choose returns the site of a remote. If kind is "", Choose derives the kind from the
// host, which must be known. The error explains why no site was found.
func Choose(kind Kind, remote Remote, hosts Hosts) (Site, error) {
	s, err := choose(kind, remote, hosts)
	if err == nil && s.Kind != GitLab && strings.Count(s.Project, "/") != 1 {
		return Site{}, fmt.Errorf("%s is no project on %s: want owner/name", s.Project, s.Host())
	}
	return s, err
}

// Project returns remote with another project: owner/name, or a URL that replaces host
// and project.
func Project(text string, remote Remote) (Remote, error) {
	if strings.Contains(text, ":") {
		return ParseRemote(text)
	}
	if remote.Host == "" {
		return Remote{}, errors.New("there is no remote: want a URL with the host")
	}
	remote.Path = text
	return remote.checked()
}

func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// scpLike parses host:path and user@host:path. A slash before the colon indicates a local
// path; a single letter indicates a drive.
func scpLike(text string) (Remote, bool) {
	host, path, ok := strings.Cut(text, ":")
	if !ok || strings.Contains(host, "/") || strings.HasPrefix(path, "//") {
		return Remote{}, false
	}
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	return Remote{Scheme: "ssh", Host: host, Path: path}, len(host) > 1
}

func (r Remote) checked() (Remote, error) {
	r.Host = strings.ToLower(r.Host)
	r.Path = strings.TrimSuffix(strings.Trim(r.Path, "/"), ".git")
	if !plainHost(r.Host) || !plainProject(r.Path) {
		return Remote{}, errRemote
	}
	return r, nil
}

func plainHost(host string) bool {
	return host != "" && host[0] != '-' && strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]_") == ""
}

// plainProject reports whether a path has at least two safe components for a URL path. It
// rejects "@", which follows a password in a mistyped URL.
func plainProject(path string) bool {
	parts := strings.Split(path, "/")
	for _, p := range parts {
		if p == "" || p == "." || p == ".." || strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '@' }) {
			return false
		}
	}
	return len(parts) >= 2
}

// otherNames maps alternative SSH hosts, used if port 22 is blocked, to main hosts.
var otherNames = map[string]string{"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}

var kinds = [...]Kind{GitHub, GitLab, Gitea}

// public maps well-known public servers to their kind.
var public = map[string]Kind{
	"github.com": GitHub, "gitlab.com": GitLab, "gitea.com": Gitea, "codeberg.org": Gitea,
}

func choose(kind Kind, remote Remote, hosts Hosts) (Site, error) {
	if other, ok := otherNames[remote.name()]; ok {
		remote.Host = other
	}
	for _, k := range kinds {
		if kind == "" || kind == k {
			if s, err := named(k, remote, hosts[k]); err != nil || s.Kind != "" {
				return s, err
			}
		}
	}
	name := remote.name()
	known, found := public[name]
	if strings.HasSuffix(name, ".ghe.com") {
		known, found = GitHub, true
	}
	switch {
	case found && (kind == "" || kind == known):
		// By default, token variables of the environment belong to GitHub's and GitLab's
		// public servers. Gitea has no such server.
		return Site{Kind: known, Web: "https://" + name, Project: remote.Path, Trusted: known != Gitea}, nil
	case found:
		return Site{}, fmt.Errorf("%s is no %s server", name, dialects()[kind].title)
	case kind == "":
		return Site{}, fmt.Errorf("%s is not known as a forge", name)
	}
	web := remote.Scheme + "://" + remote.Host // git also uses http
	if remote.Scheme == "ssh" {
		host := url.URL{Host: remote.Host}
		web = "https://" + strings.TrimSuffix(remote.Host, ":"+host.Port()) // an SSH port
	}
	return Site{Kind: kind, Web: web, Project: remote.Path}, nil
}

// name returns the host without port.
func (r Remote) name() string {
	u := url.URL{Host: r.Host}
	return u.Hostname()
}

// named searches the configured hosts for the remote's host.
func named(kind Kind, remote Remote, hosts []string) (Site, error) {
	for _, entry := range hosts {
		web, err := parseHost(entry)
		if err != nil {
			return Site{}, err
		}
		if project, ok := below(web, remote); ok {
			return Site{Kind: kind, Web: web.String(), Project: project, Trusted: true}, nil
		}
	}
	return Site{}, nil
}

func parseHost(entry string) (*url.URL, error) {
	text := entry
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		!plainHost(strings.ToLower(u.Host)) {
		return nil, fmt.Errorf("%q is neither a host nor its URL", withoutUser(entry))
	}
	u.Host = strings.ToLower(u.Host)
	return u, nil
}

// withoutUser removes user and password of a setting before its use in messages.
func withoutUser(text string) string { return text[strings.LastIndexByte(text, '@')+1:] }

// below returns the remote's project if its host matches the server. Ports are compared
// only between HTTP URLs.
func below(web *url.URL, remote Remote) (project string, ok bool) {
	if web.Hostname() != remote.name() {
		return "", false
	}
	if remote.Scheme != "ssh" && port(web.Scheme, web.Host) != port(remote.Scheme, remote.Host) {
		return "", false
	}
	project = remote.Path
	if prefix := strings.Trim(web.Path, "/"); prefix != "" && remote.Scheme != "ssh" {
		project, ok = strings.CutPrefix(project, prefix+"/")
		return project, ok && plainProject(project)
	}
	return project, true
}

func port(scheme, host string) string {
	u := url.URL{Host: host}
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"https": "443", "http": "80"}[scheme]
}

func (s Site) api(number string) string {
	d := dialects()[s.Kind]
	at := s.Web + d.api
	if host := s.Host(); s.Kind == GitHub && githubCom(host) {
		at = s.scheme() + "://api." + host + "/repos/"
	}
	return at + d.project(s.Project) + "/issues/" + number
}

func githubCom(host string) bool { return host == "github.com" || strings.HasSuffix(host, ".ghe.com") }

// Home returns the address of the project's page, or "" if the site is not reached by
// https.
func (s Site) Home() string {
	u, err := url.Parse(s.Web)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return strings.TrimRight(u.String(), "/") + "/" + escapePath(s.Project)
}

// IssuePage returns the address of an issue's page, or "" if the key is not a number.
func (s Site) IssuePage(key string) string {
	if s.Home() == "" || key == "" || strings.Trim(key, "0123456789") != "" {
		return ""
	}
	return s.issueURL(key)
}

// CommitPage returns the address of a commit's page. id is a full object id.
func (s Site) CommitPage(id string) string {
	if s.Home() == "" || len(id) < 40 || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return s.Home() + dialects()[s.Kind].commit + id
}

// BranchPage returns the address of a branch's page.
func (s Site) BranchPage(name string) string {
	if s.Home() == "" || name == "" {
		return ""
	}
	return s.Home() + dialects()[s.Kind].branch + escapePath(name)
}
