package gittest

import (
	"os"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/git/objectformat"
)

// Env returns the environment of this process without variables that change git's
// behaviour. It has no GIT_* variables, no user or system configuration, the C locale,
// home as HOME, the object format of this
// build for new repositories, and no prompts.
func Env(home string) []string {
	env := slices.DeleteFunc(os.Environ(), foreign)
	return append(
		env,
		"HOME="+home,
		"USERPROFILE="+home,
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_DEFAULT_HASH="+objectformat.Name,
		"GIT_TERMINAL_PROMPT=0",
	)
}

// ByFormat returns the value for the object format of this build.
func ByFormat(sha1, sha256 string) string {
	if objectformat.Name == "sha256" {
		return sha256
	}
	return sha1
}

func foreign(kv string) bool {
	key, _, _ := strings.Cut(kv, "=")
	switch strings.ToUpper(key) {
	case "HOME", "USERPROFILE", "LANG", "LANGUAGE", "TZ", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK":
		return true
	}
	return strings.HasPrefix(key, "GIT_") || strings.HasPrefix(key, "LC_")
}

// Env returns the environment of the repository's commands, including dates, for tests
// that start other programs.
func (r *Repo) Env() []string {
	date := r.now.Format(time.RFC3339)
	return append(slices.Clone(r.env), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
}

// Setenv sets a variable for subsequent commands. The last value of a key takes
// precedence.
func (r *Repo) Setenv(key, value string) {
	r.env = append(r.env, key+"="+value)
}
