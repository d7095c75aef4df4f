import { isIP, isIPv4, isIPv6 } from 'node:net';
import { domainToUnicode } from 'node:url';
import { EdgeError } from '../../edge-error.ts';
import { shown } from '../../shown-value.ts';
import { asciiName } from '../ascii-name.ts';

/** A fault of a zone. `field` is the path in the body, such as `Records[3].Value`. */
export function zoneFault(field: string, message: string): EdgeError {
  return new EdgeError(400, field.startsWith('Records') ? 'dnszone.record_invalid' : 'dnszone.invalid', `${field}: ${message}`, { field });
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MAX_NAME_LENGTH = 253;

/**
 * A host name as DNS has it: lower case, ASCII (`xn--`), without the final dot. Underscores are allowed, as in `_sip._tcp`. Throws the
 * fault of `field` for anything else, addresses included.
 */
export function hostName(text: string, field: string): string {
  const ascii = asciiName(text);
  if (isIP(ascii) !== 0) throw zoneFault(field, `${shown(text)} is an address; allowed: a host name such as "www.example.com"`);
  const labels = ascii.split('.');
  if (ascii.length > MAX_NAME_LENGTH || !labels.every(isLabel)) {
    throw zoneFault(
      field,
      `${shown(text)} is not a host name; allowed: labels of 1 to 63 letters, digits, hyphens and underscores, joined by dots, ` +
        `${MAX_NAME_LENGTH} characters at most`,
    );
  }
  return ascii;
}

function isLabel(label: string): boolean {
  // Invalid Punycode comes back unchanged.
  return LABEL.test(label) && (!label.startsWith('xn--') || domainToUnicode(label) !== label);
}

/** The keys of service parameters that have names, in the order of their numbers (RFC 9460, 14.3.2). */
const KEY_NAMES = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint', 'dohpath', 'ohttp'];
/** 65535 is no key (RFC 9460, 14.3.2). */
const MAX_KEY = 65_534;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A parameter is a word, or a word with a value, which may have blanks inside quotes. */
const PARAMETER = /^([a-z0-9-]+)(?:=(?:"([^"]*)"|([^\s"]*)))?$/;
const WORDS = /(?:[^\s"]+|"[^"]*")+/g;

/** The name of a key, which may be written by its number, such as `key3`; undefined where it is none. */
function keyName(text: string): string | undefined {
  if (KEY_NAMES.includes(text)) return text;
  const number = /^key(0|[1-9]\d{0,4})$/.exec(text)?.[1];
  return number === undefined || Number(number) > MAX_KEY ? undefined : (KEY_NAMES[Number(number)] ?? text);
}

const isList = (value: string, isItem: (item: string) => boolean): boolean => value.split(',').every(isItem);

function areOtherKeys(value: string): boolean {
  const names = value.split(',').map(keyName);
  return !names.includes(undefined) && !names.includes('mandatory') && new Set(names).size === names.length;
}

/** The values of parameters of RFC 9460. Other parameters take any value. */
const VALUES: Readonly<Record<string, { readonly test: (value: string) => boolean; readonly allowed: string }>> = {
  mandatory: { test: areOtherKeys, allowed: 'other keys, each once, joined by commas' },
  alpn: { test: (value) => isList(value, (item) => item.length > 0 && item.length <= 255), allowed: 'protocols such as h2,h3' },
  'no-default-alpn': { test: (value) => value === '', allowed: 'no value' },
  port: { test: (value) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535, allowed: '0 to 65535' },
  ipv4hint: { test: (value) => isList(value, isIPv4), allowed: 'IPv4 addresses, joined by commas' },
  ipv6hint: { test: (value) => isList(value, (item) => isIPv6(item) && !item.includes('%')), allowed: 'IPv6 addresses, joined by commas' },
  ech: { test: (value) => value !== '' && BASE64.test(value), allowed: 'base64' },
};

/**
 * The values of service parameters by the names of their keys; null for one whose key is written by its number, which has the bytes of the
 * record and not the form that its name has (RFC 9460, 2.1). Throws the fault of `field`.
 */
function readParameters(words: readonly string[], field: string): ReadonlyMap<string, string | null> {
  const found = new Map<string, string | null>();
  for (const word of words) {
    const [, written = '', quoted, plain] = PARAMETER.exec(word) ?? [];
    const key = keyName(written);
    if (key === undefined) {
      throw zoneFault(field, `${shown(word)} is not a service parameter; allowed: ${KEY_NAMES.join(', ')}, keyN with N up to ${MAX_KEY}`);
    }
    if (found.has(key)) throw zoneFault(field, `the service parameter ${key} is there twice; allowed: once`);
    const value = written === key ? (quoted ?? plain ?? '') : null;
    const rule = VALUES[key];
    if (rule !== undefined && value !== null && !rule.test(value))
      throw zoneFault(field, `${key} is ${shown(value)}; allowed: ${rule.allowed}`);
    found.set(key, value);
  }
  return found;
}

/** Throws the fault of parameters that need others (RFC 9460, 7.1.1 and 8). */
function requireNeeded(parameters: ReadonlyMap<string, string | null>, field: string): void {
  const mandatory = parameters.get('mandatory');
  const missing = mandatory?.split(',').find((key) => !parameters.has(keyName(key) ?? key));
  if (missing !== undefined) {
    throw zoneFault(field, `mandatory names ${missing}, which is not there; allowed: keys of service parameters that are there`);
  }
  if (parameters.has('no-default-alpn') && !parameters.has('alpn')) {
    throw zoneFault(field, 'no-default-alpn is there without alpn; allowed: both, or alpn alone');
  }
}

/**
 * The value of an SVCB or HTTPS record (RFC 9460): `target [key=value …]`, with the priority in front or in its own field. A target of `.`
 * is the owner's name. Checks names, keys and the values of known keys.
 */
export function serviceBinding(text: string, priority: number, field: string): string {
  const words = text.match(WORDS) ?? [];
  const written = words[0] !== undefined && /^\d{1,5}$/.test(words[0]) ? words.shift() : undefined;
  if (Number(written ?? 0) > 65_535) throw zoneFault(field, `the priority is ${written}; allowed: 0 to 65535`);
  if (written !== undefined && priority !== 0 && Number(written) !== priority) {
    throw zoneFault(field, `it begins with the priority ${written}, and Priority is ${priority}; allowed: one of them, or both alike`);
  }
  const [target, ...parameters] = words;
  if (target === undefined) throw zoneFault(field, `${shown(text)} has no target; allowed: a host name or ".", then service parameters`);
  requireNeeded(readParameters(parameters, field), field);
  if (Number(written ?? priority) === 0 && parameters.length > 0) {
    throw zoneFault(field, 'a priority of 0 is an alias and takes no service parameters; allowed: a priority from 1, or the target alone');
  }
  const name = target === '.' ? target : hostName(target, field);
  return [...(written === undefined ? [] : [written]), name, ...parameters].join(' ');
}

export const MAX_TEXT_BYTES = 4_096;
/** Hexadecimal digits of SHA-256 and SHA-512, by the matching type of a TLSA record. Type 0 has the whole certificate or key. */
const TLSA_DIGITS: Readonly<Record<string, number>> = { 1: 64, 2: 128 };
const TLSA = /^[ \t]*([0-3])[ \t]+([01])[ \t]+([0-2])[ \t]+([0-9a-fA-F][0-9a-fA-F \t]*)$/;

/** Each of the following functions checks the text of a `Value` and returns it as it is kept. They throw the fault of `field`. */
export function ipv4(text: string, field: string): string {
  if (!isIPv4(text)) throw zoneFault(field, `${shown(text)} is not an IPv4 address; allowed: four numbers such as "192.0.2.1"`);
  return text;
}

export function ipv6(text: string, field: string): string {
  // A zone index names an interface of one machine.
  if (!isIPv6(text) || text.includes('%')) {
    throw zoneFault(field, `${shown(text)} is not an IPv6 address; allowed: an address such as "2001:db8::1"`);
  }
  return text.toLowerCase();
}

/** A host name, or `.` for none (RFC 7505 for MX, RFC 2782 for SRV). */
export function hostNameOrNone(text: string, field: string): string {
  return text === '.' ? text : hostName(text, field);
}

export function recordText(text: string, field: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes === 0 || bytes > MAX_TEXT_BYTES || /\p{Cc}/u.test(text) || !text.isWellFormed()) {
    throw zoneFault(
      field,
      `${shown(text)} (${bytes} bytes) is not taken; allowed: 1 to ${MAX_TEXT_BYTES} bytes of text without control characters`,
    );
  }
  return text;
}

/** An absolute http or https URL without user and password. */
export function webAddress(text: string, field: string): string {
  const url = URL.parse(text);
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!isWeb || /[\p{Cc}\s]/u.test(text)) {
    throw zoneFault(field, `${shown(text)} is not a web address; allowed: "https://…" or "http://…" without a user or password`);
  }
  return text;
}

