import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { MainThreadTurns } from '../../work/main-thread-turns.ts';
import type { AnswerMemory, Hold } from './answer-memory.ts';
import type { AnswerPieces } from './answer-writes.ts';
import { beginAnswer } from './begin-answer.ts';
import { negotiateAnswer, SEARCH_ANSWER_TYPES } from './content-negotiation.ts';
import { ClientHungUp, Deadline, DeadlinePassed, hangUpSignal } from './interruption.ts';
import type { Metrics } from './metric-registry.ts';
import { asReadProblem } from './problem.ts';

export interface SearchAnswersOptions {
  readonly metrics: Pick<Metrics, 'searchSeconds'>;
  /** How long a search may take in the store. */
  readonly queryDeadlineMs: number;
  /** How long its caller may take for the answer. */
  readonly answerDeadlineMs: number;
  readonly answers: AnswerMemory;
  readonly turns: MainThreadTurns;
}

/** What the metrics of a search call its answer. */
export type SearchOutput = 'rows' | 'groups' | 'explore' | 'zones' | 'rules';

type Outcome = 'answered' | 'deadline' | 'hung_up' | 'failed';

function outcomeOf(error: unknown): Outcome {
  if (error instanceof DeadlinePassed) return 'deadline';
  return error instanceof ClientHungUp ? 'hung_up' : 'failed';
}

/** Runs the searches of all routes that answer them whole, by the same rules. It sends the list of dead letters, too. */
export class SearchAnswers {
  readonly #options: SearchAnswersOptions;

  constructor(options: SearchAnswersOptions) {
    this.#options = options;
  }

  /**
   * Runs a search of the store, and counts its time and outcome. It is interrupted when the client hangs up, or at the deadline, which is
   * RequestProblem `search.deadline`. Errors of the store become their problems.
   */
  async read<T>(output: SearchOutput, response: ServerResponse, search: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { metrics, queryDeadlineMs } = this.#options;
    const began = performance.now();
    let outcome: Outcome = 'answered';
    using deadline = new Deadline(queryDeadlineMs, hangUpSignal(response));
    try {
      return await search(deadline.signal);
    } catch (error) {
      outcome = outcomeOf(error);
      throw asReadProblem(error, 'The search was interrupted', 'ask for a smaller window or add filters');
    } finally {
      metrics.searchSeconds.observe({ output, outcome }, (performance.now() - began) / 1000);
    }
  }

  /**
   * Sends JSON as the type that the request accepts, or as `answerType`. What is in memory of it is counted. Throws RequestProblem
   * `store.busy` where too much of other answers waits for callers.
   */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    write: (hold: Hold) => AnswerPieces,
    answerType: string = negotiateAnswer(request.headers.accept, SEARCH_ANSWER_TYPES),
  ): Promise<FastifyReply> {
    const { answers, turns, answerDeadlineMs: deadlineMs } = this.#options;
    const read = (signal: AbortSignal) => write((parts) => answers.hold(parts, signal));
    const answer = await beginAnswer({ turns, reply, what: 'an answer', read, deadlineMs });
    return reply.type(`${answerType}; charset=utf-8`).send(answer);
  }
}
