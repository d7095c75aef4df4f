import { eventLine, ingest } from '../running-app.ts';
import { send } from './driven-answer.ts';
import { type Site, startSite } from './site.ts';

/** A site whose retention has dropped events, and the cursor of a reader who has missed them. */
export interface ForgetfulSite extends Site {
  readonly expiredCursor: string;
}

const HOUR_MS = 3_600_000;

export async function startForgetfulSite(): Promise<ForgetfulSite> {
  let aheadMs = 0;
  const site = await startSite({}, () => Date.now() + aheadMs);
  const { text } = await send(site, { method: 'GET', path: '/shield/event-logs/7/feed' });
  const { cursor } = JSON.parse(text) as { readonly cursor: string };
  await ingest(site, eventLine({ timestamp: Date.now() - 71 * HOUR_MS }));
  await site.store.settle('flush');
  aheadMs = 2 * HOUR_MS;
  await site.store.expire();
  return { ...site, expiredCursor: cursor };
}
