const BYTES_PER_UNIT = 3;

/**
 * At most `limit` bytes of a text in UTF-8, cut between two characters. The standard counts characters without saying which; whoever counts
 * otherwise counts fewer.
 */
function cutToBytes(text: string, limit: number): string {
  // No unit of UTF-16 takes more than three bytes.
  if (text.length * BYTES_PER_UNIT <= limit || Buffer.byteLength(text) <= limit) {
    return text;
  }
  const bytes = Buffer.from(text.slice(0, limit));
  let end = Math.min(limit, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) {
    end -= 1;
  }
  return bytes.toString('utf8', 0, end);
}

/** Characters that end a line somewhere or that a terminal acts upon, tab, line feed and carriage return not among them. */
const CONTROLS = /[^\t\n\r -~\u00a0-\u2027\u202a-\uffff]/g;
const HEADER_SPECIAL = /[\\|]/g;
const EXTENSION_SPECIAL = /[\\=\n\r]/g;
const PLAIN = /^[ !-<>-[\]-~]*$/;

const EXTENSION_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '=': '\\=', '\n': '\\n', '\r': '\\r' };

/** A field of the header: a backslash goes before `|` and `\`; line ends, for which a header has no escape, become blanks. */
export function headerText(text: string, limit: number): string {
  return cutToBytes(text, limit)
    .replace(HEADER_SPECIAL, '\\$&')
    .replace(/[\n\r]/g, ' ')
    .replace(CONTROLS, ' ');
}

/** A value of the extension: `=` and `\` get a backslash, line ends become `\n` and `\r`. */
export function extensionText(text: string, limit: number): string {
  const cut = cutToBytes(text, limit);
  return PLAIN.test(cut) ? cut : cut.replace(EXTENSION_SPECIAL, (found) => EXTENSION_ESCAPES[found] ?? found).replace(CONTROLS, ' ');
}
