import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fastify, { type FastifyInstance } from 'fastify';
import { migrate, openState } from '../../../../edge/local/control-plane-state.ts';
import type { LocalContext, LocalResource } from '../../../../edge/local/local-resource.ts';
import { operationInput } from '../../../../edge/operation-input.ts';
import { COMPANIONS, OPERATIONS, operation } from '../../../../edge/operations/operations.ts';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the operation's schema has been held against it
  readonly body: any;
}

/** Resources on a state of their own, without the proxy before them. Their input is checked by the operation table. */
export interface ResourcePlane {
  readonly app: FastifyInstance;
  readonly db: DatabaseSync;
  readonly dataDir: string;
  /** Unix ms; to be moved by tests. */
  nowMs: number;
  /** Calls an operation; its answer has been validated against the operation's response schema. */
  call(number: number, params: Readonly<Record<string, string | number>>, body: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });

function checkAnswer(number: number, status: number, body: string): unknown {
  const schema = operation(number).responses[status];
  if (schema === undefined) throw new Error(`operation ${number} does not have the status ${status}: ${body}`);
  if (schema === null) {
    if (body !== '') throw new Error(`operation ${number} has no body with ${status}: ${body}`);
    return null;
  }
  const value: unknown = JSON.parse(body);
  if (!ajv.validate(schema, value)) throw new Error(`operation ${number}, ${status}: ${ajv.errorsText()} in ${body.slice(0, 500)}`);
  return value;
}

const BODY_WORKER = new URL('../../../../edge/local/local-body-worker.ts', import.meta.url);

export async function startPlane(resources: readonly LocalResource[], dataDir?: string): Promise<ResourcePlane> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'shieldlog-resource-'));
  const db = openState(folder);
  const app = fastify({ bodyLimit: 8 * 1024 * 1024 });
  const plane: ResourcePlane = {
    app,
    db,
    dataDir: folder,
    nowMs: Date.UTC(2026, 0, 31, 12),
    async call(number, params, body) {
      const { method, path } = operation(number);
      const url = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
      const response = await app.inject({ method, url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
      return { status: response.statusCode, body: checkAnswer(number, response.statusCode, response.body) };
    },
    async stop() {
      await app.close();
      db.close();
      if (dataDir === undefined) rmSync(folder, { recursive: true });
    },
  };
  const logger = { info() {}, warn() {}, error() {} };
  const program = { startedAtMs: 0, memoryLimitBytes: 1, minutes: () => [] };
  const context: LocalContext = {
    db,
    now: () => plane.nowMs,
    logger,
    program,
    guardianCounts: () => Promise.resolve([]),
    dataDir: folder,
  };
  await app.register(operationInput, { operations: [...OPERATIONS, ...COMPANIONS], bodyWorker: BODY_WORKER });
  for (const resource of resources) {
    migrate(db, resource, () => resource.seed?.(context));
    resource.routes(app, context);
  }
  await app.ready();
  return plane;
}
