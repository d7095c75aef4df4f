import { COUNT, exactly, ID, numbered, TEXT, TIME } from './object-schema.ts';
import { shieldEnvelope } from './shield-envelope.ts';

export const ACCESS_LIST_TYPES = { IP: 0, CIDR: 1, ASN: 2, Country: 3, Organization: 4, JA4: 5 } as const;

export const ACCESS_LIST = shieldEnvelope(
  exactly({
    id: ID,
    name: TEXT,
    description: { ...TEXT, description: 'Empty where there is none' },
    type: numbered(ACCESS_LIST_TYPES),
    content: { ...TEXT, description: 'One entry a line' },
    checksum: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the content' },
    entryCount: { ...COUNT, description: 'Lines with something on them' },
    lastModified: TIME,
  }),
);
