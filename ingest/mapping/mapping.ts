import type { TextField } from '../../query/event-fields.ts';
import type { DecodeStep } from './decode-steps.ts';
import type { RecordPath } from './record-path.ts';
import type { TimeForm } from './record-time.ts';

/** A field of an event that a mapping fills by its name. The zone and the id have members of their own. */
export type MappedField = 'timestamp' | TextField;

/** Texts of which each stands for something else, in lower case. */
export interface TextTable {
  readonly texts: ReadonlyMap<string, string | null>;
  /** By the end of a name, which begins with a point: the lines for `*.example.com`. */
  readonly domains: ReadonlyMap<string, string | null>;
  /** The line `*`; absent: there is none. */
  readonly rest?: string | null;
}

/** A part of a text: as it stands, or what is at a path. With a sign, an absent value takes the sign along; without, the text is absent. */
export type TextPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'value'; readonly sign: string; readonly path: RecordPath };

export type Source =
  | { readonly kind: 'path'; readonly path: RecordPath }
  | { readonly kind: 'first'; readonly values: readonly MappedValue[] }
  | { readonly kind: 'const'; readonly text: string }
  | { readonly kind: 'text'; readonly parts: readonly TextPart[] };

/** What is at the path has to be one of the texts, in lower case; null: anything that is not absent. */
export interface Condition {
  readonly path: RecordPath;
  readonly texts: ReadonlySet<string> | null;
}

/** How a text is made of a record: where it comes from, and what is done to it, in the order of the members. */
export interface MappedValue {
  readonly source: Source;
  /** Without all of them, the value is absent. */
  readonly when: readonly Condition[];
  readonly decode: readonly DecodeStep[];
  /** What counts as absent, in lower case; absent: what the mapping says. */
  readonly absent?: ReadonlySet<string>;
  readonly address: boolean;
  readonly letters: 'lower' | 'upper' | null;
  readonly table: TextTable | null;
  /** The forms of a time; empty where it is none. */
  readonly time: readonly TimeForm[];
}

/** Where an envelope has its items, and how those that are texts are decoded. */
export interface Items {
  readonly path: RecordPath;
  /** Without all of them, the record is no such envelope. */
  readonly when: readonly Condition[];
  readonly decode: readonly DecodeStep[];
}

/** What becomes of the records of a source. Plain data, which threads may share. */
export interface Mapping {
  readonly name: string;
  /** What counts as absent, in lower case. */
  readonly absent: ReadonlySet<string>;
  /** Of times that are written without a zone; null: none may be. */
  readonly timezoneMinutes: number | null;
  /** The first that a record has takes it apart. */
  readonly items: readonly Items[];
  /** A record of which this is `true` is left out. */
  readonly leaveOut: MappedValue | null;
  readonly zone: MappedValue | null;
  /** Joined by `-`; where one is absent, the id is made of the record's bytes. */
  readonly id: readonly MappedValue[];
  readonly fields: ReadonlyMap<MappedField, MappedValue>;
}
