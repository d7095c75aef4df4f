import { type Call, type DrivenAnswer, send, sendHead } from './driven-answer.ts';
import { askWhileStopping, type Site } from './site.ts';
import type { Sites } from './sites.ts';

/** Brings the program to one documented answer. */
export type Driver = (sites: Sites) => Promise<DrivenAnswer>;

/** Drivers by operation id, then by status. */
export type Drivers = Readonly<Record<string, Readonly<Record<number, Driver>>>>;

export const JSON_TYPE = { 'content-type': 'application/json' };

type Ways = (call: Call) => Driver;

/** Stands in a header for the Full Access token of the site that the call goes to. */
export const FULL_TOKEN = '(the token)';

function forSite({ tokens }: Site, call: Call): Call {
  const headers = Object.entries(call.headers ?? {}).map(([name, value]) => [name, value.replace(FULL_TOKEN, tokens.full)] as const);
  return { ...call, headers: Object.fromEntries(headers) };
}

/** Sends the call to the site in that condition, with further headers. */
function sentTo(condition: Exclude<keyof Sites, 'stop'>, headers: Readonly<Record<string, string>> = {}): Ways {
  return (call) => (sites) => send(sites[condition], forSite(sites[condition], { ...call, headers: { ...call.headers, ...headers } }));
}

/** Sends the call's head alone, which says that so many bytes will come. */
function headSent(lengthBytes: number): Ways {
  return (call) => (sites) => sendHead(sites.open, forSite(sites.open, call), lengthBytes);
}

export const answered = sentTo('open');
export const fromForeignPage = sentTo('open', { origin: 'https://elsewhere.example' });
export const unacceptable = sentTo('open', { accept: 'image/png' });
export const ofWrongType = sentTo('open', { 'content-type': 'text/csv' });
export const ofWrongEncoding = sentTo('open', { 'content-encoding': 'br' });
export const withoutKey = sentTo('keyed');
export const withKey = (accesskey: string): Ways => sentTo('keyed', { accesskey });
export const whileBroken = sentTo('broken');
export const whileCrowded = sentTo('crowded');
export const whileUnreachable = sentTo('unreachable');
export const whileDeaf = sentTo('deaf');
export const whileStopping: Ways = (call) => (sites) => askWhileStopping(sites.open, forSite(sites.open, call));
export const bodyTooLate = headSent(9);
/** More than any route with a limit takes. */
export const bodyTooLarge = headSent(64 * 1024 * 1024);
