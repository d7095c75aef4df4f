import { INT32 } from '../../query/wire-integer.ts';

/** Schemas that the others are made of. */
export const nullable = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
export const list = (items: object) => ({ type: 'array', items });

export const INT32_RANGE = { format: 'int32', minimum: Number(INT32.least), maximum: Number(INT32.most) };
export const int32 = { type: 'integer', ...INT32_RANGE };
export const int64 = { type: 'integer', format: 'int64' };
export const text = { type: 'string' };
export const nullableText = { type: ['string', 'null'] };

/** A moment, Unix ms UTC. */
export const time = (description: string) => ({ ...int64, description: `${description}, Unix ms UTC` });

/** A number as people write it. */
export const shownCount = (limit: number) => limit.toLocaleString('en-US');

/** An answer's object: these properties and no others, all of them there but the `optional` ones. */
export const exactly = <P extends Readonly<Record<string, object>>>(properties: P, optional: readonly string[] = []) => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});
