import { openTokenStore } from '../../../../edge/local/database/access-tokens.ts';
import { startWhole } from '../../../src/management/running-program.ts';

/** A request of a foreign client with its answer, as `record-client.ts` writes it. */
export interface RecordedRequest {
  readonly path: string;
  /** Whether it had the token of the database, or another one. */
  readonly isAuthorized: boolean;
  readonly contentType: string | null;
  /** `BATON-n` stands for the baton of answer n. */
  readonly body: string;
  readonly status: number;
  readonly answer: string;
}

/** A text with names instead of the batons of earlier answers, and without times. */
export function withoutBatons(text: string, batons: readonly (string | null)[]): string {
  const named = batons.reduce<string>((left, baton, index) => (baton === null ? left : left.replaceAll(baton, `BATON-${index}`)), text);
  return named.replaceAll(/"query_duration_ms":[\d.]+/g, '"query_duration_ms":0');
}

/** A text with the batons of this run instead of their names. */
export function withBatons(text: string, batons: readonly (string | null)[]): string {
  return text.replaceAll(/BATON-(\d+)/g, (_name, index: string) => batons[Number(index)] ?? 'no baton');
}

/** The whole program, as foreign clients meet it, and the token with which they may do everything. */
export async function startForClients(): Promise<{ readonly url: string; readonly full: string; stop(): Promise<void> }> {
  const program = await startWhole();
  const tokens = openTokenStore(program.dataDir, Date.now);
  const [full] = tokens.generate();
  tokens.close();
  return { url: program.url, full: full?.token ?? '', stop: async () => program[Symbol.asyncDispose]() };
}
