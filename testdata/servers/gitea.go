//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

// giteaConfig has the folder, the user, the HTTP and the ssh port, and the folder of files.
const giteaConfig = `RUN_USER = %[2]s
WORK_PATH = %[1]s
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[3]s
ROOT_URL = http://127.0.0.1:%[3]s/
START_SSH_SERVER = true
BUILTIN_SSH_SERVER_USER = git
SSH_LISTEN_HOST = 127.0.0.1
SSH_LISTEN_PORT = %[4]s
SSH_SERVER_HOST_KEYS = ssh/host
OFFLINE_MODE = true
%[5]s
[database]
DB_TYPE = sqlite3
[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2_v1
[cron]
ENABLED = false
[log]
LEVEL = error
`

const password = "secret-Pass1"

// A gitea is a running Gitea with the users ann, an administrator, and bob.
type gitea struct {
	*host
	web string // host and port
}

func startGitea(_ context.Context, h *host) (*site, error) {
	web, ssh, err := h.startGitea()
	if err != nil {
		return nil, err
	}
	g := &gitea{h, web}
	for user, id := range map[string]string{"ann": "/user/keys", "bob": "/admin/users/bob/keys"} {
		key, err := h.key(user)
		if err != nil {
			return nil, err
		}
		if err := g.api(http.MethodPost, id, map[string]any{"title": user, "key": key}, nil); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"http", "ssh", "other", "old"} {
		if err := g.api(http.MethodPost, "/user/repos", map[string]any{"name": name}, nil); err != nil {
			return nil, err
		}
	}
	if err := g.api(http.MethodPatch, "/repos/ann/old", map[string]any{"archived": true}, nil); err != nil {
		return nil, err
	}
	overHTTP := func(user, password, name string) remote {
		return remote{url: "http://" + user + ":" + password + "@" + web + "/ann/" + name + ".git"}
	}
	overSSH := func(user, name string) remote { return remote{"ssh://git@" + ssh + "/ann/" + name + ".git", user} }
	return &site{
		transports: []transport{{"HTTP", overHTTP("ann", password, "http")}, {"ssh", overSSH("ann", "ssh")}},
		refusals: []refusal{
			{reason: "no permission, HTTP", remote: overHTTP("bob", password, "other"), words: "User permission denied for writing."},
			{reason: "no permission, ssh", remote: overSSH("bob", "other"), words: "User permission denied for writing."},
			{reason: "archived repository, HTTP", remote: overHTTP("ann", password, "old"), words: "This repo is archived."},
			{reason: "archived repository, ssh", remote: overSSH("ann", "old"), words: "is archived"},
			{reason: "wrong password", remote: overHTTP("ann", "wrong", "other"), words: "Failed to authenticate user"},
			{reason: "no such repository", remote: overHTTP("ann", password, "none"), words: "not found"},
		},
		checks: g.issueChecks(),
	}, nil
}

// startGitea starts the server with the user ann and bob, and returns its addresses.
func (h *host) startGitea() (web, ssh string, err error) {
	for _, address := range []*string{&web, &ssh} {
		if *address, err = port(); err != nil {
			return "", "", err
		}
	}
	me, err := user.Current()
	if err != nil {
		return "", "", err
	}
	files := ""
	if h.files != "" {
		files = "STATIC_ROOT_PATH = " + h.files
	}
	_, webPort, _ := net.SplitHostPort(web)
	_, sshPort, _ := net.SplitHostPort(ssh)
	config := filepath.Join(h.dir, "app.ini")
	text := fmt.Sprintf(giteaConfig, h.dir, me.Username, webPort, sshPort, files)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return "", "", err
	}
	program := h.program("gitea")
	if _, err := h.run(h.dir, program, "-c", config, "migrate"); err != nil {
		return "", "", err
	}
	for _, name := range []string{"ann", "bob"} {
		if _, err := h.run(h.dir, program, "-c", config, "admin", "user", "create", "--username", name, "--password", password,
			"--email", name+"@example.com", "--must-change-password=false", fmt.Sprint("--admin=", name == "ann")); err != nil {
			return "", "", err
		}
	}
	return web, ssh, h.serve(web, nil, program, "-c", config, "web")
}

// api sends a request of ann to Gitea's API. It decodes the answer into out, if out is not
// nil.
func (g *gitea) api(method, path string, body, out any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, "http://"+g.web+"/api/v1"+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth("ann", password)
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return err
	case r.StatusCode >= 300:
		return fmt.Errorf("%s %s: %s: %s", method, path, r.Status, strings.TrimSpace(string(answer)))
	case out == nil:
		return nil
	}
	return json.Unmarshal(answer, out)
}
