import type { JsonSchema } from '../operation.ts';
import { COUNT, exactly } from './object-schema.ts';
import { shieldEnvelope } from './shield-envelope.ts';

/** What is counted of each day, by the names that a day gives it. */
export const GUARDIAN_COUNTERS = [
  'blockedRequests',
  'loggedRequests',
  'rateLimited',
  'requestsInspected',
  'failedRequestValidation',
  'failedAuthenticationEnforcement',
] as const;

export type GuardianCounter = (typeof GUARDIAN_COUNTERS)[number];

/** What the sum of all days is called: `totalBlockedRequests`. */
export function totalName(counter: GuardianCounter): string {
  return `total${counter.charAt(0).toUpperCase()}${counter.slice(1)}`;
}

function countersBy(nameOf: (counter: GuardianCounter) => string): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(GUARDIAN_COUNTERS.map((counter) => [nameOf(counter), COUNT]));
}

export const API_GUARDIAN_METRICS = shieldEnvelope(
  exactly({
    ...countersBy(totalName),
    overviewPastTwentyEightDays: {
      type: 'object',
      description: 'From each UTC day, such as 2026-01-31, to its counters',
      propertyNames: { pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
      additionalProperties: exactly(countersBy((counter) => counter)),
    },
  }),
);
