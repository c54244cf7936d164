// Package forge asks GitHub, GitLab, and Gitea or Forgejo for an issue, and
// changes its labels.
//
//	         an issue                                   the API
//	github   GET /repos/OWNER/NAME/issues/N             api.HOST, or HOST/api/v3
//	gitlab   GET /projects/OWNER%2FNAME/issues/N        HOST/api/v4
//	gitea    GET /repos/OWNER/NAME/issues/N             HOST/api/v1
//
// A question is bounded by its context and in the size of the answer. What goes
// wrong is a *RequestError whose text is one line, made here: nothing that a server
// says is in it.
//
// # Tokens
//
// A credential goes to one host, in a header. It is in no URL, no error and no
// file, and a redirect to another host is not followed. A variable of the
// environment holds a token for the host that its forge's own tool would send
// it to, so it goes to that host, and to those that trusted settings name; what
// git's credential helper has for a host goes there and nowhere else.
//
// # Cache
//
// An answer is kept with its ETag, so that the next question is cheap for the
// forge, and so that a limit it has set is kept without asking again. Issue gives
// a cached answer only where the forge says that it still holds; Seen gives it
// with its time, and asks nobody.
package forge
