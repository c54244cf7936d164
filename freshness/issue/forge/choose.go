package forge

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Hosts are the servers of each kind that trusted settings name: host,
// host:port, or a URL with a path where the forge is not at the root.
type Hosts map[Kind][]string

// public are the servers that everybody knows.
var public = map[string]Kind{
	"github.com": GitHub, "gitlab.com": GitLab, "gitea.com": Gitea, "codeberg.org": Gitea,
}

// otherNames are hosts that git is spoken with where the usual port is closed.
var otherNames = map[string]string{"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}

// Choose finds the site of a remote. kind is "" where it is to be guessed; then
// only a known host will do. The error says why there is none.
func Choose(kind Kind, remote Remote, hosts Hosts) (Site, error) {
	s, err := choose(kind, remote, hosts)
	if err == nil && s.Kind != GitLab && strings.Count(s.Project, "/") != 1 {
		return Site{}, fmt.Errorf("%s is no project on %s: want owner/name", s.Project, s.Host())
	}
	return s, err
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
		// A token of the environment belongs to GitHub's or GitLab's own server
		// where nothing else is said; Gitea has none.
		return Site{Kind: known, Web: "https://" + name, Project: remote.Path, Trusted: known != Gitea}, nil
	case found:
		return Site{}, fmt.Errorf("%s is no %s server", name, kind.title())
	case kind == "":
		return Site{}, fmt.Errorf("%s is not known as a forge", name)
	}
	return Site{Kind: kind, Web: remote.web(), Project: remote.Path}, nil
}

// named looks for the remote among the hosts of the settings.
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

// web is where the pages of a host are that only the remote names: git itself
// trusts it as far as its scheme goes.
func (r Remote) web() string {
	if r.Scheme == "ssh" {
		host := url.URL{Host: r.Host}
		return "https://" + strings.TrimSuffix(r.Host, ":"+host.Port()) // the port is ssh's
	}
	return r.Scheme + "://" + r.Host
}

// parseHost reads one entry of Hosts.
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

// withoutUser keeps a password that somebody wrote into a setting out of
// messages.
func withoutUser(text string) string { return text[strings.LastIndexByte(text, '@')+1:] }

// below returns the remote's project if it is on the server. Ports are compared
// between URLs of the web alone.
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

// Project replaces the project of a remote: owner/name, or a URL that replaces
// the host too.
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

var kinds = [...]Kind{GitHub, GitLab, Gitea}

func (k Kind) title() string {
	return map[Kind]string{GitHub: "GitHub", GitLab: "GitLab", Gitea: "Gitea"}[k]
}
