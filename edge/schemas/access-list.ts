import { COUNT, exactly, ID, NULLABLE_TEXT, TEXT, TIME } from './object-schema.ts';
import { shieldEnvelope } from './shield-envelope.ts';

export const ACCESS_LIST = shieldEnvelope(
  exactly({
    id: ID,
    name: TEXT,
    description: NULLABLE_TEXT,
    /** 0 IP, 1 CIDR, 2 ASN, 3 Country, 4 Organization, 5 JA4. */
    type: { type: 'integer', enum: [0, 1, 2, 3, 4, 5] },
    /** One entry a line. */
    content: TEXT,
    /** SHA-256 of the content, in lower-case hexadecimal. */
    checksum: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    entryCount: COUNT,
    lastModified: TIME,
  }),
);
