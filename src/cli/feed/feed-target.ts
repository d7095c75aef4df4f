import { resolve } from 'node:path';
import { hostNameOf, isLoopbackHost } from '../../config/loopback.ts';
import { UsageError } from '../command.ts';

/** The destination that `--to` names. */
export type FeedTarget =
  | { readonly kind: 'stdout' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'http'; readonly url: URL }
  | { readonly kind: 'syslog'; readonly host: string; readonly port: number; readonly tls: boolean }
  | { readonly kind: 'hec'; readonly url: URL };

export type FeedTargetKind = FeedTarget['kind'];

const TARGET_FORMS =
  'FILE, - (standard output), http(s)://HOST/PATH, syslog+tcp://HOST:PORT, syslog+tls://HOST:PORT, splunk-hec+https://HOST:PORT';

function refuse(text: string, wrong: string): never {
  throw new UsageError(`--to "${text}" is not allowed: ${wrong}`);
}

/** Parses the part after `://` as an http or https URL, because the URLs of other schemes have no host and port. */
function urlOf(text: string, protocol: 'http' | 'https', rest: string): URL {
  const url = URL.canParse(`${protocol}://${rest}`) ? new URL(`${protocol}://${rest}`) : null;
  if (url === null) return refuse(text, `it is not a URL; allowed: ${TARGET_FORMS}`);
  if (url.username !== '' || url.password !== '') refuse('…', 'it has credentials in it; set SHIELDLOG_SINK_TOKEN');
  if (url.hash !== '') refuse(text, 'it has a fragment');
  return url;
}

function syslogTarget(text: string, rest: string, tls: boolean): FeedTarget {
  const url = urlOf(text, 'http', rest);
  // The URL leaves out port 80, which is the default of http.
  const port = url.port === '' && /:80\/?$/.test(rest) ? 80 : Number(url.port);
  if (port === 0) refuse(text, `it has no port; allowed: syslog+${tls ? 'tls' : 'tcp'}://HOST:PORT`);
  if (url.pathname !== '/' || url.search !== '') refuse(text, 'there is no path at a syslog receiver');
  return { kind: 'syslog', host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port, tls };
}

function hecTarget(text: string, rest: string, protocol: 'http' | 'https'): FeedTarget {
  const url = urlOf(text, protocol, rest);
  if (url.search !== '') refuse(text, 'it has a query');
  if (protocol === 'http' && !isLoopback(url)) refuse(text, 'without TLS only loopback is; allowed: splunk-hec+https://HOST:PORT');
  return { kind: 'hec', url };
}

export function isLoopback(url: URL): boolean {
  return isLoopbackHost(hostNameOf(url.host) ?? '');
}

/** Parses `--to`. Throws UsageError. */
export function parseFeedTarget(text: string): FeedTarget {
  if (text === '-') return { kind: 'stdout' };
  if (text === '') refuse(text, `it is empty; allowed: ${TARGET_FORMS}`);
  const [, scheme = null, rest = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/s.exec(text) ?? [];
  switch (scheme?.toLowerCase() ?? null) {
    case null:
      return { kind: 'file', path: resolve(text) };
    case 'http':
      return { kind: 'http', url: urlOf(text, 'http', rest) };
    case 'https':
      return { kind: 'http', url: urlOf(text, 'https', rest) };
    case 'syslog+tcp':
      return syslogTarget(text, rest, false);
    case 'syslog+tls':
      return syslogTarget(text, rest, true);
    case 'splunk-hec+https':
      return hecTarget(text, rest, 'https');
    case 'splunk-hec+http':
      return hecTarget(text, rest, 'http');
    default:
      return refuse(text, `${scheme}:// is not known; allowed: ${TARGET_FORMS}`);
  }
}

/** The target as a text, which is a part of the state's identity. */
export function targetText(target: FeedTarget): string {
  switch (target.kind) {
    case 'stdout':
      return '-';
    case 'file':
      return target.path;
    case 'http':
      return target.url.href;
    case 'syslog':
      return `syslog+${target.tls ? 'tls' : 'tcp'}://${target.host}:${target.port}`;
    case 'hec':
      return `splunk-hec+${target.url.href}`;
  }
}
