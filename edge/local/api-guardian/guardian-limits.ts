/** What a specification may hold. The configuration of a zone reports these, and a specification beyond them is refused. */
export const GUARDIAN_LIMITS = {
  maxEndpoints: 50,
  /** Properties of one object schema. */
  maxFieldsPerType: 128,
  /** Schemas within schemas; a `$ref` counts as what it points at. */
  maxNestingDepth: 16,
  /** Schemas of all endpoints, with every `$ref` written out. */
  maxTotalSchemaNodes: 8_192,
  /** Characters of every `pattern` among them. */
  maxTotalRegexLength: 16_384,
} as const;

/** Of the specification as text, in UTF-8. */
export const MAX_CONTENT_BYTES = 2_000_000;
