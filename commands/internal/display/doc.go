// Package display renders screens for users: the timeline of list, the status screen, the
// changes of diff. It is pure: data, screen width and colour are parameters.
//
// Records can contain any text, so text is cleaned (package output) before it is
// measured, cut or coloured. Shown data therefore never contributes escape sequences.
// Information never depends on colour or position alone. Lines fit the screen width.
// Box-drawing and other graphic characters are avoided.
package display
