//go:build unix

package main

import (
	"context"
	"os"
	"os/user"
	"path/filepath"
)

// gitoliteRules has the rules of the guide limits, a repository without +, and a
// repository that bob may only read.
const gitoliteRules = `
repo full
    RW+ refs/heads/ = ann
    RW+ refs/checkpoints/ = ann
    RW+ refs/checkpoints-archive/ = ann
repo noplus
    RW = ann
repo branches
    RW+ refs/heads/ = ann
repo other
    RW+ = ann
    R = bob
`

func startGitolite(_ context.Context, h *host) (*site, error) {
	for _, user := range []string{"ann", "bob"} {
		if _, err := h.key(user); err != nil {
			return nil, err
		}
	}
	if err := os.Rename(filepath.Join(h.dir, "key-ann.pub"), filepath.Join(h.dir, "ann.pub")); err != nil {
		return nil, err
	}
	if err := os.Rename(filepath.Join(h.dir, "key-bob.pub"), filepath.Join(h.dir, "bob.pub")); err != nil {
		return nil, err
	}
	if _, err := h.run(h.dir, h.program("gitolite"), "setup", "-pk", "ann.pub"); err != nil {
		return nil, err
	}
	address, err := h.sshd("")
	if err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	at := func(user, name string) remote {
		return remote{"ssh://" + me.Username + "@" + address + "/" + name, user}
	}
	if err := h.setRules(at("ann", "gitolite-admin")); err != nil {
		return nil, err
	}
	rewritten := []string{"push -q origin main", "checkpoint sync 42 --yes", "checkpoint save 42", "checkpoint sync 42 --yes", "checkpoint drop 42 latest --yes"}
	full := at("ann", "full")
	return &site{
		transports: []transport{{"ssh", full}},
		refusals: []refusal{
			{reason: "no permission", remote: at("bob", "other"), words: "DENIED by fallthru"},
			{reason: "rules for branches only", remote: at("ann", "branches"), words: "DENIED by fallthru"},
			{reason: "RW without +, after a drop", remote: at("ann", "noplus"), before: rewritten, words: "DENIED by fallthru"},
		},
		checks: []check{{"the rules of the guide limits accept a drop and an archive", func() error {
			dir, err := h.repository("full", full)
			if err != nil {
				return err
			}
			return h.all(dir, "checkpoint save 7", "checkpoint save 7", "checkpoint sync 7 --yes", "checkpoint drop 7 latest --yes",
				"checkpoint sync 7 --yes", "checkpoint archive 7", "checkpoint sync 7 --archived --yes",
				"ls-remote --exit-code origin refs/checkpoints-archive/7")
		}}},
	}, nil
}

// setRules pushes the rules and the key of bob to the repository of the administrator.
func (h *host) setRules(admin remote) error {
	dir := filepath.Join(h.dir, "admin")
	if _, err := h.git(h.dir, "-c", "core.sshCommand="+h.ssh("ann"), "clone", "-q", admin.url, dir); err != nil {
		return err
	}
	rules := filepath.Join(dir, "conf", "gitolite.conf")
	old, err := os.ReadFile(rules)
	if err != nil {
		return err
	}
	if err := os.WriteFile(rules, append(old, gitoliteRules...), 0o666); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(h.dir, "bob.pub"), filepath.Join(dir, "keydir", "bob.pub")); err != nil {
		return err
	}
	if err := h.configure(dir, admin); err != nil {
		return err
	}
	return h.all(dir, "add .", "commit -qm rules", "push -q origin HEAD")
}
