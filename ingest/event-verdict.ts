/** What became of one event. A rejected one is a dead letter; `reason` names what is wrong, its value and what is allowed. */
export type EventVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'rejected'; readonly reason: string };
