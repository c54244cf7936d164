// Package document reads and writes ordered documents: mappings with text keys in YAML and
// JSON. It finds values by paths, and the line and column of a value.
//
// # Canonical text
//
//	document = "{}" NL | mapping
//	mapping  = { indent key ":" ( " " scalar | NL mapping | NL list ) }
//	list     = { indent "- " ( scalar | list | mapping ) }
//	scalar   = "null" | "true" | "false" | number | plain | quoted | block NL
//	         | "{}" | "[]"
//	block    = "|" [ "2" ] [ "-" | "+" ] NL { indent line NL }
//
// Each level, including lists, is indented by two columns. A list or mapping inside a
// list starts on the line of its dash. Numbers have JSON syntax. Text is plain if no YAML
// parser can read it as another type. Text with several lines of printable characters is
// a literal block. All other text is double-quoted with the escapes of JSON and \U. A key
// of more than a thousand bytes follows "? " on its own line.
//
// Emit writes only this form. Decode also parses other YAML with yaml.v3, and JSON with
// its own parser. Every rejection includes line and column.
package document
