/** How the value of a field is read from JSON, and what it has to be. `ingest/event` has the rule and the message of each. */
export type FieldRule = 'zone' | 'time' | 'id' | 'log' | 'text' | 'address' | 'url' | 'asNumber';

export type ColumnType = 'int32' | 'int64' | 'uint64' | 'text' | 'bytes';

export interface FieldRow {
  /** The name on the wire, in filters and in answers. */
  readonly name: string;
  readonly rule: FieldRule;
  /** The columns on disk, in which {@link BATCH_COLUMNS} says what they hold. */
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** Columns that are worked out of the value. They follow the `columns` of all fields of the same version. */
  readonly derived?: Readonly<Record<string, ColumnType>>;
  /** The version of this table that has the field first. Data of earlier versions is read as if no event had it. */
  readonly since: number;
  /** Searches filter and group by it. */
  readonly dimension?: true;
  /** A number on the wire is the text of its digits as they stand. */
  readonly takesNumber?: true;
  /** Filters for whole values ignore its case. */
  readonly ignoresCase?: true;
  /** The free text of a search looks at it. */
  readonly freeText?: true;
  /** The control character by which a packed log repeats its value; see `query/packed-log.ts`. */
  readonly packedAs?: number;
  /** Rank among the fields with values that few events share, which cost most to look through. */
  readonly lookCost?: number;
}

/**
 * The fields of an event: the one table that all lists of fields, columns and names are made from. Every other member of an event lies in
 * its log. `ingest/event/wire-event.ts` checks a field by its rule, `ingest/event/event-scanner.ts` writes its columns; for usual events
 * the kernel does both.
 *
 * The order, the names and `packedAs` are an on-disk format: journals, segments and packed logs have them. A new field goes to the end,
 * with a `since` of one more than the highest so far; no row is moved, renamed or removed. `test/query/event-fields.test.ts` holds each
 * version.
 */
export const EVENT_FIELDS = [
  { name: 'shieldZoneId', rule: 'zone', columns: { shieldZoneId: 'int32' }, since: 1 },
  { name: 'timestamp', rule: 'time', columns: { timestamp: 'int64' }, since: 1 },
  { name: 'logId', rule: 'id', columns: { logIdBytes: 'bytes', logIdText: 'text' }, since: 1, takesNumber: true },
  { name: 'log', rule: 'log', columns: {}, since: 1 },
  { name: 'feature', rule: 'text', columns: { feature: 'text' }, since: 1, takesNumber: true, dimension: true, ignoresCase: true },
  { name: 'ruleId', rule: 'text', columns: { ruleId: 'text' }, since: 1, takesNumber: true, dimension: true, freeText: true, packedAs: 4 },
  { name: 'ruleName', rule: 'text', columns: { ruleName: 'text' }, since: 1, takesNumber: true, freeText: true, packedAs: 3 },
  {
    name: 'ip',
    rule: 'address',
    columns: { ip: 'text' },
    derived: { ipHigh: 'uint64', ipLow: 'uint64' },
    since: 1,
    dimension: true,
    freeText: true,
    packedAs: 2,
    lookCost: 3,
  },
  { name: 'ja4', rule: 'text', columns: { ja4: 'text' }, since: 1, takesNumber: true, dimension: true, lookCost: 1 },
  { name: 'ua', rule: 'text', columns: { ua: 'text' }, since: 1, dimension: true, freeText: true, lookCost: 2 },
  {
    name: 'url',
    rule: 'url',
    columns: { urlHead: 'text', urlTail: 'text' },
    since: 1,
    dimension: true,
    freeText: true,
    packedAs: 1,
    lookCost: 4,
  },
  { name: 'asn', rule: 'asNumber', columns: { asn: 'text' }, since: 1, dimension: true },
  { name: 'country', rule: 'text', columns: { country: 'text' }, since: 1, takesNumber: true, dimension: true, ignoresCase: true },
  { name: 'action', rule: 'text', columns: { action: 'text' }, since: 1, takesNumber: true, dimension: true, ignoresCase: true },
] as const satisfies readonly FieldRow[];

export type EventField = (typeof EVENT_FIELDS)[number];

/** The version of the table. It rises with each field that is added, and data folders of a higher one are refused. */
export const EVENT_FIELDS_VERSION: number = Math.max(...EVENT_FIELDS.map(({ since }) => since));

/** The fields that are texts, absent where an event has none. */
export type TextField = Extract<EventField, { readonly rule: 'text' | 'address' | 'url' | 'asNumber' }>['name'];

/** A field that searches filter and group by. */
export type Dimension = Extract<EventField, { readonly dimension: true }>['name'];

/** What events of several zones are grouped by: a dimension, or the digits of their zone. */
export type GroupDimension = Dimension | 'shieldZoneId';

/** A field whose text a search may look at. */
export type SearchedField = Dimension | Extract<EventField, { readonly freeText: true }>['name'];

const ROWS: readonly FieldRow[] = EVENT_FIELDS;

function namesOf<Name extends string>(isWanted: (field: FieldRow) => boolean): readonly Name[] {
  return ROWS.filter(isWanted).map(({ name }) => name as Name);
}

export const TEXT_FIELDS = namesOf<TextField>(({ rule }) => rule === 'text' || rule === 'address' || rule === 'url' || rule === 'asNumber');

/** The fields in which a number is a text. */
export const NUMBER_FIELDS: ReadonlySet<string> = new Set(namesOf<EventField['name']>(({ takesNumber }) => takesNumber === true));

export const DIMENSIONS = namesOf<Dimension>(({ dimension }) => dimension === true);

export const GROUP_DIMENSIONS: readonly GroupDimension[] = [...DIMENSIONS, 'shieldZoneId'];

export const CASE_IGNORED_FIELDS: ReadonlySet<SearchedField> = new Set(namesOf<Dimension>(({ ignoresCase }) => ignoresCase === true));

/** Whether facets and series of the explorer take values of the field that are equal in lower case for one. */
export function isFolded(field: GroupDimension): boolean {
  return field !== 'shieldZoneId' && CASE_IGNORED_FIELDS.has(field);
}

export const FREE_TEXT_FIELDS = namesOf<SearchedField>(({ freeText }) => freeText === true);

/** The field's rule. */
export function ruleOf(name: EventField['name']): FieldRule {
  return (ROWS.find((field) => field.name === name) as FieldRow).rule;
}

/** Rank of what it costs to look through a field: 0 where many events share its values. */
export function lookCost(name: SearchedField): number {
  return ROWS.find((field) => field.name === name)?.lookCost ?? 0;
}
