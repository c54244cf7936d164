package remote

import (
	"cmp"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

// PushedTo returns the push destination of a remote: its name, or the URL from pushurl or
// url.<base>.pushInsteadOf if that is another repository, such as a fork.
func PushedTo(config []git.ConfigEntry, name string) string {
	var fetches, pushes []string
	for _, e := range config {
		switch e.Key {
		case "remote." + name + ".url":
			fetches = append(fetches, e.Value)
		case "remote." + name + ".pushurl":
			pushes = append(pushes, e.Value)
		}
	}
	at := cmp.Or(fetches...)
	switch {
	case len(pushes) == 0:
		return pushedInstead(config, name, cmp.Or(at, name))
	case slices.Contains(pushes, at), strings.HasPrefix(pushes[0], "-"):
		return name
	}
	return pushes[0]
}

// pushedInstead returns the URL after pushInsteadOf. It returns name if the rewritten URL
// is the same repository, or if no setting applies.
func pushedInstead(config []git.ConfigEntry, name, url string) string {
	to, rewritten := instead(config, ".pushinsteadof", url)
	from, _ := instead(config, ".insteadof", url)
	if !rewritten || samePlace(to, from) || strings.HasPrefix(to, "-") {
		return name
	}
	return to
}

// instead rewrites a URL with the longest matching prefix of url.<base> settings.
func instead(config []git.ConfigEntry, setting, url string) (to string, rewritten bool) {
	to, longest := url, 0
	for _, e := range config {
		base, of := strings.CutPrefix(e.Key, "url.")
		base, ends := strings.CutSuffix(base, setting)
		if of && ends && len(e.Value) > longest && strings.HasPrefix(url, e.Value) {
			to, longest = base+url[len(e.Value):], len(e.Value)
		}
	}
	return to, longest > 0
}

// samePlace reports whether two URLs name the same repository. Ports are compared only if
// both URLs have the same scheme, since each scheme uses its own port.
func samePlace(a, b string) bool {
	way, _, _ := strings.Cut(a, "://")
	ports := strings.HasPrefix(b, way+"://")
	return place(a, ports) == place(b, ports)
}

// place returns host and path of a URL without its scheme, so that git@host:a/b.git
// equals https://host/a/b.
func place(url string, ports bool) string {
	url = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(url, "file://"), "/"), ".git")
	_, rest, web := strings.Cut(url, "://")
	if !web {
		host, path, scp := strings.Cut(url, ":")
		if !scp || strings.Contains(host, "/") {
			return url // local directory
		}
		rest = host + "/" + path
	}
	host, path, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); !ports && i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return strings.ToLower(host) + "/" + strings.Trim(path, "/")
}
