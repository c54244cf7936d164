// Package display lays out what people look at: the timeline of list, the one
// screen of status, the changes of diff. It is pure: what is shown, how wide
// the screen is and whether it has colours are values.
//
// Whatever stands in a record may stand on a screen, so all text is cleaned
// (package output) before it is measured, cut or coloured: no colour here ever
// comes from what is shown. Nothing is said by colour or place alone, no line
// is longer than the screen is wide, and no character is used that is drawn
// rather than read.
package display
