import { ZONE_ID_RANGE, zoneIdIn } from '../../query/zone-id.ts';
import { DECODE_WORDS, type DecodeStep } from './decode-steps.ts';
import type { Condition, MappedValue, Source, TextPart, TextTable } from './mapping.ts';
import { PATH_FORM, parsePath, type RecordPath } from './record-path.ts';
import { TIME_FORMS, type TimeForm } from './record-time.ts';
import type { YamlTree } from './yaml-tree.ts';

const SOURCES = ['path', 'first', 'const', 'text'] as const;
const CHANGES = ['when', 'decode', 'absent', 'address', 'lower', 'upper', 'table', 'time'] as const;
const WORDS: readonly string[] = [...SOURCES, ...CHANGES];

type Member = Readonly<Record<string, YamlTree>>;

const NO_PATH: RecordPath = { text: '', steps: [] };

/** Reads the values of a mapping out of YAML, and gathers what is wrong with them. What is wrong is left out. */
export class ValueReader {
  /** A line for each, with its number. */
  readonly faults: string[] = [];

  /** Adds a fault about a value; `member` is where it stands. */
  refuse(value: YamlTree, member: string, allowed: string): void {
    const shown = value.kind === 'text' ? JSON.stringify(value.isNull && value.text === '' ? null : value.text) : `a ${value.kind}`;
    this.faults.push(`line ${value.line}: ${member} is ${shown}; allowed: ${allowed}`);
  }

  /** Adds a fault for each member of a map that is none of the names. */
  onlyMembers(value: YamlTree, member: string, names: readonly string[]): void {
    for (const { key, line } of value.kind === 'map' ? value.members : []) {
      if (!names.includes(key)) this.faults.push(`line ${line}: ${member} has ${JSON.stringify(key)}; allowed: ${names.join(', ')}`);
    }
  }

  several(value: YamlTree): readonly YamlTree[] {
    return value.kind === 'list' ? value.items : [value];
  }

  /** The texts of a list, or of one. */
  texts(value: YamlTree, member: string): readonly string[] {
    return this.several(value).flatMap((one) => {
      if (one.kind === 'text') return [one.text];
      this.refuse(one, member, 'a text, or a list of texts');
      return [];
    });
  }

  constant(value: Extract<YamlTree, { kind: 'text' }>, member: string): MappedValue {
    return this.#valueOf({ kind: 'const', text: this.#written(value, member) }, {}, member);
  }

  /** A text alone is a path. Null where it is wrong. */
  value(value: YamlTree, member: string): MappedValue | null {
    if (value.kind !== 'map') {
      const path = value.kind === 'text' ? this.path(value, member) : this.#refused(value, member, 'a path, or a value with its words');
      return path === null ? null : this.#valueOf({ kind: 'path', path }, {}, member);
    }
    this.onlyMembers(value, member, WORDS);
    const words = Object.fromEntries(value.members.map((one) => [one.key, one.value]));
    const sources = SOURCES.filter((word) => words[word] !== undefined);
    const source = sources.length === 1 ? this.#source(sources[0]!, words[sources[0]!]!, member) : null;
    if (sources.length !== 1) {
      this.faults.push(`line ${value.line}: ${member} has ${sources.join(' and ') || 'no source'}; allowed: one of ${SOURCES.join(', ')}`);
    }
    return source === null ? null : this.#valueOf(source, words, member);
  }

  /** Null where it is wrong. */
  path(value: YamlTree, member: string): RecordPath | null {
    const path = value.kind === 'text' ? parsePath(value.text) : null;
    return path ?? this.#refused(value, member, `a path: ${PATH_FORM}`);
  }

  decodeSteps(value: YamlTree, member: string): readonly DecodeStep[] {
    return this.several(value).flatMap((step): DecodeStep[] => {
      const word = DECODE_WORDS.find((one) => step.kind === 'text' && step.text === one);
      if (word !== undefined) return [{ kind: word }];
      const split = step.kind === 'map' && step.members.length === 1 ? step.members[0] : undefined;
      if (split?.key === 'split' && split.value.kind === 'text' && split.value.text !== '')
        return [{ kind: 'split', sign: split.value.text }];
      this.refuse(step, `decode of ${member}`, `${DECODE_WORDS.join(', ')}, or split: with the sign that divides`);
      return [];
    });
  }

