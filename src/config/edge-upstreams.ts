import type { ProxiedRoute } from '../../edge/operation.ts';
import type { UpstreamTarget } from '../../edge/proxy-upstream.ts';
import type { Config } from './config.ts';
import type { UpstreamChoice } from './edge-config-value.ts';

export type UpstreamConfig = Pick<
  Config,
  'upstreamUrl' | 'upstreamOverrides' | 'upstreamAccessKey' | 'serviceDatabaseUrl' | 'serviceDatabaseAuthToken'
>;

/** How to reach the local control plane. */
export interface LocalPlane {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Throws EdgeError 401 unless an `Authorization` header has a token of the local database; absent: the plane itself is left to judge. */
  readonly requireDatabaseToken?: (authorization: string | undefined) => void;
}

function managementChoice({ upstreamUrl, upstreamOverrides }: UpstreamConfig, id: number): UpstreamChoice {
  return upstreamOverrides?.get(id) ?? (upstreamUrl === null ? { kind: 'local' } : { kind: 'url', url: upstreamUrl });
}

function managementTarget(config: UpstreamConfig, id: number, local: LocalPlane): UpstreamTarget {
  const choice = managementChoice(config, id);
  // The plane knows its facade by the secret; whose key it was is settled before.
  if (choice.kind === 'local') return { ...local, passes: [] };
  const { upstreamAccessKey } = config;
  return upstreamAccessKey === null
    ? { url: choice.url, headers: {}, passes: ['accesskey'] }
    : { url: choice.url, headers: { accesskey: upstreamAccessKey }, passes: [] };
}

function databaseTarget({ serviceDatabaseUrl, serviceDatabaseAuthToken }: UpstreamConfig, local: LocalPlane): UpstreamTarget {
  if (serviceDatabaseUrl === null) return { ...local, passes: ['authorization'] };
  return serviceDatabaseAuthToken === null
    ? { url: serviceDatabaseUrl, headers: {}, passes: ['authorization'] }
    : { url: serviceDatabaseUrl, headers: { authorization: `Bearer ${serviceDatabaseAuthToken}` }, passes: [] };
}

/** Who answers an operation or a call beside one, by the configuration: an upstream that is set for it, or the local control plane. */
export function upstreamFor(config: UpstreamConfig, { id, key, upstream }: ProxiedRoute, local: LocalPlane): UpstreamTarget {
  if (upstream === 'local') return { ...local, passes: [] };
  const target = upstream === 'database' ? databaseTarget(config, local) : managementTarget(config, id, local);
  // What everyone may ask is asked in nobody's name; the plane's own secret says only who hands it on.
  return key === 'none' && target.url !== local.url ? { url: target.url, headers: {}, passes: [] } : target;
}
