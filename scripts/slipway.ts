#!/usr/bin/env node
import '../src/check-node.js';

// Imported after the check, because a Node that is too old may be unable to load it.
await import('./start.ts');
