import { COUNT, exactly } from './object-schema.ts';
import { shieldEnvelope } from './shield-envelope.ts';

const COUNTERS = {
  totalBlockedRequests: COUNT,
  totalLoggedRequests: COUNT,
  totalRateLimited: COUNT,
  totalRequestsInspected: COUNT,
  totalFailedRequestValidation: COUNT,
  totalFailedAuthenticationEnforcement: COUNT,
} as const;

export const API_GUARDIAN_METRICS = shieldEnvelope(
  exactly({
    ...COUNTERS,
    overviewPastTwentyEightDays: {
      type: 'object',
      description: 'From each UTC day, such as 2026-01-31, to the same six counters',
      propertyNames: { pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
      additionalProperties: exactly(COUNTERS),
    },
  }),
);
