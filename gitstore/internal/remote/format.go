package remote

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"git-checkpoint/gitstore/internal/git/objectformat"
)

// ErrObjectFormat reports a remote of the other object format. Git transfers no objects
// between SHA-1 and SHA-256 repositories.
var ErrObjectFormat = errors.New("the remote has another object format")

// formatMessage matches git's messages for a remote of the other object format: of a
// fetch, of a push, and of a push to an empty remote. Lines of the remote itself begin
// with "remote:".
var formatMessage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^fatal: (mismatched algorithms: |` +
		`the receiving end does not support this repository's hash algorithm|protocol error: unexpected capabilities\^\{\})`)
})

// isForeignID reports whether a text is an object id of the other format.
func isForeignID(hex string) bool {
	return len(hex) == 2*objectformat.OtherSize && strings.Trim(hex, "0123456789abcdef") == ""
}

// otherFormat returns the error for a remote of the other object format.
func (l *Conn) otherFormat(err error) *Error {
	failed := l.Fail(fmt.Sprintf("the remote has %s objects, and this repository has %s objects: checkpoints cannot move between them",
		objectformat.Title(objectformat.Other), objectformat.Title(objectformat.Name)), err)
	failed.Hint = "git remote -v"
	failed.Refused = true
	return failed
}
