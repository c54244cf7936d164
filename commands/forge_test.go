package commands

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"git-checkpoint/gitstore/testing/forgetest"
)

// forges maps URLs to the servers of the scripts.
var forges sync.Map

// cmdForge runs a forge with the project o/r on this machine:
//
//	forge start                    start it; sets $FORGE (URL) and $FORGE_HOST, and a long
//	                               issue timeout
//	forge issue 42 file.json       set an issue from an issue file
//	forge private token            require a token
//	forge exclusive a/x,a/y        make labels exclusive, as on Gitea
//	forge scopes read:issue        limit the token to scopes, as on Gitea
//	forge does mode                simulate a failure of forgetest.Modes
//	forge asked n                  expect n requests so far
//	forge labels 42 a,b            compare the labels
//	[!] forge got header           expect this credential
//	forge got nothing              expect no credential
func cmdForge(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || neg && args[0] != "got" {
		ts.Fatalf("usage: forge start|issue|private|exclusive|scopes|delete-label|does|asked|labels|got ...")
	}
	if args[0] == "start" {
		s := forgetest.New("o/r")
		ts.Defer(s.Close)
		forges.Store(s.URL, s)
		ts.Setenv("FORGE", s.URL)
		ts.Setenv("FORGE_HOST", strings.TrimPrefix(s.URL, "http://"))
		ts.Setenv("GIT_CHECKPOINT_TIMEOUTS_ISSUE", "30") // for busy machines
		return
	}
	v, ok := forges.Load(ts.Getenv("FORGE"))
	if !ok || len(args) < 2 {
		ts.Fatalf("forge %s: start it first, and say what", args[0])
	}
	s := v.(*forgetest.Server)
	switch args[0] {
	case "issue":
		var i forgetest.FakeIssue
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[2])), &i))
		s.Put(args[1], i)
	case "private":
		s.Private(args[1])
	case "exclusive":
		s.Exclusive(strings.Split(args[1], ",")...)
	case "scopes":
		s.Scopes(args[1:]...)
	case "delete-label":
		s.DeleteLabel(args[1])
	case "does":
		s.Misbehave(args[1])
		s.Elsewhere = "https://other.example"
	case "asked":
		if got := s.Requests(); fmt.Sprint(len(got)) != args[1] {
			ts.Fatalf("%d questions came: %q", len(got), got)
		}
	case "labels":
		if got := strings.Join(s.Issue(args[1]).Labels, ","); got != args[2] {
			ts.Fatalf("the labels are %s", got)
		}
	case "got":
		got := strings.Join(s.Secrets(), "\n")
		if has := strings.Contains(got, args[1]) || args[1] == "nothing" && got == ""; has == neg {
			ts.Fatalf("credentials that came: %q", got)
		}
	default:
		ts.Fatalf("forge %s: not known", args[0])
	}
}
