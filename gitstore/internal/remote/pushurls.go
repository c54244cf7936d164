package remote

import (
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

// configuredURLs returns the values of remote.<name>.url and of remote.<name>.pushurl.
func configuredURLs(config []git.ConfigEntry, name string) (urls, pushURLs []string) {
	for _, e := range config {
		switch e.Key {
		case "remote." + name + ".url":
			urls = withURL(urls, e.Value)
		case "remote." + name + ".pushurl":
			pushURLs = withURL(pushURLs, e.Value)
		}
	}
	return urls, pushURLs
}

// withURL adds the value of a setting to a list of URLs. For git 2.46 and later, an empty
// value clears the list.
func withURL(list []string, value string) []string {
	if value == "" {
		if version, err := git.InstalledVersion(); err == nil && version.AtLeast(2, 46) {
			return nil
		}
	}
	return append(list, value)
}

// mainPushURL returns the push URL that is also read: the URL for fetches if it is a push
// URL, otherwise the first push URL.
func mainPushURL(urls, pushURLs []string) string {
	if len(urls) > 0 && slices.Contains(pushURLs, urls[0]) {
		return urls[0]
	}
	return pushURLs[0]
}

// A pushTarget describes the URLs to which git pushes.
type pushTarget struct {
	url, pushURL string   // of a remote with only the push URL that is read
	others       []string // further push URLs, sorted
	one          bool     // a push is reduced to one URL: there are others, and no secret in url and pushURL
}

func targetOf(config []git.ConfigEntry, name string) (t pushTarget) {
	urls, pushURLs := configuredURLs(config, name)
	if len(urls) > 0 {
		t.url = urls[0]
	}
	at := t.url
	if len(pushURLs) > 0 {
		t.pushURL = mainPushURL(urls, pushURLs)
		at = t.pushURL
	} else {
		pushURLs = urls
	}
	t.one = len(pushURLs) > 1 && !HasSecret(t.url) && !HasSecret(t.pushURL)
	t.others = slices.DeleteFunc(pushURLs, func(url string) bool { return url == at || url == "" })
	slices.Sort(t.others)
	t.others = slices.Compact(t.others)
	return t
}

// OtherPushURLs returns the push URLs of a remote that get no checkpoints.
func OtherPushURLs(config []git.ConfigEntry, name string) []string {
	if t := targetOf(config, name); t.one {
		return t.others
	}
	return nil
}

// HasSecret reports whether a URL contains a password, or a user that can be a token. Arguments of
// a process are visible to other users, and git logs them.
func HasSecret(url string) bool {
	user, _, _ := strings.Cut(strings.TrimPrefix(url, "ssh://"), "@")
	isSSH := strings.HasPrefix(url, "ssh://") && !strings.Contains(user, ":")
	return !isSSH && git.WithoutCredentials(url) != url
}

// oneURL is the name of a remote that exists only in the settings of one git push.
const oneURL = "git-checkpoint-push"

// pushSettings are the settings of a remote that git push uses.
var pushSettings = []string{"fetch", "proxy", "proxyauthmethod", "receivepack", "vcs"}

// destination returns the remote argument of git push, and flags that define the remote.
// If a remote has several push URLs, git pushes to each URL with the same lease, although
// their refs may differ. The flags then define a remote with the one URL that is read, unless
// this URL contains a secret. In mirror mode, git rejects single refspecs.
func (l *Conn) destination() (flags []string, name string) {
	to := targetOf(l.here.Config, l.Remote)
	mirror, _ := git.Last(l.here.Config, "remote."+l.Remote+".mirror")
	switch {
	case to.url == "" && to.pushURL == "", !to.one && !git.Bool(mirror):
		return nil, l.Remote
	case !to.one && !strings.Contains(l.Remote, "="):
		return []string{"-c", "remote." + l.Remote + ".mirror=false"}, l.Remote
	}
	set := func(variable, value string) { flags = append(flags, "-c", "remote."+oneURL+"."+variable+"="+value) }
	for _, e := range l.here.Config {
		variable, ok := strings.CutPrefix(e.Key, "remote."+l.Remote+".")
		if ok && slices.Contains(pushSettings, variable) {
			set(variable, e.Value)
		}
	}
	if to.url != "" {
		set("url", to.url)
	}
	if to.pushURL != "" {
		set("pushurl", to.pushURL)
	}
	return flags, oneURL
}
