import { request } from 'node:http';

/** What was found where the challenge's file should be; `reason` is shown to the caller and holds no address. */
export type ChallengeAnswer =
  | { readonly kind: 'content'; readonly content: string }
  | { readonly kind: 'nothing'; readonly reason: string };

/** Reads the file at `filePath` as `hostname` serves it. Rejects for defects only: an unreachable host is an answer. */
export type ChallengeResolver = (hostname: string, filePath: string) => Promise<ChallengeAnswer>;

/** A key authorization has 87 characters. */
export const MAX_CONTENT_BYTES = 1_024;

export interface HttpResolverOptions {
  /** Where every hostname is looked up, such as `http://127.0.0.1:8081`: the names themselves are never resolved. */
  readonly url: string;
  /** From the start to the last byte. */
  readonly deadlineMs: number;
}

const nothing = (reason: string): ChallengeAnswer => ({ kind: 'nothing', reason });

/**
 * Asks one configured web server for every hostname, with the hostname in `Host`, as HTTP-01 does over port 80. Redirects are not followed.
 * Throws where the address is not an http one.
 */
export function httpChallengeResolver({ url, deadlineMs }: HttpResolverOptions): ChallengeResolver {
  const base = URL.parse(url);
  if (base?.protocol !== 'http:') throw new TypeError(`The challenge resolver's address is "${url}"; allowed: an http:// address`);
  return (hostname, filePath) =>
    new Promise((resolve) => {
      const signal = AbortSignal.timeout(deadlineMs);
      const asked = request(new URL(filePath, base), { headers: { host: hostname }, agent: false, signal }, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          chunks.push(chunk);
          if (bytes <= MAX_CONTENT_BYTES) return;
          resolve(nothing(`the file has more than ${MAX_CONTENT_BYTES} bytes`));
          asked.destroy();
        });
        response.on('end', () => {
          if (response.statusCode === 200) resolve({ kind: 'content', content: Buffer.concat(chunks).toString('utf8') });
          else resolve(nothing(`it was answered with the status ${response.statusCode}`));
        });
        response.on('error', () => resolve(nothing('the answer broke off')));
      });
      asked.on('error', () =>
        resolve(nothing(signal.aborted ? `there was no whole answer within ${deadlineMs} ms` : 'there was no answer')),
      );
      asked.end();
    });
}
