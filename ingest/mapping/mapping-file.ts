import { TEXT_FIELDS } from '../../query/event-fields.ts';
import { offsetMinutesOf } from '../event/iso-time.ts';
import type { Items, MappedField, MappedValue, Mapping } from './mapping.ts';
import { FORMS_WITHOUT_ZONE, TIME_FORMS } from './record-time.ts';
import { ValueReader } from './value-reader.ts';
import { inLineOrder, readYaml, WrongYaml, type YamlMember, type YamlTree } from './yaml-tree.ts';

/** What is absent where a mapping does not say it, in lower case. */
const USUALLY_ABSENT = ['-', '', 'n/a', 'null', 'unknown'];

const FIELDS: readonly MappedField[] = ['timestamp', ...TEXT_FIELDS];
const MEMBERS = ['preset', 'timezone', 'absent', 'items', 'leaveOut', 'zone', 'id', ...FIELDS];

/**
 * Reads a mapping out of the text of its file. `presets` are those that it may begin with. Throws WrongYaml with a fault for each thing
 * that is wrong, its line, its value and what is allowed.
 */
export function readMapping(name: string, text: string, presets: ReadonlyMap<string, Mapping>): Mapping {
  const tree = readYaml(text);
  if (tree.kind !== 'map') {
    throw new WrongYaml([`line ${tree.line}: the mapping is a ${tree.kind}; allowed: ${MEMBERS.join(', ')}, each with its value`]);
  }
  const reader = new ValueReader();
  const members = new Map(tree.members.map((member) => [member.key, member]));
  const base = presetOf(members.get('preset'), presets, reader);
  const fields = new Map(base?.fields);
  const mapping = { ...(base ?? EMPTY), name, fields };
  for (const { key, line, value } of tree.members) {
    if (isField(key)) {
      const read = value.kind === 'text' && value.isNull ? null : reader.value(value, key);
      if (read === null) fields.delete(key);
      else fields.set(key, read);
    } else {
      Object.assign(mapping, memberOf(key, line, value, reader));
    }
  }
  const faults = [...reader.faults, ...timeFaults(mapping, members.get('timestamp')?.line ?? 1)];
  if (faults.length > 0) throw new WrongYaml(inLineOrder(faults));
  return mapping;
}

const EMPTY: Omit<Mapping, 'name' | 'fields'> = {
  absent: new Set(USUALLY_ABSENT),
  timezoneMinutes: null,
  items: [],
  leaveOut: null,
  zone: null,
  id: [],
};

function isField(key: string): key is MappedField {
  return (FIELDS as readonly string[]).includes(key);
}

function presetOf(member: YamlMember | undefined, presets: ReadonlyMap<string, Mapping>, reader: ValueReader): Mapping | undefined {
  if (member === undefined) {
    return undefined;
  }
  const preset = member.value.kind === 'text' ? presets.get(member.value.text) : undefined;
  if (preset === undefined) reader.refuse(member.value, 'preset', [...presets.keys()].join(', '));
  return preset;
}

/** What a member that is no field changes in a mapping. One that is null says what no mapping says, too: it takes that of a preset away. */
function memberOf(key: string, line: number, value: YamlTree, reader: ValueReader): Partial<Mapping> {
  const isNull = value.kind === 'text' && value.isNull;
  switch (key) {
    case 'preset':
      return {};
    case 'timezone':
      return { timezoneMinutes: isNull ? null : timezoneIn(value, reader) };
    case 'absent':
      return { absent: isNull ? EMPTY.absent : new Set(reader.texts(value, key).map((text) => text.toLowerCase())) };
    case 'items':
      return { items: isNull ? [] : reader.several(value).flatMap((one) => itemsIn(one, reader)) };
    case 'leaveOut':
      return { leaveOut: isNull ? null : reader.value(value, key) };
    case 'zone':
      return { zone: isNull ? null : isNumber(value) ? reader.constant(value, key) : reader.value(value, key) };
    case 'id':
      return { id: isNull ? [] : reader.several(value).flatMap((one) => reader.value(one, key) ?? []) };
    default:
      reader.faults.push(`line ${line}: ${JSON.stringify(key)} is not a member of a mapping; allowed: ${MEMBERS.join(', ')}`);
      return {};
  }
}

function isNumber(value: YamlTree): value is Extract<YamlTree, { kind: 'text' }> {
  return value.kind === 'text' && /^-?\d+$/.test(value.text);
}

function timezoneIn(value: YamlTree, reader: ValueReader): number | null {
  const minutes = value.kind !== 'text' ? null : value.text === 'UTC' ? 0 : offsetMinutesOf(value.text);
  if (minutes === null) reader.refuse(value, 'timezone', "UTC, or an offset such as '+02:00'");
  return minutes;
}

function itemsIn(value: YamlTree, reader: ValueReader): Items[] {
  const members = value.kind === 'map' ? new Map(value.members.map((member) => [member.key, member.value])) : new Map([['path', value]]);
  reader.onlyMembers(value, 'items', ['path', 'when', 'decode']);
  const path = reader.path(members.get('path') ?? value, 'items');
  const [when, decode] = [members.get('when'), members.get('decode')];
  const conditions = when === undefined ? [] : reader.conditions(when, 'items');
  const steps = decode === undefined ? [] : reader.decodeSteps(decode, 'items');
  if (path?.steps.some(({ kind }) => kind === 'item')) {
    reader.refuse(members.get('path') ?? value, 'items', 'a path with keys, [0] and [*] alone');
  }
  // An item is JSON in any case, and the record keeps its bytes.
  return path === null ? [] : [{ path, when: conditions, decode: steps.filter(({ kind }) => kind !== 'json') }];
}

/** Each text that may become the time needs a form, and one that has no zone of its own needs one of the mapping. */
function timeFaults({ fields, timezoneMinutes }: Mapping, line: number): string[] {
  const time = fields.get('timestamp');
  if (time === undefined) {
    return [`line ${line}: timestamp is missing: a mapping without a time of its records makes no event`];
  }
  const leaves = leavesOf(time);
  const faults: string[] = [];
  if (leaves.some((forms) => forms.length === 0)) {
    faults.push(`line ${line}: timestamp has no time; allowed: with each path the form, time: ${TIME_FORMS.join(', ')}`);
  }
  const without = leaves.flat().find((form) => FORMS_WITHOUT_ZONE.includes(form));
  if (without !== undefined && timezoneMinutes === null) {
    faults.push(`line ${line}: timestamp has the form ${without}, which has no zone; allowed: with timezone, which is UTC or an offset`);
  }
  return faults;
}

/** The forms of each text that may become a value. */
function leavesOf(value: MappedValue): readonly MappedValue['time'][] {
  return value.time.length > 0 || value.source.kind !== 'first' ? [value.time] : value.source.values.flatMap(leavesOf);
}
