export interface LogHeader {
  readonly name: string;
  readonly value: string;
}

/** Texts that the logs of the platform have beside the fields of the event. A log may be any JSON, so each may be absent. */
export interface LogDetails {
  readonly message: string | undefined;
  readonly remoteIp: string | undefined;
  readonly headers: readonly LogHeader[];
  /** The part of the request that the rule matched, such as `ARGS:id`. */
  readonly matchKey: string | undefined;
  /** The text in that part. */
  readonly matchValue: string | undefined;
}

const NO_DETAILS: LogDetails = { message: undefined, remoteIp: undefined, headers: [], matchKey: undefined, matchValue: undefined };

/**
 * Reads `Message`, `RemoteIp`, `Headers[{Name, Value}]` and `TriggerMatch{Key, Value}`. Takes texts only, because JSON.parse may round a
 * number, and skips members of another shape.
 */
export function logDetails(log: unknown): LogDetails {
  if (!isObject(log)) {
    return NO_DETAILS;
  }
  const match = log['TriggerMatch'];
  const trigger = isObject(match) ? match : {};
  return {
    message: textOf(log['Message']),
    remoteIp: textOf(log['RemoteIp']),
    headers: headersOf(log['Headers']),
    matchKey: textOf(trigger['Key']),
    matchValue: textOf(trigger['Value']),
  };
}

/** The value of the first header with this name, in any case. `name` is in lower case. */
export function headerValue(headers: readonly LogHeader[], name: string): string | undefined {
  for (const header of headers) {
    if (header.name.length === name.length && header.name.toLowerCase() === name) {
      return header.value;
    }
  }
  return undefined;
}

function headersOf(value: unknown): readonly LogHeader[] {
  const headers: LogHeader[] = [];
  if (Array.isArray(value)) {
    for (const entry of value) {
      if (isObject(entry) && typeof entry['Name'] === 'string' && typeof entry['Value'] === 'string') {
        headers.push({ name: entry['Name'], value: entry['Value'] });
      }
    }
  }
  return headers;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
