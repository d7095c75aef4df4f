import { isIP } from 'node:net';
import rules from './schemas/ecs-9.4.0.json' with { type: 'json' };

const FIELDS: Readonly<Record<string, string>> = { ...rules.fields, ...rules.beyond };
const ALLOWED: Readonly<Record<string, readonly string[]>> = rules.allowed;
const EXPECTED_TYPES: Readonly<Record<string, readonly string[]>> = rules.expectedEventTypes;
const ISO_INSTANT = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Returns the faults of a document by the rules of the Elastic Common Schema, with field and value. */
export function ecsFaults(document: object): readonly string[] {
  const flat = new Map(flatten(document, ''));
  const missing = Object.entries(FIELDS).filter(([name, rule]) => rule.endsWith(' required') && !flat.has(name));
  return [
    ...missing.map(([name]) => `${name} is missing`),
    ...[...flat].flatMap(([name, value]) => fieldFaults(name, value)),
    ...categoryFaults(flat.get('event.category'), flat.get('event.type')),
  ];
}

/** Leaves by their dotted names. Labels are keywords under names of their own. */
function flatten(value: object, prefix: string): [string, unknown][] {
  return Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    const name = prefix + key;
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    return isObject && name !== 'labels' ? flatten(inner, `${name}.`) : [[name, inner]];
  });
}

function fieldFaults(name: string, value: unknown): readonly string[] {
  const rule = FIELDS[name];
  if (rule === undefined) {
    return [`${name} is not a field of ECS`];
  }
  const type = rule.split(' ')[0] ?? '';
  const isList = type.endsWith('[]');
  if (isList !== Array.isArray(value)) {
    return [`${name} is ${JSON.stringify(value)}, and ${isList ? 'a list' : 'one value'} is due`];
  }
  const values: readonly unknown[] = isList ? (value as unknown[]) : [value];
  const faults = values
    .filter((one) => !isOfType(type.replace('[]', ''), one))
    .map((one) => `${name} is ${JSON.stringify(one)}: no ${type}`);
  const strange = values.filter((one) => ALLOWED[name] !== undefined && !ALLOWED[name].includes(String(one)));
  const isRepeated = new Set(values).size < values.length;
  return [
    ...faults,
    ...strange.map((one) => `${name} is ${JSON.stringify(one)}, which is not allowed`),
    ...(isRepeated ? [`${name} repeats`] : []),
  ];
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'keyword':
    case 'wildcard':
    case 'match_only_text':
      return typeof value === 'string';
    case 'date':
      return typeof value === 'string' && ISO_INSTANT.test(value) && !Number.isNaN(Date.parse(value));
    case 'long':
      return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 63;
    case 'ip':
      return typeof value === 'string' && isIP(value) !== 0 && !value.includes('%');
    case 'object':
      return Object.entries(value as object).every(([key, text]) => !key.includes('.') && typeof text === 'string');
    default:
      throw new Error(`the rules have a type ${type} that this does not know`);
  }
}

/** Each category expects some types, and a type must be expected by one of the event's categories. */
function categoryFaults(categories: unknown, types: unknown): readonly string[] {
  if (!Array.isArray(categories) || !Array.isArray(types)) {
    return ['event.category and event.type must be there'];
  }
  const expected = new Set(categories.flatMap((category) => EXPECTED_TYPES[String(category)] ?? []));
  return types.filter((type) => !expected.has(String(type))).map((type) => `event.type ${type} goes with none of ${categories.join(', ')}`);
}
