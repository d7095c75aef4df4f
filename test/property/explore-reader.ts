import type { OracleExploreRequest, OracleExploreResponse, OracleRulesResponse, OracleZonesResponse } from '../oracle/explore-oracle.ts';
import type { OracleRequest, OracleResponse } from '../oracle/search-oracle.ts';
import type { RunningApp } from '../src/running-app.ts';

type Site = Pick<RunningApp, 'url'>;

/** The zones as the path has them. */
export type PathZones = readonly number[] | 'all';

/** `POST …/explore`. Throws where it does not answer 200. */
export async function explore(site: Site, zones: PathZones, body: OracleExploreRequest): Promise<OracleExploreResponse> {
  return (await posted(site, `${zones}/explore`, body)) as OracleExploreResponse;
}

/** Operation 1. Throws where it does not answer 200. */
export async function searchZone(site: Site, zone: number, body: OracleRequest): Promise<OracleResponse> {
  return (await posted(site, `${zone}/search`, body)) as OracleResponse;
}

/** `GET …/zones`. Throws where it does not answer 200. */
export async function zonesWithEvents({ url }: Site, { from, to }: { from: number; to: number }): Promise<OracleZonesResponse> {
  return (await jsonOf(await fetch(`${url}/shield/event-logs/zones?from=${from}&to=${to}`))) as OracleZonesResponse;
}

/** `GET …/rules`. Throws where it does not answer 200. */
export async function rulesWithEvents({ url }: Site, zones: PathZones, { from, to }: { from: number; to: number }) {
  return (await jsonOf(await fetch(`${url}/shield/event-logs/${zones}/rules?from=${from}&to=${to}`))) as OracleRulesResponse;
}

async function posted({ url }: Site, path: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  return await jsonOf(await fetch(`${url}/shield/event-logs/${path}`, { method: 'POST', headers, body: JSON.stringify(body) }));
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 1000)}`);
  return JSON.parse(text);
}
