#!/usr/bin/env node
import '../src/check-node.js';

// Imported after the check, because a Node that is too old may not even load it.
const { runCommandLine } = await import('./cli/command-line.ts');
const { readEnvironment } = await import('../src/system.ts');

const { stdin, stdout, stderr } = process;
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // Its reader has seen enough, such as `head`: what the command does is done all the same.
    if (error.code !== 'EPIPE') throw error;
  });
}
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: readEnvironment,
  stdin,
  stdout,
  stderr,
});
