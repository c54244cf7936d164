//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// nginxConfig has the folder and the address.
const nginxConfig = `user root; # ignored if nginx does not run as root
daemon off;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	fastcgi_temp_path %[1]s/fastcgi;
	proxy_temp_path %[1]s/proxy;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen %[2]s;
		auth_basic git;
		auth_basic_user_file %[1]s/passwords;
		client_max_body_size 100m;
		location /small/ { client_max_body_size 1; include %[1]s/backend; }
		location / { include %[1]s/backend; }
	}
}
`

const backendConfig = `fastcgi_pass unix:%[1]s/fcgi;
fastcgi_param SCRIPT_FILENAME %[2]s/git-http-backend;
fastcgi_param GIT_HTTP_EXPORT_ALL 1;
fastcgi_param GIT_PROJECT_ROOT %[1]s/repos;
fastcgi_param PATH_INFO $uri;
fastcgi_param REMOTE_USER $remote_user;
fastcgi_param QUERY_STRING $query_string;
fastcgi_param REQUEST_METHOD $request_method;
fastcgi_param CONTENT_TYPE $content_type;
fastcgi_param CONTENT_LENGTH $content_length;
fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding;
fastcgi_param GIT_PROTOCOL $http_git_protocol;
`

func startNginx(_ context.Context, h *host) (*site, error) {
	address, err := port()
	if err != nil {
		return nil, err
	}
	core, err := h.git(h.dir, "--exec-path")
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		"nginx.conf": fmt.Sprintf(nginxConfig, h.dir, address), "backend": fmt.Sprintf(backendConfig, h.dir, core),
		"passwords": "ann:{PLAIN}" + password + "\n",
	} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"http", "small/git", "read"} {
		if err := h.all(h.dir, "init -q --bare repos/"+name+".git"); err != nil {
			return nil, err
		}
	}
	if err := h.all(filepath.Join(h.dir, "repos", "read.git"), "config http.receivepack false"); err != nil {
		return nil, err
	}
	socket := filepath.Join(h.dir, "fcgi")
	if err := h.serve(socket, nil, h.program("fcgiwrap"), "-c", "8", "-s", "unix:"+socket); err != nil {
		return nil, err
	}
	at := func(password, name string) remote {
		return remote{url: "http://ann:" + password + "@" + address + "/" + name + ".git"}
	}
	return &site{
		transports: []transport{{"HTTP", at(password, "http")}},
		refusals: []refusal{
			{reason: "request too large", remote: at(password, "small/git"), words: "413"},
			{reason: "pushes are disabled", remote: at(password, "read"), words: "403"},
			{reason: "wrong password", remote: at("wrong", "http"), words: "Authentication failed"},
		},
	}, h.serve(address, nil, h.program("nginx"), "-p", h.dir, "-c", filepath.Join(h.dir, "nginx.conf"))
}
