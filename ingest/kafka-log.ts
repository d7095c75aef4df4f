import kafkajs, { type logCreator } from 'kafkajs';
import type { StoreLogger } from '../store/store-logger.ts';

/**
 * kafkajs's log lines as ours. What it calls an error is mostly one attempt of many, such as a broker that is not up yet, so nothing of it
 * goes above a warning. Its chatter about joining and pausing is dropped, and so is each refused connection: the source tells of them once an
 * attempt.
 */
export function kafkaLogCreator(logger: StoreLogger): logCreator {
  return () =>
    ({ namespace, level, log }) => {
      if (level > kafkajs.logLevel.WARN || namespace === 'Connection' || namespace === 'BrokerPool') {
        return;
      }
      const { message, timestamp: _timestamp, logger: _library, stack: _stack, ...details } = log;
      logger.warn({ kafkajs: namespace, ...details }, `kafkajs: ${message}`);
    };
}
