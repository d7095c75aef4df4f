/** A request of the page that a person runs in a shell. */
export interface ShellRequest {
  /** The whole address. */
  readonly url: string;
  /** Absent: it is a GET. */
  readonly body?: object;
  /** Absent: whatever curl takes. */
  readonly accept?: string;
  /** The page sends an access key. It is never written out: the shell takes it from `SHIELDLOG_ACCESS_KEY`. */
  readonly needsKey: boolean;
  /** The answer has no end, so curl writes what has come at once. */
  readonly isStream?: boolean;
}

/**
 * The request as a command of curl 7.82 or later for any POSIX shell. Every text is one word of the shell whatever it holds. `-f` is left
 * out, so that the program's own message is seen.
 */
export function curlCommand({ url, body, accept, needsKey, isStream = false }: ShellRequest): string {
  const words = [
    `curl ${isStream ? '-sSN' : '-sS'} ${shellWord(url)}`,
    ...(needsKey ? ['-H "AccessKey: $SHIELDLOG_ACCESS_KEY"'] : []),
    ...(accept === undefined ? [] : [`-H ${shellWord(`accept: ${accept}`)}`]),
    ...(body === undefined ? [] : [`--json ${shellWord(JSON.stringify(body))}`]),
  ];
  return words.join(' \\\n  ');
}

/** Between single quotes a shell takes everything for itself but a single quote, which is written outside of them. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
