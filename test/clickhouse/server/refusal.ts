/** What a server refuses a statement with. Its message is without the number, the name and the version. */
export interface Refusal {
  readonly code: number;
  readonly name: string;
  readonly message: string;
}

/** The codes of each status, as in src/Server/HTTP/exceptionCodeToHTTPStatus.cpp of the server. All others are 500. */
const STATUSES: Readonly<Record<number, readonly number[]>> = {
  400: [36, 427, 6, 25, 26, 38, 41, 72, 441, 675, 676, 27, 376, 15, 44, 37, 123, 8, 167, 168, 223, 62, 117, 53, 321],
  401: [194],
  403: [192, 193, 516, 512, 497],
  404: [60, 46, 47, 50, 56, 81, 115, 152, 63, 73, 336, 78, 511],
  408: [159],
  411: [381],
  413: [229],
  415: [779],
  501: [48],
  503: [209, 76, 439],
};

/** The HTTP status of an error's code. */
export function statusOf(code: number): number {
  const found = Object.entries(STATUSES).find(([, codes]) => codes.includes(code));
  return found === undefined ? 500 : Number(found[0]);
}

/** A refusal as a server words it. */
export function refusalText({ code, name, message }: Refusal): string {
  return `Code: ${code}. DB::Exception: ${message}. (${name}) (version 26.7.1.1 (official build))\n`;
}

/**
 * What a server ends an answer with that fails after its first bytes. `tag` is that of its header X-ClickHouse-Exception-Tag; the number
 * counts the bytes of the message with its line break.
 */
export function refusalTrailer(refusal: Refusal, tag: string): string {
  const message = refusalText(refusal);
  return `\r\n__exception__\r\n${tag}\r\n${message}${Buffer.byteLength(message)} ${tag}\r\n__exception__\r\n`;
}
