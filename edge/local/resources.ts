import { accessLists } from './access-lists.ts';
import { apiGuardian } from './api-guardian/api-guardian.ts';
import { apiGuardianMetrics } from './api-guardian-metrics.ts';
import { applications } from './applications/applications.ts';
import { botCategorization } from './bot-categorization.ts';
import type { ChallengeResolver } from './certificates/challenge-resolver.ts';
import { externalCertificates } from './certificates/external-certificates.ts';
import { databaseResource } from './database/database-resource.ts';
import { dnsZones } from './dns/dns-zones.ts';
import type { LocalResource } from './local-resource.ts';
import { nodes } from './nodes.ts';
import { pullZoneHostnames, pullZones } from './pull-zones.ts';
import { scriptVariables } from './script-variables.ts';

export interface LocalResourcesOptions {
  /** Null: the control plane looks for challenges at itself. */
  readonly challengeResolver: ChallengeResolver | null;
}

/** Every resource of the local control plane, in the order in which their tables are made. */
export function localResources({ challengeResolver }: LocalResourcesOptions): readonly LocalResource[] {
  return [
    scriptVariables,
    apiGuardian,
    dnsZones,
    pullZones,
    externalCertificates({ hostnames: pullZoneHostnames, ...(challengeResolver === null ? {} : { resolver: challengeResolver }) }),
    botCategorization,
    accessLists,
    apiGuardianMetrics,
    applications,
    nodes,
    databaseResource,
  ];
}
