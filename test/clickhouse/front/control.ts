import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Fault } from '../server/faults.ts';
import type { ClickhouseEngine } from './engine.ts';
import { Front, type FrontOptions } from './front.ts';

/** What tests ask of the process of the fronts. `front` is the number that `open` gave. */
export type ControlOrder =
  | ({ readonly do: 'open' } & FrontOptions)
  | { readonly do: 'close'; readonly front: number }
  | { readonly do: 'fault'; readonly front: number; readonly fault: Fault }
  | { readonly do: 'held'; readonly front: number; readonly fault: number; readonly count: number }
  | { readonly do: 'release'; readonly front: number; readonly fault?: number }
  | { readonly do: 'away'; readonly front: number }
  | { readonly do: 'back'; readonly front: number }
  /** Makes a cluster of fronts, which each of them knows by this name. */
  | { readonly do: 'cluster'; readonly front: number; readonly name: string; readonly others: readonly number[] }
  | { readonly do: 'clock'; readonly front: number; readonly offsetMs: number };

export interface ControlAnswer {
  /** The number of a new front, or of a fault that was switched on. */
  readonly number?: number;
  readonly url?: string;
  /** The statements that a fault holds. */
  readonly held?: readonly string[];
}

/** Listens for orders on a free port of 127.0.0.1, and opens fronts over the engine. `folder` is where the data of INSERTs waits. */
export class Control {
  readonly #engine: ClickhouseEngine;
  readonly #folder: string;
  readonly #fronts = new Map<number, Front>();
  #last = 0;

  constructor(engine: ClickhouseEngine, folder: string) {
    this.#engine = engine;
    this.#folder = folder;
  }

  /** Resolves with the URL that takes orders. */
  async listen(): Promise<string> {
    const server = createServer((request, response) => {
      json(request)
        .then((order) => this.obey(order as ControlOrder))
        .then(
          (answer) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer)),
          (error: unknown) => response.writeHead(500, { 'Content-Type': 'text/plain' }).end(String(error)),
        );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async obey(order: ControlOrder): Promise<ControlAnswer> {
    if (order.do === 'open') {
      const number = ++this.#last;
      const front = await Front.open(this.#engine, number, this.#folder, order);
      this.#fronts.set(number, front);
      return { number, url: front.url };
    }
    const front = this.#front(order.front);
    switch (order.do) {
      case 'close':
        this.#fronts.delete(order.front);
        await front.close();
        return {};
      case 'fault':
        return { number: front.faults.add(order.fault) };
      case 'held':
        return { held: await front.faults.held(order.fault, order.count) };
      case 'release':
        front.faults.release(order.fault);
        return {};
      case 'away':
        await front.goAway();
        return {};
      case 'back':
        await front.comeBack();
        return {};
      case 'clock':
        front.clockOffsetMs = order.offsetMs;
        return {};
      case 'cluster': {
        const nodes = [front, ...order.others.map((number) => this.#front(number))];
        for (const node of nodes) node.clusters.set(order.name, nodes);
        return {};
      }
    }
  }

  #front(number: number): Front {
    const front = this.#fronts.get(number);
    if (front === undefined) throw new Error(`There is no front ${number}`);
    return front;
  }
}
