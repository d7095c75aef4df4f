import { delimiter, join } from 'node:path';
import { findJava } from './java-runtime.ts';
import { fetchLockedArtifacts } from './locked-artifacts.ts';

const LOCK_FILE = join(import.meta.dirname, 'kafka-jars.txt');
const CACHE = join(import.meta.dirname, '../../.cache/kafka');

/** Apache Kafka as Java programs: the broker `kafka.Kafka` and the command-line tools. */
export interface KafkaDistribution {
  /** The Java runtime: a path, or a name on PATH. */
  readonly java: string;
  readonly classPath: string;
}

/** Finds a Java runtime and the jars of Apache Kafka, and fetches what is missing (45 MB of jars). Throws where either cannot be had. */
export async function findKafka(): Promise<KafkaDistribution> {
  const java = await findJava();
  const jars = await fetchLockedArtifacts(LOCK_FILE, CACHE, process.env['MAVEN_REPOSITORY_URL'] || undefined);
  return { java, classPath: jars.join(delimiter) };
}
