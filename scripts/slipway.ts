#!/usr/bin/env node
import '../src/check-node.js';

// Imports these files only after the check, because an old version of Node may be unable to load them.
const { startCommandLine } = await import('./start.ts');
const { COMPLETE } = await import('../src/features/package-commands.ts');
startCommandLine(COMPLETE);
