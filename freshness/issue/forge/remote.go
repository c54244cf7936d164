package forge

import (
	"errors"
	"net/url"
	"strings"
)

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

// name returns the host without port.
func (r Remote) name() string { return hostName(r.Host) }

func hostName(host string) string {
	u := url.URL{Host: host}
	return u.Hostname()
}
