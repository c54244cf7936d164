package gitstore

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"git-checkpoint/gitstore/gitcmd"
)

// Fallback identity, for machines that have none, as bare CI runners.
const (
	fallbackName  = "git-checkpoint"
	fallbackEmail = "git-checkpoint@localhost"
)

// identity is who a commit is by.
type identity struct{ name, email string }

// ident is the committer by git's rules: environment, committer.*, user.*.
func (s *Store) ident() identity { return s.identOf("COMMITTER", "committer") }

// author is the author by the same rules.
func (s *Store) author() identity { return s.identOf("AUTHOR", "author") }

func (s *Store) identOf(env, section string) identity {
	pick := func(variable, key string) string {
		if v := cleanIdent(os.Getenv("GIT_" + env + "_" + variable)); v != "" {
			return v
		}
		for _, k := range []string{section + "." + key, "user." + key} {
			if v, ok := gitcmd.Last(s.config, k); ok && cleanIdent(v) != "" {
				return cleanIdent(v)
			}
		}
		return ""
	}
	id := identity{pick("NAME", "name"), pick("EMAIL", "email")}
	if id.name == "" || id.email == "" {
		id = s.askIdent(id, env)
	}
	return id
}

// askIdent lets git guess what is not configured, and falls back where git
// gives up.
func (s *Store) askIdent(id identity, env string) identity {
	guessed, known := s.guessed[env]
	if !known {
		line, err := s.git.Line(context.Background(), "var", "GIT_"+env+"_IDENT")
		name, rest, ok := strings.Cut(line, " <")
		email, _, _ := strings.Cut(rest, ">")
		if err != nil || !ok {
			name, email = "", ""
		}
		guessed = identity{cleanIdent(name), cleanIdent(email)}
		if s.guessed == nil {
			s.guessed = map[string]identity{}
		}
		s.guessed[env] = guessed
	}
	return identity{
		first(id.name, guessed.name, fallbackName),
		first(id.email, guessed.email, fallbackEmail),
	}
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// cleanIdent removes what git removes from names and addresses: "<", ">",
// control characters, and crud at both ends (not a dot, which older ones do).
func cleanIdent(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.Trim(s, " ,:;\"'\\")
}

// signature is a line of a commit's header without its key.
func (i identity) signature(at time.Time) string {
	return fmt.Sprintf("%s <%s> %d +0000", i.name, i.email, at.Unix())
}
