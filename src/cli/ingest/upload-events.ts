import type { SecureContext } from 'node:tls';
import type { Encoding } from '../../../ingest/upload/decompress.ts';
import type { IntakeReport } from '../../../ingest/upload/intake-report.ts';
import { shownValue } from '../../../query/request/request-errors.ts';
import { createHttpClient, isRetriable, refusedAnswer } from '../../sinks/http-exchange.ts';
import { DeliveryError } from '../../sinks/sink.ts';
import { addressIn, whereToAsk } from '../server-flags.ts';

/**
 * Why an upload failed. `unreadable`: the events could not be read. `refused`: the program refuses these events. `unavailable`: it cannot
 * be reached, or not take them now. `denied`: it takes none of this caller, or is something else.
 */
type UploadFault = 'unreadable' | 'refused' | 'unavailable' | 'denied';

/** An upload failed; the message is one line that says why. Sending the events again is safe. */
export class UploadFailed extends DeliveryError {
  readonly fault: UploadFault;

  constructor(fault: UploadFault, message: string, options: ConstructorParameters<typeof DeliveryError>[2] = {}) {
    super(fault === 'unavailable' ? 'unavailable' : 'refused', message, options);
    this.fault = fault;
  }
}

/** What is said of records of another product: the name of a mapping that the program has, and the zone of all of them; null: none. */
export interface RecordsSent {
  readonly mapping: string;
  readonly zone: number | null;
}

/** The program that events are sent to. */
export interface UploadTarget {
  /** Its base URL. */
  readonly url: URL;
  /** Printable ASCII. */
  readonly accessKey: string | null;
  /** The authorities that it is trusted by; null: the usual ones. */
  readonly trust: SecureContext | null;
}

export interface Upload extends UploadTarget {
  readonly encoding: Encoding;
  readonly source: 'http' | 'file';
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** How records of another product become events; absent or null: the body has events. */
  readonly records?: RecordsSent | null;
  /** Every line is an event, also one with a bracket in front, which otherwise begins an array. */
  readonly areLines?: boolean;
  /** How long the program may be silent, and take nothing; absent: for any time. */
  readonly silenceMs?: number;
  /** Ends the upload, which then rejects with its reason. */
  readonly signal?: AbortSignal;
}

function headersOf({ accessKey, encoding, areLines }: Upload): Record<string, string> {
  return {
    'content-type': areLines === true ? 'application/x-ndjson' : 'application/json',
    accept: 'application/json',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    ...(accessKey === null ? {} : { accesskey: accessKey }),
  };
}

function addressOf({ url, source, areLines, records = null }: Upload): URL {
  const query = new URLSearchParams({ source });
  if (areLines === true) query.set('form', 'lines');
  if (records !== null) query.set('mapping', records.mapping);
  if (records !== null && records.zone !== null) query.set('zone', String(records.zone));
  return addressIn(url, `/ingest/events?${query}`);
}

const AGAIN = 'sending the same events again stores nothing twice';

/** The program's answer is always shorter, because it lists only the first rejected events. */
export const MAX_UPLOAD_ANSWER_BYTES = 16 * 1024 * 1024;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function isRejection(value: unknown): boolean {
  const { index, line, reason } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return isCount(index) && isCount(line) && typeof reason === 'string';
}

/** Parses the answer to an accepted upload. Throws UploadFailed for any other text. */
function intakeReportIn(body: string): IntakeReport {
  try {
    const answer = JSON.parse(body) as IntakeReport | null;
    // A program of an earlier version repairs nothing, and does not say so.
    const { accepted, duplicates, expired, repaired = 0, rejected, rejectedCount, leftOut = 0 } = answer ?? ({} as Partial<IntakeReport>);
    const areCounts = [accepted, duplicates ?? 0, expired, repaired, rejectedCount, leftOut].every(isCount) && duplicates !== undefined;
    if (areCounts && Array.isArray(rejected) && rejected.every(isRejection)) {
      return { ...(answer as IntakeReport), repaired };
    }
  } catch {
    // Thrown below, as for JSON of another shape.
  }
  throw new UploadFailed('denied', `what answered 202 is no shieldlog: its answer is ${shownValue(body.slice(0, 200))}; ${AGAIN}`);
}

/** What is wrong with the events themselves: they cannot be read to their end, or are of a type that is not taken. */
const REFUSED: ReadonlySet<number> = new Set([400, 413]);

function faultOfStatus(status: number): UploadFault {
  if (REFUSED.has(status)) return 'refused';
  return isRetriable(status) ? 'unavailable' : 'denied';
}

/**
 * Sends the body in bounded memory, and resolves when the program has stored the events durably. Throws UploadFailed if the program cannot
 * be reached or refuses, or the body cannot be read.
 */
export async function uploadEvents(upload: Upload): Promise<IntakeReport> {
  const { url, trust, silenceMs = 0, signal = new AbortController().signal } = upload;
  const client = createHttpClient(trust);
  const sent = { url: addressOf(upload), headers: headersOf(upload), body: readable(upload.body), signal, silenceMs };
  try {
    const answer = await client.exchange({ method: 'POST', ...sent, maxAnswerBytes: MAX_UPLOAD_ANSWER_BYTES });
    if (answer.status === 202) return intakeReportIn(answer.body.toString());
    const { message, retryAfterMs } = refusedAnswer('the program', answer, Date.now());
    throw new UploadFailed(faultOfStatus(answer.status), message, { retryAfterMs });
  } catch (error) {
    if (!(error instanceof DeliveryError) || error instanceof UploadFailed) throw error;
    const isOfProgram = error.code !== 'oversized';
    const message = isOfProgram ? error.message : `what answered is no shieldlog: ${error.message}`;
    throw new UploadFailed(isOfProgram ? 'unavailable' : 'denied', `${message}; ${whereToAsk(error, url) ?? AGAIN}`, { cause: error });
  } finally {
    client.close();
  }
}

async function* readable(body: Upload['body']): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new UploadFailed('unreadable', `the events cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
