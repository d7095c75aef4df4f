/** By which a database process ends itself when it takes too much memory. Node has no use of its own for it, and nobody else sends it. */
export const MEMORY_SIGNAL = 'SIGUSR2';
