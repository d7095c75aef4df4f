import type { FastifyInstance } from 'fastify';
import { explainBlock } from '../../ingest/kafka/blocked-partition.ts';
import { explainTransaction } from '../../ingest/kafka/hanging-transaction.ts';
import type { KafkaSource } from '../../ingest/kafka/kafka-source.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { Caller } from '../auth/access.ts';
import type { FairQueue } from '../scheduling/fair-queue.ts';

interface HealthRoutesOptions {
  readonly store: EventStore;
  readonly kafka: KafkaSource | null;
  readonly queue: Pick<FairQueue, 'leftOver'>;
  /** Says for people what they have to look at in the control plane. */
  readonly planeNotes: () => readonly string[];
  /** Says for people what they have to look at in alerts. */
  readonly alertNotes: () => readonly string[];
  readonly isStopping: () => boolean;
}

interface Reason {
  /** The kind of the reason, which tells nothing of where the program runs. */
  readonly code: string;
  /** The reason in words for people; it may hold paths and the addresses of brokers. */
  readonly text: string;
}

/** So many reads that go on after their interrupt are worth a look. */
const NOTED_LEFT_OVER = 2;

/** What people have to look at although the program serves and takes in events. */
function notes({ store, kafka, queue, planeNotes, alertNotes }: HealthRoutesOptions): readonly Reason[] {
  const [hanging, blocked] = [kafka?.hanging() ?? [], kafka?.blocked() ?? []];
  return [
    ...store.notes().map((note) => ({ code: 'store.note', text: `store: ${note}` })),
    ...planeNotes().map((note) => ({ code: 'control_plane.note', text: `control plane: ${note}` })),
    ...alertNotes().map((note) => ({ code: 'alerts.note', text: `alerts: ${note}` })),
    ...(queue.leftOver < NOTED_LEFT_OVER
      ? []
      : [{ code: 'reads.left_over', text: `${queue.leftOver} reads go on after they were interrupted` }]),
    ...hanging.map((transaction) => ({ code: 'kafka.transaction_hangs', text: `kafka: ${explainTransaction(transaction)}` })),
    ...blocked.map((place) => ({ code: 'kafka.blocked', text: `kafka: ${explainBlock(place)}` })),
  ];
}

async function reasonsNotReady({ store, kafka, isStopping }: HealthRoutesOptions): Promise<readonly Reason[]> {
  if (isStopping()) return [{ code: 'program.stopping', text: 'the program is stopping' }];
  const ofStore = await store.reasonsNotReady();
  const ofKafka = kafka?.reasonsNotReady() ?? [];
  return [
    ...ofStore.map((reason) => ({ code: 'store.not_ready', text: `store: ${reason}` })),
    ...ofKafka.map((reason) => ({ code: 'kafka.not_ready', text: `kafka: ${reason}` })),
  ];
}

/** The reasons as a caller may know them: in words for whoever watches the program, and else a code of each kind. */
function reasonsFor(caller: Caller | null, reasons: readonly Reason[]): readonly string[] {
  const knowsWords = caller !== null && (caller.hasScope('metrics') || caller.hasScope('admin'));
  return knowsWords ? reasons.map(({ text }) => text) : [...new Set(reasons.map(({ code }) => code))];
}

/** `/healthz`: the process answers. `/readyz`: the program also serves and takes in events; otherwise 503. Reasons stand beside both. */
export async function healthRoutes(app: FastifyInstance, options: HealthRoutesOptions): Promise<void> {
  app.get('/healthz', { config: { needsKey: 'never', whileStopping: true } }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'alive' }),
  );
  app.get('/readyz', { config: { needsKey: 'optional', whileStopping: true } }, async (request, reply) => {
    const reasons = await reasonsNotReady(options);
    const ready = reasons.length === 0;
    if (!ready) request.log.info({ reasons: reasons.map(({ text }) => text) }, 'not ready');
    return reply
      .code(ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status: ready ? 'ready' : 'not ready', reasons: reasonsFor(request.caller, [...reasons, ...notes(options)]) });
  });
}
