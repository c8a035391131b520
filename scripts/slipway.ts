#!/usr/bin/env node
import '../src/check-node.js';

// Imported after the check, because a Node that is too old may not even load it.
const { runCommandLine } = await import('./cli/command-line.ts');
const { readEnvironment } = await import('../src/system.ts');

const { stdin, stdout, stderr } = process;
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: readEnvironment,
  stdin,
  stdout,
  stderr,
});
