import { INT32_RANGE, integerIn } from './openapi-elements.ts';

/** The query of `POST /ingest/events`. */
export const INGEST_PARAMETERS = [
  {
    name: 'source',
    in: 'query',
    description: 'For the metrics. What comes from a `file` is read as JSON, too, whatever the type says',
    schema: { enum: ['http', 'file'], default: 'http' },
  },
  {
    name: 'form',
    in: 'query',
    description: '`lines`: every line is an event, also one with a bracket in front, which otherwise begins an array',
    schema: { enum: ['lines', 'any'], default: 'any' },
  },
  {
    name: 'mapping',
    in: 'query',
    description:
      'The body has records of another product, and this mapping makes events of them: one of the presets, or of the folder ' +
      'MAPPINGS. The answer counts records then. A key may name a mapping, which counts without this, and no other is allowed then',
    schema: { type: 'string' },
    example: 'aws-waf',
  },
  integerIn(
    'query',
    'zone',
    INT32_RANGE,
    'The zone of all records, whatever the mapping says; only with `mapping`. A record without a zone, or with one that the key ' +
      'does not open, is rejected, and the others are stored',
  ),
];
