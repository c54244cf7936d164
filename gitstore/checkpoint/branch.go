package checkpoint

import (
	"regexp"

	"git-checkpoint/gitstore/checkpoint/document"
)

// branchRules are the built-in rules in order. They match whole words of the branch name:
// "1.2.x" and "v42" are not issues.
var branchRules = []func() *regexp.Regexp{
	document.Pattern(`(?i)(?:^|[/_-])issues?[-_/]?#?([1-9][0-9]{0,17})(?:$|[^0-9A-Za-z.])`),
	document.Pattern(`(?:^|/)([A-Z][A-Z0-9]+-[1-9][0-9]{0,17})(?:$|[^0-9A-Za-z.])`),
	document.Pattern(`(?:^|/)#?([1-9][0-9]{0,17})(?:$|[-_/])`),
}

// Dates in branch names. The year of a date is not an issue number.
var (
	day     = document.Pattern(`(^|[^0-9])(?:19|20)[0-9]{2}(?:-[01][0-9]-[0-3][0-9]|_[01][0-9]_[0-3][0-9]|/[01][0-9]/[0-3][0-9])($|[^0-9])`)
	compact = document.Pattern(`^(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])$`)
)

// IssueFromBranch returns the issue in a branch name: 42 for "feature/issue-42-jwt" and
// "42-fix", PROJ-42 for "PROJ-42-fix". A custom pattern replaces the built-in rules. Its
// first group is the issue, or the whole match if the pattern has no group.
func IssueFromBranch(branch string, replaced *regexp.Regexp) (Issue, bool) {
	if replaced != nil {
		return matchIssue(branch, replaced)
	}
	branch = day().ReplaceAllString(branch, "${1}day${2}")
	for n, rule := range branchRules {
		i, ok := matchIssue(branch, rule())
		if ok && n == len(branchRules)-1 && compact().MatchString(string(i)) {
			break
		}
		if ok {
			return i, true
		}
	}
	return "", false
}

func matchIssue(branch string, re *regexp.Regexp) (Issue, bool) {
	m := re.FindStringSubmatch(branch)
	if m == nil {
		return "", false
	}
	i, err := ParseIssue(m[min(1, len(m)-1)])
	return i, err == nil
}