  #refused(value: YamlTree, member: string, allowed: string): null {
    this.refuse(value, member, allowed);
    return null;
  }

  /** The text. One that the member can never be is told at the start, not by the records that it is for. */
  #written(value: Extract<YamlTree, { kind: 'text' }>, member: string): string {
    if (member === 'zone' && zoneIdIn(value.text) === null) this.refuse(value, member, `a number of ${ZONE_ID_RANGE}`);
    if (member === 'leaveOut' && !['true', 'false'].includes(value.text.toLowerCase())) this.refuse(value, member, 'true or false');
    return value.text;
  }

  #source(kind: Source['kind'], value: YamlTree, member: string): Source | null {
    switch (kind) {
      case 'path': {
        const path = this.path(value, member);
        return path === null ? null : { kind, path };
      }
      case 'first':
        if (value.kind === 'list' && value.items.length === 0) this.refuse(value, `first of ${member}`, 'values, one at least');
        return { kind, values: this.several(value).flatMap((one) => this.value(one, member) ?? []) };
      case 'const':
        return value.kind === 'text' && !value.isNull
          ? { kind, text: this.#written(value, member) }
          : this.#refused(value, `const of ${member}`, 'a text');
      case 'text':
        return value.kind === 'text' ? { kind, parts: this.#parts(value, member) } : this.#refused(value, `text of ${member}`, 'a text');
    }
  }

  /** Literal text, and paths in braces, which may begin with a sign. */
  #parts(value: Extract<YamlTree, { kind: 'text' }>, member: string): readonly TextPart[] {
    return value.text.split(/(\{[^{}]*\})/).flatMap((piece): TextPart[] => {
      if (piece === '') return [];
      const [, sign = '', inside] = /^\{([?:#/&]?)([^{}]*)\}$/.exec(piece) ?? [];
      if (inside === undefined && !/[{}]/.test(piece)) return [{ kind: 'literal', text: piece }];
      const path = inside === undefined ? null : parsePath(inside);
      if (path === null) {
        this.refuse(
          { ...value, text: piece, isNull: false },
          `text of ${member}`,
          `in braces one of ? : # / & or none, and a path: ${PATH_FORM}`,
        );
      }
      return [{ kind: 'value', sign, path: path ?? NO_PATH }];
    });
  }

  #valueOf(source: Source, { when, decode, absent, address, lower, upper, table, time }: Member, member: string): MappedValue {
    if (lower !== undefined && upper !== undefined) this.refuse(upper, `upper of ${member}`, 'lower or upper, not both');
    return {
      source,
      when: when === undefined ? [] : this.conditions(when, member),
      decode: decode === undefined ? [] : this.decodeSteps(decode, member),
      ...(absent !== undefined && { absent: new Set(this.texts(absent, `absent of ${member}`).map((text) => text.toLowerCase())) }),
      address: this.#isTrue(address, `address of ${member}`),
      letters: this.#isTrue(lower, `lower of ${member}`) ? 'lower' : this.#isTrue(upper, `upper of ${member}`) ? 'upper' : null,
      table: table === undefined ? null : this.#table(table, member),
      time: time === undefined ? [] : this.#forms(time, member),
    };
  }

  #isTrue(value: YamlTree | undefined, member: string): boolean {
    if (value !== undefined && !(value.kind === 'text' && value.text === 'true')) this.refuse(value, member, 'true');
    return value !== undefined;
  }

  #forms(value: YamlTree, member: string): readonly TimeForm[] {
    return this.several(value).flatMap((one) => {
      const form = TIME_FORMS.find((word) => one.kind === 'text' && one.text === word);
      if (form === undefined) this.refuse(one, `time of ${member}`, `${TIME_FORMS.join(', ')}, or a list of them`);
      return form ?? [];
    });
  }

  /** `path: text`, `path: [text, …]`, or `path: '*'` for one that is present. */
  conditions(value: YamlTree, member: string): readonly Condition[] {
    if (value.kind !== 'map') {
      this.refuse(value, `when of ${member}`, "paths, each with a text, a list of texts, or '*' for any");
      return [];
    }
    return value.members.flatMap(({ key, line, value: wanted }) => {
      const path = parsePath(key);
      if (path === null) this.refuse({ kind: 'text', line, text: key, isNull: false }, `when of ${member}`, `a path: ${PATH_FORM}`);
      const isAny = wanted.kind === 'text' && wanted.text === '*';
      const texts = isAny ? null : new Set(this.texts(wanted, `when of ${member}`).map((text) => text.toLowerCase()));
      return path === null ? [] : [{ path, texts }];
    });
  }

  #table(value: YamlTree, member: string): TextTable | null {
    if (value.kind !== 'map') {
      return this.#refused(value, `table of ${member}`, "texts, each with what it stands for, '*' for the rest");
    }
    const texts = new Map<string, string | null>();
    const domains = new Map<string, string | null>();
    let rest: string | null | undefined;
    for (const { key, value: becomes } of value.members) {
      if (becomes.kind !== 'text') this.refuse(becomes, `${JSON.stringify(key)} in the table of ${member}`, 'a text, or null for none');
      const text = becomes.kind !== 'text' || becomes.isNull ? null : this.#written(becomes, member);
      if (key === '*') rest = text;
      else if (key.startsWith('*.')) domains.set(key.slice(1).toLowerCase(), text);
      else texts.set(key.toLowerCase(), text);
    }
    return { texts, domains, ...(rest !== undefined && { rest }) };
  }
}
