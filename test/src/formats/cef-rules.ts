import { isIPv4, isIPv6 } from 'node:net';
import rules from './schemas/cef-0.json' with { type: 'json' };

interface KeyRules {
  readonly type: string;
  readonly length?: number;
}

const KEYS: Readonly<Record<string, KeyRules>> = rules.keys;
const HEADER: Readonly<Record<string, number>> = rules.header;

export interface CefMessage {
  /** Vendor, product, version, class id, name, severity. */
  readonly header: readonly string[];
  readonly extension: ReadonlyMap<string, string>;
}

/** Reads a line as the standard has it: seven fields that end with a pipe without a backslash, then `key=value` pairs. */
export function parseCef(line: string): CefMessage {
  const match = /^CEF:0\|((?:(?:[^|\\]|\\[|\\])*\|){6})(.*)$/s.exec(line);
  if (match === null) {
    throw new Error(`not a line of CEF: ${JSON.stringify(line)}`);
  }
  const header = (match[1] ?? '').slice(0, -1).split(/(?<=(?<!\\)(?:\\\\)*)\|/);
  const extension = new Map<string, string>();
  const pairs = (match[2] ?? '').split(/(?:^| )(?=[A-Za-z0-9_]+=)/).filter((pair) => pair !== '');
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const key = pair.slice(0, equals);
    if (extension.has(key)) {
      throw new Error(`${key} is there twice: ${JSON.stringify(line)}`);
    }
    extension.set(key, unescapeValue(pair.slice(equals + 1), line));
  }
  return { header: header.map((text) => text.replaceAll(/\\([|\\])/g, '$1')), extension };
}

function unescapeValue(text: string, line: string): string {
  if (/^(?:[^=\\]|\\[=\\nr])*$/s.test(text)) {
    return text.replaceAll(/\\(.)/g, (_, letter: string) => ({ n: '\n', r: '\r' })[letter] ?? letter);
  }
  throw new Error(`a value is not escaped, ${JSON.stringify(text)}, in ${JSON.stringify(line)}`);
}

/** Returns the faults of a line by the rules of the Common Event Format. */
export function cefFaults(line: string): readonly string[] {
  const { header, extension } = parseCef(line);
  const names = Object.entries(HEADER);
  const severity = header[5] ?? '';
  return [
    ...names
      .filter(([, length], index) => tooLong(header[index] ?? '', length) || header[index] === '')
      .map(([name]) => `${name} is empty or too long`),
    ...(rules.severities.includes(severity) ? [] : [`the severity is ${JSON.stringify(severity)}`]),
    ...(/[^\P{Cc}\t]|[\u2028\u2029]/u.test(line) ? ['the line has a control character or a line end'] : []),
    ...[...extension].flatMap(([key, value]) => valueFaults(key, value)),
    ...[...extension.keys()]
      .filter((key) => extension.has(`${key}Label`) !== needsLabel(key))
      .map((key) => `${key} and its label do not go together`),
  ];
}

function valueFaults(key: string, value: string): readonly string[] {
  const rule = KEYS[key];
  if (rule === undefined) {
    return [`${key} is not a key of CEF`];
  }
  return isOfType(rule, value) ? [] : [`${key} is ${JSON.stringify(value)}: no ${rule.type}, or too long`];
}

function isOfType({ type, length }: KeyRules, value: string): boolean {
  switch (type) {
    case 'string':
      return value !== '' && !tooLong(value, length ?? 0);
    case 'ipv4':
      return isIPv4(value);
    case 'ipv6':
      return isIPv6(value) && !value.includes('%');
    case 'long':
      return /^-?[0-9]{1,19}$/.test(value) && BigInt(value) < 2n ** 63n;
    case 'milliseconds':
      return /^-?[0-9]+$/.test(value);
    case 'port':
      return /^[0-9]{1,5}$/.test(value) && Number(value) <= 65_535;
    default:
      throw new Error(`the rules have a type ${type} that this does not know`);
  }
}

function tooLong(text: string, length: number): boolean {
  return Buffer.byteLength(text) > length;
}

function needsLabel(key: string): boolean {
  return /^(?:c6a|cn|cs|deviceCustomDate)[0-9]$/.test(key);
}
