#!/usr/bin/env node
import '../src/check-node.js';

// Imported after the check, because a Node that is too old may be unable to load them.
const { startCommandLine } = await import('./start.ts');
const { COMPLETE } = await import('../src/features/package-commands.ts');
startCommandLine(COMPLETE);
