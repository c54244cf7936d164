// Package ident says who commits are by, by git's rules: environment, the role's
// settings, user.*, what git makes of the machine, and a fallback where git gives
// up.
package ident

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"git-checkpoint/gitstore/gitcmd"
)

// Fallback is who commits are by on machines that have no identity, as bare CI
// runners.
var Fallback = Person{"git-checkpoint", "git-checkpoint@localhost"}

// A Person is who a commit is by.
type Person struct{ Name, Email string }

// Signature is a line of a commit's header without its key.
func (p Person) Signature(at time.Time) string {
	return fmt.Sprintf("%s <%s> %d +0000", p.Name, p.Email, at.Unix())
}

// A Finder finds people, and asks git once for each role.
type Finder struct {
	Git    gitcmd.Git
	Config []gitcmd.ConfigEntry // git's configuration

	guessed map[string]Person // what git makes of a machine without an identity
}

// Committer is who commits.
func (f *Finder) Committer() Person { return f.find("COMMITTER", "committer") }

// Author is who wrote what is committed.
func (f *Finder) Author() Person { return f.find("AUTHOR", "author") }

func (f *Finder) find(env, section string) Person {
	pick := func(variable, key string) string {
		if v := clean(os.Getenv("GIT_" + env + "_" + variable)); v != "" {
			return v
		}
		for _, k := range []string{section + "." + key, "user." + key} {
			if v, ok := gitcmd.Last(f.Config, k); ok && clean(v) != "" {
				return clean(v)
			}
		}
		return ""
	}
	p := Person{pick("NAME", "name"), pick("EMAIL", "email")}
	if p.Name == "" || p.Email == "" {
		p = f.ask(p, env)
	}
	return p
}

// ask lets git guess what is not configured, and falls back where git gives up.
func (f *Finder) ask(p Person, env string) Person {
	guessed, known := f.guessed[env]
	if !known {
		line, err := f.Git.Line(context.Background(), "var", "GIT_"+env+"_IDENT")
		name, rest, ok := strings.Cut(line, " <")
		email, _, _ := strings.Cut(rest, ">")
		if err != nil || !ok {
			name, email = "", ""
		}
		guessed = Person{clean(name), clean(email)}
		if f.guessed == nil {
			f.guessed = map[string]Person{}
		}
		f.guessed[env] = guessed
	}
	return Person{cmp.Or(p.Name, guessed.Name, Fallback.Name), cmp.Or(p.Email, guessed.Email, Fallback.Email)}
}

// maxText bounds a name and an address: no commit of more than a few megabytes is
// read, whoever it is by.
const maxText = 1 << 10

// clean removes what git removes from names and addresses: "<", ">", control
// characters, and crud at both ends (not a dot, which older ones do).
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	return strings.Trim(s, " ,:;\"'\\")
}
