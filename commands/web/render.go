package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"
)

//go:embed assets/*.html
var pages embed.FS

//go:embed assets/style.css
var style string

//go:embed assets/script.js
var script string

// templates is parsed for the first page.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) },
		"script": func() template.JS { return template.JS(script) },
		"filePolicy": func() string {
			policy, _, _ := strings.Cut(contentPolicy(), "; form-action")
			return policy + "; form-action 'none'; base-uri 'none'"
		},
		"only": func() []string { return []string{"pinned", "resumable", "invalid"} },
	}).ParseFS(pages, "assets/*.html")
})

func render(w io.Writer, p *Page) error {
	t, err := templates()
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "page", p)
}

// contentPolicy is the content security policy. It permits the page's own style and
// script by hash, and forms to the same origin.
var contentPolicy = sync.OnceValue(func() string {
	return "default-src 'none'; style-src 'sha256-" + digest(style) + "'; script-src 'sha256-" + digest(script) +
		"'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
})

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}
