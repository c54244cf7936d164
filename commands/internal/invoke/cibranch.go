package invoke

import (
	"regexp"
	"strings"
	"sync"
)

// ciTags are the variables of CI services that are set if a job builds a tag.
var ciTags = []string{"CI_COMMIT_TAG", "BUILDKITE_TAG", "CIRCLE_TAG", "BITBUCKET_TAG", "DRONE_TAG"}

// ciBranches are the variables of CI services that name the branch of a job. The source
// branch of a pull request is before the branch into which it is merged.
var ciBranches = []string{
	"GITHUB_HEAD_REF", "GITHUB_REF_NAME", // GitHub, Gitea and Forgejo Actions
	"CI_COMMIT_REF_NAME",                          // GitLab
	"CI_COMMIT_SOURCE_BRANCH", "CI_COMMIT_BRANCH", // Woodpecker
	"BUILDKITE_BRANCH",
	"CIRCLE_BRANCH",
	"BITBUCKET_BRANCH",
	"SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH", // Azure Pipelines
	"DRONE_SOURCE_BRANCH", "DRONE_BRANCH",
}

// CIBranch returns the branch that a CI job with a detached HEAD builds, or "" for a tag
// or the merge commit of a pull request or of a merge queue.
func (c *Invocation) CIBranch() string {
	get := c.Env.Getenv
	names := ciBranches
	if get("JENKINS_URL") != "" {
		// The variables of Jenkins. Other programs use these names too.
		names = append([]string{"CHANGE_BRANCH", "BRANCH_NAME", "GIT_BRANCH"}, names...)
		if get("TAG_NAME") != "" {
			return ""
		}
	}
	if get("GITHUB_REF_TYPE") == "tag" {
		return ""
	}
	for _, name := range ciTags {
		if get(name) != "" {
			return ""
		}
	}
	for _, name := range names {
		if branch := c.ciBranchIn(name); branch != "" && !notABranch().MatchString(branch) {
			return branch
		}
	}
	return ""
}

// ciBranchIn returns the branch in a variable of a CI service.
func (c *Invocation) ciBranchIn(name string) string {
	get := c.Env.Getenv
	branch := strings.TrimPrefix(get(name), "refs/heads/")
	switch name {
	case "GIT_BRANCH":
		prefix := "" // names of remotes can contain slashes, so the longest name counts
		for _, remote := range append(c.Store.RemoteNames(), "origin") {
			if p := remote + "/"; strings.HasPrefix(branch, p) && len(p) > len(prefix) {
				prefix = p
			}
		}
		branch = branch[len(prefix):]
		if branch == "detached" { // Jenkins checked out an id instead of a branch
			return ""
		}
	case "DRONE_BRANCH", "CI_COMMIT_BRANCH":
		if get("DRONE_PULL_REQUEST") != "" || get("CI_COMMIT_PULL_REQUEST") != "" {
			return "" // the target of a pull request whose source the forge did not name
		}
	}
	return branch
}

// notABranch matches names of tags, of the commits of a pull request and of GitHub's merge
// queue, and HEAD. Some services give HEAD to a job that was started for a commit.
var notABranch = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(refs/.*|[0-9]+/(merge|head)|pull/[0-9]+|PR-[0-9]+|gh-readonly-queue/.*|HEAD)$`)
})
