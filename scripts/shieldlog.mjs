#!/usr/bin/env node
// The `shieldlog` command of a linked checkout (`npm link`).
import { launch } from './launch.mjs';

await launch('shieldlog', process.argv.slice(2), process.cwd());
