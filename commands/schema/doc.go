// Package schema holds a JSON document against a JSON Schema: what an agent
// hands in as the outcome of its phase has the fields that the next one needs.
//
// It knows the keywords of drafts 6 to 2020-12 that speak of one document:
// type, enum, const; properties, patternProperties, additionalProperties,
// propertyNames, required, dependentRequired, minProperties, maxProperties;
// items, prefixItems, additionalItems, contains, minItems, maxItems,
// uniqueItems; minimum, maximum, exclusiveMinimum, exclusiveMaximum,
// multipleOf; minLength, maxLength, pattern; allOf, anyOf, oneOf, not, if,
// then, else; and $ref to a place in the same schema. Any other keyword is an
// error: what it asks for would not be looked at. Notes for people, and format,
// ask for nothing.
package schema
