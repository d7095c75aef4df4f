// Texts of an event that may stand in a field with a type. The checks give undefined for every other text.

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
