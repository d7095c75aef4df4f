import { UpstreamFault } from './upstream-failure.ts';

/** A character of a member's name as JSON may write it. Readers in Go ignore its case. */
function characterPattern(character: string): string {
  const codes = [character.toLowerCase(), character.toUpperCase()].map((each) => each.charCodeAt(0).toString(16).padStart(4, '0'));
  return `(?:${character}|${[...new Set(codes)].map((code) => `\\\\u${code}`).join('|')})`;
}

/** Finds a member of JSON text by its name, with a value that is a text. A quote after a backslash is inside a text. */
function memberPattern(name: string): RegExp {
  const key = [...name].map(characterPattern).join('');
  return new RegExp(`(?<!\\\\)("${key}"[ \\t\\n\\r]*:[ \\t\\n\\r]*)"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"`, 'gi');
}

/**
 * Makes null of a member of a JSON answer that names the upstream's address: the client would go on there, with the caller's key. All other
 * bytes stay. Throws UpstreamFault for an answer in a content encoding, which hides what is in it: the upstream was asked for none.
 */
export function hideAddress(body: Buffer, member: string, encoding = 'identity'): Buffer {
  if (body.length > 0 && encoding.trim().toLowerCase() !== 'identity') {
    throw new UpstreamFault('UPSTREAM_UNUSABLE', "The upstream's answer has a content encoding, though it was asked for none");
  }
  // One character is one byte, so that bytes that are not UTF-8 stay, too.
  return Buffer.from(body.toString('latin1').replace(memberPattern(member), '$1null'), 'latin1');
}
