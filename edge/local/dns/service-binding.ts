import { isIPv4, isIPv6 } from 'node:net';
import { shown } from '../../shown-value.ts';
import { zoneFault } from './dns-fault.ts';
import { hostName } from './host-name.ts';

const KEY = /^(?:mandatory|alpn|no-default-alpn|port|ipv4hint|ech|ipv6hint|dohpath|ohttp|key(?:0|[1-9]\d{0,4}))$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A parameter is a word, or a word whose value has blanks inside quotes. */
const PARAMETER = /^([a-z0-9-]+)(?:=(?:"([^"]*)"|([^\s"]*)))?$/;
const WORDS = /(?:[^\s"]+|"[^"]*")+/g;

const isList = (value: string, isItem: (item: string) => boolean): boolean => value.split(',').every(isItem);

/** What the known parameters of RFC 9460 take; those not listed take anything. */
const VALUES: Readonly<Record<string, { readonly test: (value: string) => boolean; readonly allowed: string }>> = {
  mandatory: { test: (value) => isList(value, (key) => KEY.test(key) && key !== 'mandatory'), allowed: 'other keys, joined by commas' },
  alpn: { test: (value) => isList(value, (item) => item.length > 0 && item.length <= 255), allowed: 'protocols such as h2,h3' },
  'no-default-alpn': { test: (value) => value === '', allowed: 'no value' },
  port: { test: (value) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535, allowed: '0 to 65535' },
  ipv4hint: { test: (value) => isList(value, isIPv4), allowed: 'IPv4 addresses, joined by commas' },
  ipv6hint: { test: (value) => isList(value, (item) => isIPv6(item) && !item.includes('%')), allowed: 'IPv6 addresses, joined by commas' },
  ech: { test: (value) => value !== '' && BASE64.test(value), allowed: 'base64' },
};

function checkParameter(word: string, seen: Set<string>, field: string): void {
  const [, key, quoted, plain] = PARAMETER.exec(word) ?? [];
  if (key === undefined || !KEY.test(key)) {
    throw zoneFault(
      field,
      `${shown(word)} is not a service parameter; allowed: mandatory, alpn, no-default-alpn, port, ipv4hint, ech, ipv6hint, dohpath, ohttp, keyN`,
    );
  }
  if (seen.has(key)) throw zoneFault(field, `the service parameter ${key} is there twice`);
  seen.add(key);
  const value = quoted ?? plain ?? '';
  const rule = VALUES[key];
  if (rule !== undefined && !rule.test(value)) throw zoneFault(field, `${key} is ${shown(value)}; allowed: ${rule.allowed}`);
}

/**
 * The value of an SVCB or HTTPS record (RFC 9460): `target [key=value …]`, with the priority in front or in the record's own field. A
 * target of `.` is the owner's name. Checks names, keys and the values of the known keys.
 */
export function serviceBinding(text: string, priority: number, field: string): string {
  const words = text.match(WORDS) ?? [];
  const written = words[0] !== undefined && /^\d{1,5}$/.test(words[0]) ? words.shift() : undefined;
  if (Number(written ?? 0) > 65_535) throw zoneFault(field, `the priority is ${written}; allowed: 0 to 65535`);
  const [target, ...parameters] = words;
  if (target === undefined) throw zoneFault(field, `${shown(text)} has no target; allowed: a host name or ".", then service parameters`);
  const seen = new Set<string>();
  for (const parameter of parameters) checkParameter(parameter, seen, field);
  if (Number(written ?? priority) === 0 && parameters.length > 0) {
    throw zoneFault(field, 'a priority of 0 is an alias and takes no service parameters; allowed: a priority from 1, or the target alone');
  }
  const name = target === '.' ? target : hostName(target, field);
  return [...(written === undefined ? [] : [written]), name, ...parameters].join(' ');
}
