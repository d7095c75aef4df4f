// By which a database process ends itself. Node has no use of its own for them, and nobody else sends them.

/** It takes too much memory. */
export const MEMORY_SIGNAL = 'SIGUSR2';
/** A transaction is open for too long. */
export const TRANSACTION_SIGNAL = 'SIGALRM';
