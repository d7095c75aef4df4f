// Writes assembly/field-table.ts from the table of the event's fields. `npm run build` runs it; a path as argument writes it elsewhere.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BATCH_COLUMNS, columnIndex } from '../../../query/batch-columns.ts';
import { EVENT_FIELDS, TEXT_FIELDS } from '../../../query/event-fields.ts';
import { PACKED_FIELDS, SHORTEST_PACKED_BYTES } from '../../../query/packed-log.ts';
import { findNameHash, NAME_SLOTS } from './name-hash.ts';

/** `assembly/pack-log.ts` looks for these values, in this order. */
const PACKED_BY_KERNEL = ['url', 'ip', 'ruleName', 'ruleId'];
if (PACKED_FIELDS.join() !== PACKED_BY_KERNEL.join()) {
  throw new Error(
    `assembly/pack-log.ts packs ${PACKED_BY_KERNEL.join(', ')}, but the table has ${PACKED_FIELDS.join(', ')}: change both lists`,
  );
}

/** A mask has a bit for each column and one more. */
const MAX_COLUMNS = 31;
if (BATCH_COLUMNS.length > MAX_COLUMNS) {
  throw new Error(`a mask of 32 bits is for ${MAX_COLUMNS} columns, but the table has ${BATCH_COLUMNS.length}`);
}

const WORD_START = /(?<=[a-z0-9])(?=[A-Z])/g;
const constantOf = (name: string) => name.replace(WORD_START, '_').toUpperCase();

/** A field goes by its first column that is a text, or by its only one; the log, which has none, by the number after all columns. */
function numberOf({ columns }: (typeof EVENT_FIELDS)[number]): number {
  const stored = Object.entries(columns) as [Parameters<typeof columnIndex>[0], string][];
  const [first] = stored.find(([, type]) => type === 'text') ?? stored[0] ?? [];
  return first === undefined ? BATCH_COLUMNS.length : columnIndex(first);
}

const bitsOf = (isWanted: (field: (typeof EVENT_FIELDS)[number]) => boolean) =>
  EVENT_FIELDS.filter(isWanted).reduce((bits, field) => bits | (1 << numberOf(field)), 0);

const isText = ({ name }: { readonly name: string }) => (TEXT_FIELDS as readonly string[]).includes(name);
const { lengthFactor, firstFactor } = findNameHash(EVENT_FIELDS.map(({ name }) => name));

const lines = [
  '/** Made by `generate-field-table.ts` from `query/event-fields.ts`, and never edited: `npm run build` writes it. */',
  '',
  '/** The columns, by their indices in `BATCH_COLUMNS`. The masks of the events and their logs follow them. */',
  ...BATCH_COLUMNS.map(({ name }, index) => `export const ${constantOf(name)}_COLUMN: u32 = ${index};`),
  `export const MASKS: u32 = ${BATCH_COLUMNS.length};`,
  `export const LOGS: u32 = ${BATCH_COLUMNS.length + 1};`,
  `export const COLUMN_COUNT: u32 = ${BATCH_COLUMNS.length + 2};`,
  '',
  '/** The fields, by the numbers of their columns; the log has none. */',
  ...EVENT_FIELDS.map((field) => `export const ${constantOf(field.name)}: u32 = ${numberOf(field)};`),
  `export const FIELD_COUNT: u32 = ${BATCH_COLUMNS.length + 1};`,
  `export const NO_FIELD: u32 = ${BATCH_COLUMNS.length + 1};`,
  '',
  '/** Bits for the texts without rules of their own. */',
  `export const PLAIN_TEXTS: u32 = ${bitsOf(({ rule }) => rule === 'text' || rule === 'url')};`,
  '/** Bits for the texts that are written to one column. */',
  `export const ONE_COLUMN_TEXTS: u32 = ${bitsOf((field) => isText(field) && field.rule !== 'url')};`,
  '/** Bits for the fields with a column, but not the id. */',
  `export const FIELDS_WITH_COLUMN: u32 = ${bitsOf(({ rule }) => rule !== 'log' && rule !== 'id')};`,
  '',
  '/** The values that a packed log repeats are marked by these, in the order in which they are looked for. */',
  ...PACKED_FIELDS.map((name, index) => `export const ${constantOf(name)}_MARK: u32 = ${index + 1};`),
  '/** A shorter value is left in the log. */',
  `export const SHORTEST_PACKED: usize = ${SHORTEST_PACKED_BYTES};`,
  '',
  '/** The slot of a name is its length and first byte times these, plus its last byte; no two names share one. */',
  `export const NAME_SLOTS: u32 = ${NAME_SLOTS};`,
  `export const LENGTH_FACTOR: u32 = ${lengthFactor};`,
  `export const FIRST_FACTOR: u32 = ${firstFactor};`,
  '',
  '/** Calls `enter` with each name on the wire and its field. */',
  'export function enterNames(enter: (name: string, field: u32) => void): void {',
  ...EVENT_FIELDS.map(({ name }) => `  enter('${name}', ${constantOf(name)});`),
  '}',
];

const [, , target = join(import.meta.dirname, 'assembly/field-table.ts')] = process.argv;
writeFileSync(target, `${lines.join('\n')}\n`);
