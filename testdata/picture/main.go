// Command picture draws the output of a command as an SVG picture of a terminal:
//
//	go run . demo | go run ./testdata/picture > testdata/picture/demo.svg
//
// The script page beside it takes the picture of the page.
package main

import (
	"bufio"
	"fmt"
	"html"
	"os"
	"strings"
)

// Sizes in pixels.
const (
	lineHeight = 18
	margin     = 16
	charWidth  = 8.2
)

func main() {
	var lines []string
	longest := 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		line := strings.ReplaceAll(in.Text(), "\t", "        ")
		lines, longest = append(lines, line), max(longest, len([]rune(line)))
	}
	width, height := int(charWidth*float64(longest))+2*margin, lineHeight*len(lines)+2*margin
	fmt.Printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"a terminal with git checkpoint\">\n", width, height, width, height)
	fmt.Printf("<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#16181d\"/>\n<g font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13.5\" style=\"white-space:pre\">\n")
	for i, line := range lines {
		fmt.Printf("<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", margin, margin+lineHeight*(i+1)-5, colour(line), html.EscapeString(line))
	}
	fmt.Println("</g>\n</svg>")
}

// colour returns the colour of a line: of a heading, a command or an output.
func colour(line string) string {
	switch {
	case strings.HasPrefix(line, "# "):
		return "#7fb4ff"
	case strings.HasPrefix(line, "$ "):
		return "#ffffff"
	case strings.HasPrefix(line, "hint:"):
		return "#8a919e"
	}
	return "#b8c4a8"
}
