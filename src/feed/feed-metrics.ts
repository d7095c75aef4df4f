import { Gauge, type Registry } from 'prom-client';
import type { FeedPlaces } from './feed-places.ts';

/** Shows on `/metrics` how many requests the feed has. */
export function registerFeedMetrics(registry: Registry, places: Pick<FeedPlaces, 'reading' | 'waiting'>): void {
  const level = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  level('shieldlog_feed_readers', 'Requests to the feed that are being answered', () => places.reading);
  level('shieldlog_feed_waiting', 'Requests to the feed that wait for events', () => places.waiting);
}
