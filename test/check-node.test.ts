import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..');
const source = readFileSync(path.join(ROOT, 'src/check-node.js'), 'utf8');

/** What the check says on this version of Node; undefined when it lets it pass. */
function checkOn(version: string): string | undefined {
  const said: string[] = [];
  const codes: number[] = [];
  runInNewContext(source, {
    process: { versions: { node: version }, exit: (code: number) => codes.push(code) },
    console: { error: (text: string) => said.push(text) },
  });
  expect(codes).toEqual(said.map(() => 1));
  return said[0];
}

it.each(['18.20.8', '20.20.2', '22.18.0'])(
  'Node %s gets a message that says what to install',
  (version) => {
    expect(checkOn(version)).toContain(
      `slipway: Node ${version} is too old: Slipway needs Node 22.19 or newer. Install Node 24`,
    );
  },
);

it.each(['22.19.0', '24.21.0', '26.0.0'])('Node %s may run it', (version) => {
  expect(checkOn(version)).toBeUndefined();
});

it('requires the same version as package.json', () => {
  const { engines } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  expect(source).toContain(`Node ${engines.node.replace('>=', '')} or newer`);
});
