//go:build unix

package main

import (
	"context"
	"net"
	"strings"
)

func startSoftServe(_ context.Context, h *host) (*site, error) {
	web, err := port()
	if err != nil {
		return nil, err
	}
	ssh, err := port()
	if err != nil {
		return nil, err
	}
	ann, err := h.key("ann")
	if err != nil {
		return nil, err
	}
	bob, err := h.key("bob")
	if err != nil {
		return nil, err
	}
	err = h.serve(ssh, []string{
		"SOFT_SERVE_DATA_PATH=" + h.dir + "/data", "SOFT_SERVE_INITIAL_ADMIN_KEYS=" + ann,
		"SOFT_SERVE_SSH_LISTEN_ADDR=" + ssh, "SOFT_SERVE_HTTP_LISTEN_ADDR=" + web, "SOFT_SERVE_HTTP_PUBLIC_URL=http://" + web,
		"SOFT_SERVE_GIT_ENABLED=false", "SOFT_SERVE_STATS_ENABLED=false",
	}, h.program("soft"), "serve")
	if err != nil {
		return nil, err
	}
	admin := func(line string) (string, error) {
		_, port, _ := net.SplitHostPort(ssh)
		return h.run(h.dir, "sh", "-c", h.ssh("ann")+" -p "+port+" 127.0.0.1 "+line)
	}
	for _, line := range []string{
		"user create bob --key \"'" + bob + "'\"", "settings anon-access read-only",
		"repo create http", "repo create ssh", "repo create other",
	} {
		if _, err := admin(line); err != nil {
			return nil, err
		}
	}
	out, err := admin("token create test")
	if err != nil {
		return nil, err
	}
	words := strings.Fields(out)
	overHTTP := func(token, name string) remote {
		return remote{url: "http://ann:" + token + "@" + web + "/" + name + ".git"}
	}
	overSSH := func(user, name string) remote { return remote{"ssh://" + ssh + "/" + name + ".git", user} }
	return &site{
		transports: []transport{{"HTTP", overHTTP(words[len(words)-1], "http")}, {"ssh", overSSH("ann", "ssh")}},
		refusals: []refusal{
			{reason: "no permission, ssh", remote: overSSH("bob", "other"), words: "not authorized"},
			{reason: "wrong token, HTTP", remote: overHTTP("wrong", "other"), words: "401 Unauthorized"},
		},
	}, nil
}
