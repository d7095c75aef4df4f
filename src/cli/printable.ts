/**
 * Characters that act on a terminal instead of being shown: controls (C0, DEL, C1), line and paragraph separators, and those that change
 * the direction of what follows.
 */
const ACTING = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A text of others (a server's answer, a file's name) on one line of a terminal: what would act on the terminal is shown as an escape such
 * as `\u001b`.
 */
export function printable(text: string): string {
  return text.replaceAll(ACTING, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
