/**
 * Node's options for a process of the program. The heap is small beside the buffers that events pass through: 64 MiB of new buffers start a
 * collection of the whole heap. A large heap lets more garbage wait for it, and young objects in little memory have most of the buffers
 * freed before, by collections of the young objects alone.
 */
export const NODE_OPTIONS = ['--initial-old-space-size=128', '--max-semi-space-size=4'];
