import kafkajs, { type logCreator } from 'kafkajs';
import { type StoreLogger, silentLogger } from '../../store/store-logger.ts';

/** pino's logger fits. Stacks, and what kafkajs says, go to `debug`. */
export interface KafkaLogger extends StoreLogger {
  debug(details: object, message: string): void;
}

export const silentKafkaLogger: KafkaLogger = { ...silentLogger, debug: () => {} };

/**
 * kafkajs's log lines as ours, at debug level. What it calls an error is one attempt of many, such as a broker that is not up yet; the
 * source tells in one line what becomes of an attempt.
 */
export function kafkaLogCreator(logger: KafkaLogger): logCreator {
  return () =>
    ({ namespace, level, log }) => {
      if (level > kafkajs.logLevel.WARN) {
        return;
      }
      const { message, timestamp: _timestamp, logger: _library, ...details } = log;
      logger.debug({ kafkajs: namespace, ...details }, `kafkajs: ${message}`);
    };
}
