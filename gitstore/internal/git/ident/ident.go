// Package ident determines author and committer of commits by git's rules: environment,
// author.* or committer.* settings, user.* settings, and git's default for the machine.
// If git has no default, it returns a fallback.
package ident

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"git-checkpoint/gitstore/internal/git"
)

// Fallback is the identity on machines without configured identity, such as CI runners.
var Fallback = Person{"git-checkpoint", "git-checkpoint@localhost"}

// A Person is the author or committer of a commit.
type Person struct{ Name, Email string }

// Signature returns the value of an author or committer header.
func (p Person) Signature(at time.Time) string {
	return fmt.Sprintf("%s <%s> %d +0000", p.Name, p.Email, at.Unix())
}

// A Finder determines identities. It runs git at most once for each role.
type Finder struct {
	Git    git.Git
	Config []git.ConfigEntry // git's configuration

	guessed map[string]Person // git's default identity by role
}

// Committer returns the committer of new commits.
func (f *Finder) Committer() Person { return f.find("COMMITTER", "committer") }

// Author returns the author of new commits.
func (f *Finder) Author() Person { return f.find("AUTHOR", "author") }

func (f *Finder) find(env, section string) Person {
	pick := func(variable, key string) string {
		if v := clean(os.Getenv("GIT_" + env + "_" + variable)); v != "" {
			return v
		}
		for _, k := range []string{section + "." + key, "user." + key} {
			if v, ok := git.Last(f.Config, k); ok && clean(v) != "" {
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

// ask runs git to complete a missing name or email. If git fails, it uses Fallback.
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

// maxText limits the length of names and emails, because a commit of more than a few
// megabytes cannot be read.
const maxText = 1 << 10

// clean removes the bytes that git removes from names and emails: "<", ">", control
// characters, and punctuation at both ends. Dots remain, which older git versions remove.
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
