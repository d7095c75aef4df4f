/** RFC 5424, table 1, by number. */
export const FACILITIES = [
  ...[
    'kern',
    'user',
    'mail',
    'daemon',
    'auth',
    'syslog',
    'lpr',
    'news',
    'uucp',
    'cron',
    'authpriv',
    'ftp',
    'ntp',
    'audit',
    'alert',
    'clock',
  ],
  ...['local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7'],
] as const;
/** RFC 5424, table 2, by number. */
export const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const;

export type Facility = (typeof FACILITIES)[number];
export type Severity = (typeof SEVERITIES)[number];

/** The header that every message shares. Names are printable ASCII without blanks. */
export interface SyslogHeader {
  readonly facility: Facility;
  readonly severity: Severity;
  readonly hostname: string;
  /** At most 48 characters. */
  readonly appName: string;
  readonly processId: string;
  /** At most 32 characters. */
  readonly messageId: string;
}

/** Years beyond these cannot be written in RFC 3339. */
const [MIN_MS, MAX_MS] = [Date.parse('0000-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/**
 * One message of RFC 5424, framed by octet counting (RFC 6587, 3.4.1). No byte order mark, which receivers show as rubbish: without it a
 * message is still any text. `timeMs` null: no time is known.
 */
export function syslogFrame(header: SyslogHeader, timeMs: number | null, line: string): Buffer {
  const priority = FACILITIES.indexOf(header.facility) * 8 + SEVERITIES.indexOf(header.severity);
  const time = timeMs === null || timeMs < MIN_MS || timeMs > MAX_MS ? '-' : new Date(timeMs).toISOString();
  const { hostname, appName, processId, messageId } = header;
  const message = Buffer.from(`<${priority}>1 ${time} ${hostname} ${appName} ${processId} ${messageId} - ${line}`);
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}
