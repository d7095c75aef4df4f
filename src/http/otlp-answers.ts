import { PbfWriter } from 'pbf';

/** The types of a request of OTLP over HTTP, and of its answer. */
export const OTLP_TYPES = ['application/x-protobuf', 'application/json'] as const;
export type OtlpType = (typeof OTLP_TYPES)[number];

/** Numbers of google.rpc.Code by the status of an answer. */
const RPC_CODES: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 404: 5, 405: 12, 408: 4, 413: 8, 415: 3, 503: 14 };
const UNKNOWN = 2;

/** A google.rpc.Status. */
export function otlpStatus(type: OtlpType, status: number, message: string): string | Buffer {
  const code = RPC_CODES[status] ?? UNKNOWN;
  if (type === 'application/json') return JSON.stringify({ code, message });
  const writer = new PbfWriter();
  writer.writeVarintField(1, code);
  writeText(2, message, writer);
  return Buffer.from(writer.finish());
}

/** An ExportLogsServiceResponse, with a partial success where so many log records became no events. */
export function otlpSuccess(type: OtlpType, rejectedLogRecords: number, errorMessage = ''): string | Buffer {
  if (type === 'application/json') {
    // Integers of 64 bits are texts there.
    return JSON.stringify(
      rejectedLogRecords === 0 ? {} : { partialSuccess: { rejectedLogRecords: String(rejectedLogRecords), errorMessage } },
    );
  }
  const writer = new PbfWriter();
  if (rejectedLogRecords > 0) {
    writer.writeMessage(
      1,
      (rejected: number, partial) => {
        partial.writeVarintField(1, rejected);
        writeText(2, errorMessage, partial);
      },
      rejectedLogRecords,
    );
  }
  return Buffer.from(writer.finish());
}

/** The writer's own way makes other letters of those beyond U+1FFFF. */
function writeText(field: number, text: string, writer: PbfWriter): void {
  writer.writeBytesField(field, Buffer.from(text));
}
