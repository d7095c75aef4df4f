import { COUNT, exactly, ID, NULLABLE_TEXT, TEXT, TIME } from './object-schema.ts';
import { shieldEnvelope } from './shield-envelope.ts';

export const ACCESS_LIST = shieldEnvelope(
  exactly({
    id: ID,
    name: TEXT,
    description: NULLABLE_TEXT,
    type: { type: 'integer', enum: [0, 1, 2, 3, 4, 5], description: '0 IP, 1 CIDR, 2 ASN, 3 Country, 4 Organization, 5 JA4' },
    content: { ...TEXT, description: 'One entry a line' },
    checksum: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the content' },
    entryCount: { ...COUNT, description: 'Lines with something on them' },
    lastModified: TIME,
  }),
);
