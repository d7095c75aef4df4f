import { isIPv4, isIPv6 } from 'node:net';
import { shown } from '../../shown-value.ts';
import { zoneFault } from './dns-fault.ts';
import { hostName } from './host-name.ts';

export const MAX_TEXT_BYTES = 4_096;
/** SHA-256 and SHA-512 in hexadecimal digits, by the matching type of a TLSA record; 0 is the whole certificate or key. */
const TLSA_DIGITS: Readonly<Record<string, number>> = { 1: 64, 2: 128 };
const TLSA = /^([0-3]) ([01]) ([0-2]) ([0-9a-fA-F]+)$/;

/** Each takes the text of a record's `Value` and gives it back as it is kept; throws the fault of `field`. */
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

/** A host name, or `.` for "there is none" (RFC 7505 for MX, RFC 2782 for SRV). */
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

/** An absolute http or https URL without a user and password. */
export function webAddress(text: string, field: string): string {
  const url = URL.parse(text);
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!isWeb || /[\p{Cc}\s]/u.test(text)) {
    throw zoneFault(field, `${shown(text)} is not a web address; allowed: "https://…" or "http://…" without a user or password`);
  }
  return text;
}

/** RFC 6698: usage, selector, matching type, then the data in hexadecimal. */
export function tlsAssociation(text: string, field: string): string {
  const [, usage, selector, matching = '', data = ''] = TLSA.exec(text.trim().replaceAll(/\s+/g, ' ')) ?? [];
  const digits = TLSA_DIGITS[matching];
  if (usage === undefined || data.length % 2 !== 0 || (digits !== undefined && data.length !== digits)) {
    throw zoneFault(
      field,
      `${shown(text)} is not a TLSA value; allowed: usage 0 to 3, selector 0 or 1, matching 0 to 2, and hexadecimal data (64 digits for matching 1, 128 for 2)`,
    );
  }
  return `${usage} ${selector} ${matching} ${data.toLowerCase()}`;
}

const ISSUER_PARAMETER = /^[a-z0-9]+(?:-+[a-z0-9]+)*=[\x21-\x3a\x3c-\x7e]*$/i;

function issuer(text: string, field: string): string {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
  if (name !== '') hostName(name, field);
  const wrong = parameters.find((parameter) => parameter !== '' && !ISSUER_PARAMETER.test(parameter));
  if (wrong !== undefined) throw zoneFault(field, `${shown(wrong)} is not an issuer's parameter; allowed: name=value`);
  return text;
}

/** The value of a CAA record by its tag (RFC 8659): an issuer, nobody (`;`), or where to report. */
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
