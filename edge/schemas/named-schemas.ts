import type { JsonSchema } from '../operation.ts';
import { ACCESS_LIST } from './access-list.ts';
import { API_GUARDIAN, API_GUARDIAN_INPUT } from './api-guardian.ts';
import { API_GUARDIAN_METRICS } from './api-guardian-metrics.ts';
import { OVERVIEW, STATISTICS } from './application.ts';
import { BOT_ACTION_INPUT, BOT_CATEGORIZATION } from './bot-categorization.ts';
import { DNS_ZONE, DNS_ZONE_INPUT } from './dns-zone.ts';
import { ERROR_SCHEMAS } from './error-schemas.ts';
import { NODES } from './nodes.ts';
import { PIPELINE, PIPELINE_INPUT } from './pipeline.ts';
import { HOSTNAME_INPUT, HTTP_CHALLENGE } from './pull-zone.ts';
import { SCRIPT_VARIABLE, SCRIPT_VARIABLE_INPUT } from './script-variable.ts';

/** What the operations take and answer, by the names under which the interface's description speaks of them. */
export const NAMED_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ScriptVariableRequest: SCRIPT_VARIABLE_INPUT,
  ScriptVariable: SCRIPT_VARIABLE,
  ApiGuardianRequest: API_GUARDIAN_INPUT,
  ApiGuardianResponse: API_GUARDIAN,
  DnsZoneRequest: DNS_ZONE_INPUT,
  DnsZone: DNS_ZONE,
  BotActionRequest: BOT_ACTION_INPUT,
  BotCategorizationResponse: BOT_CATEGORIZATION,
  HostnameRequest: HOSTNAME_INPUT,
  HttpChallenge: HTTP_CHALLENGE,
  ApplicationStatistics: STATISTICS,
  ApplicationOverview: OVERVIEW,
  NodeList: NODES,
  AccessListResponse: ACCESS_LIST,
  ApiGuardianMetricsResponse: API_GUARDIAN_METRICS,
  PipelineRequest: PIPELINE_INPUT,
  PipelineResponse: PIPELINE,
  EdgeProblemDetails: ERROR_SCHEMAS.problem,
  LegacyError: ERROR_SCHEMAS.legacy,
  ProblemWithErrors: ERROR_SCHEMAS['errors-list'],
  StatusObject: ERROR_SCHEMAS.status,
  PipelineError: ERROR_SCHEMAS.pipeline,
};
