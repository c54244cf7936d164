// Package schema validates JSON documents against a JSON Schema, for example a phase's
// outcome with the fields required by the next phase.
//
// Supported keywords are those of drafts 6 to 2020-12 that apply to a single document:
//
//	type enum const
//	properties patternProperties additionalProperties propertyNames
//	required dependentRequired minProperties maxProperties
//	items prefixItems additionalItems contains minItems maxItems uniqueItems
//	minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
//	minLength maxLength pattern
//	allOf anyOf oneOf not if then else
//	$ref, to a part of the same schema
//
// Annotations and format are ignored. Other keywords are errors, because their
// constraints would remain unchecked.
package schema
