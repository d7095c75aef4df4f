import { readCidr } from '../cidr.ts';
import { type LineClause, parseSearchLine } from '../search-line.ts';

/** A word of a line, as far as it may be an address. */
interface AddressWord {
  /** As it stands in the line. */
  readonly raw: string;
  readonly isFilter: boolean;
}

/** A spelling of which a line consists; null where it would be refused. */
export function spelled(line: string): string | null {
  return 'fault' in parseSearchLine(line) ? null : line;
}

/** An address or a network without brackets, port and interface (`%eth0`), with which nothing is stored; null where it is none. */
function plainAddress(text: string): string | null {
  const [, bracketed, beforePort] = /^\[([^\]]*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(text) ?? [];
  const plain = (bracketed ?? beforePort ?? text).replace(/%[\w.-]+$/, '');
  return 'fault' in readCidr(plain) ? null : plain;
}

/** A filter for an address or a network; null where the text is neither. */
export function addressFilter(text: string): string | null {
  const plain = plainAddress(text);
  return plain === null ? null : spelled(`ip:${plain}`);
}

/** Of a word of the free text that is an address, which fields have in other spellings. */
export function addressNote({ raw }: AddressWord): string | null {
  const filter = addressFilter(raw);
  if (filter === null) return null;
  if (filter !== `ip:${raw}`) return `${raw} is searched as it is written; ${filter} finds the address alone`;
  const means = raw.includes('/') ? 'the addresses of the network' : 'the address in any spelling';
  return `${raw} is searched as a text; ${filter} finds ${means}`;
}

/** Of a filter for addresses with ports or interfaces. */
export function portNote(raw: string, { field, value }: Pick<LineClause, 'field' | 'value'>): string | null {
  // Most values have none, and there may be a thousand.
  if (!/[%\]]|\.\d+:\d/.test(raw)) return null;
  const plain = value.map((text) => (/^\[.*\]$/.test(text) ? null : plainAddress(text)) ?? text);
  if (field !== 'ip' || plain.every((text, index) => text === value[index])) return null;
  const meant = spelled(`${raw.startsWith('-') ? '-' : ''}ip:${plain.join(',')}`);
  return meant === null ? null : `${raw} looks for it as it is written; ${meant} is the address alone`;
}

function undefanged(text: string): string {
  return text
    .replaceAll(/(?<=[\p{L}\p{N}-])[[({](?:dot|\.)[\])}](?=[\p{L}\p{N}-])/giu, '.')
    .replaceAll(/(?<=[\p{L}\p{N}])\[(::?|:\/\/)\]/gu, '$1')
    .replaceAll(/hxxp(?=s?:)/gi, 'http');
}

/** Of addresses and urls as reports write them, so that nobody opens one by accident. */
export function defangedNote({ raw, isFilter }: AddressWord): string | null {
  const text = undefanged(raw);
  const meant = text === raw ? null : ((isFilter ? null : addressFilter(text)) ?? spelled(text));
  return meant === null ? null : `${raw} is searched as it is written; ${meant} is what it stands for`;
}

/** A longer filter is not repeated whole. */
const SHOWN_LENGTH = 200;

/** The words of a line that are addresses, with commas between them or without, and the one filter that finds any; null below two. */
export function addressList(words: readonly AddressWord[]): { readonly words: readonly string[]; readonly note: string } | null {
  const listed = words.filter(({ isFilter }) => !isFilter).map(({ raw }) => ({ raw, addresses: addressesOf(raw) }));
  const addresses = [...new Set(listed.flatMap((word) => word.addresses))];
  const filter = addresses.length < 2 ? null : spelled(`ip:${addresses.join(',')}`);
  if (filter === null) return null;
  const shown = filter.length > SHOWN_LENGTH ? `ip:${addresses.slice(0, 2).join(',')},…` : filter;
  const note = `${addresses.length} addresses are searched as texts; ${shown} finds any of them`;
  return { words: listed.filter((word) => word.addresses.length > 0).map(({ raw }) => raw), note };
}

/** The addresses between the commas of a word; none where it is anything else. */
function addressesOf(raw: string): readonly string[] {
  const addresses = undefanged(raw)
    .split(/[,;]/)
    .filter((piece) => piece !== '')
    .map(plainAddress);
  return addresses.every((address) => address !== null) ? addresses : [];
}