/** Usage, selector and matching type, then the data in hexadecimal, in which there may be blanks (RFC 6698, 2.2). */
export function tlsAssociation(text: string, field: string): string {
  const [, usage, selector, matching = '', written = ''] = TLSA.exec(text) ?? [];
  const data = written.replaceAll(/[ \t]/g, '');
  const digits = TLSA_DIGITS[matching];
  if (data === '' || data.length % 2 !== 0 || (digits !== undefined && data.length !== digits)) {
    throw zoneFault(
      field,
      `${shown(text)} is not a TLSA value; allowed: usage 0 to 3, selector 0 or 1, matching 0 to 2, and hexadecimal data (64 digits ` +
        'for matching 1, 128 for 2)',
    );
  }
  return `${usage} ${selector} ${matching} ${data.toLowerCase()}`;
}

/** The grammar of RFC 8659, 4.2: labels have no underscore, and blanks and TABs may stand around `;` and `=`. */
const ISSUER_NAME = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/i;
const ISSUER_PARAMETER = /^[a-z0-9]+(?:-+[a-z0-9]+)*[ \t]*=[ \t]*[\x21-\x3a\x3c-\x7e]*$/i;

function issuer(text: string, field: string): string {
  const [name = '', ...parameters] = text.split(';').map((part) => part.replace(/^[ \t]+|[ \t]+$/g, ''));
  if (name !== '') hostName(name, field);
  if (name !== '' && !ISSUER_NAME.test(name)) {
    throw zoneFault(field, `${shown(name)} is not an issuer; allowed: a host name in ASCII without underscores and final dot`);
  }
  const wrong = parameters.length === 1 && parameters[0] === '' ? undefined : parameters.find((one) => !ISSUER_PARAMETER.test(one));
  if (wrong !== undefined) throw zoneFault(field, `${shown(wrong)} is not an issuer's parameter; allowed: name=value, with ; between them`);
  return text;
}

/** The value of a CAA record by its tag (RFC 8659): an issuer, nobody (`;`), or an address for reports. */
export function issuerPolicy(text: string, tag: string, field: string): string {
  if (text.trim() === '')
    throw zoneFault(field, `is empty; allowed: an issuer such as "ca.example.net", ";" for none, or for iodef a mailto: or web address`);
  switch (tag) {
    case 'issue':
    case 'issuewild':
      return issuer(text, field);
    case 'iodef':
      return /^mailto:[^\s@]+@[^\s@]+$/i.test(text) ? text : webAddress(text, field);
    default:
      return recordText(text, field);
  }
}
