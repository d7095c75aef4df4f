/**
 * What became of one event. A rejected one is a dead letter: `reason` names what is wrong, its value and what is allowed; `zoneId` is the
 * zone that the event would be in, null where none could be read, so that it can never become an event of one.
 */
export type EventVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'rejected'; readonly reason: string; readonly zoneId: number | null };
