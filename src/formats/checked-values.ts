import { parseAddress } from '../../query/address.ts';

// Texts of an event that may stand in a field with a type. The checks give undefined or 'none' for every other text.

export type AddressKind = 'ipv4' | 'ipv6' | 'none';

/** The upper bits of `::ffff:0:0/96`, which holds the IPv4 addresses. */
const IPV4_PREFIX = 0xffffn;

/** The kind of an address by the rules of the search: `::ffff:1.2.3.4` is an IPv4 address. */
export function addressKind(text: string): AddressKind {
  const address = parseAddress(text);
  if (address === null) {
    return 'none';
  }
  return address >> 32n === IPV4_PREFIX ? 'ipv4' : 'ipv6';
}

/** An IPv4 address, in any form, as a dotted quad. */
export function dottedQuad(ipv4: string): string {
  if (!ipv4.includes(':')) {
    return ipv4;
  }
  const number = Number((parseAddress(ipv4) ?? 0n) & 0xffff_ffffn);
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');
}

/** An address, in any form, as eight groups of four hexadecimal digits: 39 characters. Any other text stays as it is. */
export function expandedAddress(text: string): string {
  const address = parseAddress(text);
  return address === null ? text : (address.toString(16).padStart(32, '0').match(/.{4}/g) ?? []).join(':');
}

const MAX_AS_NUMBER = 4_294_967_295;

/** The digits of an AS number, which has 32 bits; many readers would cut or round a longer one. */
export function asNumber(digits: string): string | undefined {
  return /^(?:0|[1-9][0-9]{0,9})$/.test(digits) && Number(digits) <= MAX_AS_NUMBER ? digits : undefined;
}

/** The maximum distance of a Date from 1970, in both directions. */
export const MAX_DATE_MS = 8_640_000_000_000_000;

/** ISO 3166-1 alpha-2, the officially assigned codes, as of 2026. */
const ASSIGNED = `
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ
NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`;

const COUNTRY_CODES: ReadonlySet<string> = new Set(ASSIGNED.trim().split(/\s+/));

/** A country code in capitals; `EU`, `XX` and names of countries are none. */
export function countryCode(text: string): string | undefined {
  const code = text.length === 2 ? text.toUpperCase() : '';
  return COUNTRY_CODES.has(code) ? code : undefined;
}
