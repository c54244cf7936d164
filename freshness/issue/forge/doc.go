// Package forge reads issues from GitHub, GitLab, and Gitea or Forgejo, and changes issue
// labels.
//
//	         an issue                                   the API
//	github   GET /repos/OWNER/NAME/issues/N             api.HOST, or HOST/api/v3
//	gitlab   GET /projects/OWNER%2FNAME/issues/N        HOST/api/v4
//	gitea    GET /repos/OWNER/NAME/issues/N             HOST/api/v1
//
// The context limits the duration of a request, and a constant limits the response size.
// Failed requests return a *RequestError with a one-line text. The text is written here
// and never quotes the server.
//
// # Tokens
//
// A credential is sent to one host, in a header. It never appears in URLs, errors or
// files, and redirects to other hosts are not followed. An environment variable holds a
// token for the host to which the forge's own tool sends it. This package sends the token
// to the same host, and to hosts named in trusted settings. Credentials of git's
// credential helper are sent only to their own host.
//
// # Cache
//
// A response is cached with its ETag, so that later requests are cheap for the forge. The
// cache also stores the end of a rate limit, so that no request is sent before. Issue
// returns a cached response only if the forge confirms it with status 304. Seen returns
// the cached issue with its time and sends no request.
package forge
