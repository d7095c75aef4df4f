import { exactly, input, TEXT } from './object-schema.ts';

export const HOSTNAME_INPUT = input({ Hostname: { type: 'string', minLength: 1 } }, ['Hostname']);

/** The file that shows to a certificate authority who serves the hostname (HTTP-01). */
export const HTTP_CHALLENGE = exactly({ FilePath: TEXT, FileContent: TEXT });
