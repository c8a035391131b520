import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { prepareCases } from './tuf-conformance-cases.ts';
import { makeKey } from './tuf-repository.ts';

/** What a client has seen stays a floor, whatever happened to its cache and its root meanwhile. */

const { addCase } = prepareCases();

addCase(
  'a new timestamp replaces one of a removed key, also after a broken refresh',
  async (parts) => {
    const { repository, client } = parts;
    for (let n = 0; n < 99; n += 1) repository.publish('timestamp');
    await client.refresh();
    expect(client.trusted().timestamp).toBe(100);
    repository.rotateKey('timestamp');
    repository.rollBack('timestamp');
    repository.publish('root', 'timestamp');
    const answers = repository.published.timestamp.splice(0);
    await expect(client.refresh()).rejects.toThrow();
    repository.published.timestamp.push(...answers);
    await client.refresh();
    expect(client.trusted()).toMatchObject({ root: 2, timestamp: 1 });
    repository.publish('snapshot', 'timestamp');
    await client.refresh();
    const old = repository.published.timestamp.slice(0, 1);
    repository.published.timestamp.splice(0, 9, ...old);
    await expect(client.refresh()).rejects.toThrow('less than current version');
  },
);

addCase(
  'the length that metadata state does not lift the limit',
  async ({ repository, client }) => {
    repository.statesDigests = true;
    Object.assign(repository.snapshot, { x_filler: 'x'.repeat(600_000) });
    repository.publish('snapshot', 'timestamp');
    await expect(client.refresh()).rejects.toThrow('has more than 131072 bytes');
  },
);

for (const [name, text] of [
  ['text', '{'],
  ['another document', '{"signed":{"_type":"targets","version":1}}'],
] as const) {
  for (const role of ['root', 'timestamp', 'snapshot', 'targets'] as const) {
    addCase(`a saved ${role} that is ${name} is fetched again`, async ({ repository, client }) => {
      await client.refresh();
      const file = path.join(client.cache, 'metadata.json');
      const saved = JSON.parse(await readFile(file, 'utf8'));
      // A document of the same role would be a forged cache, which has no valid signature.
      saved.files[role] = role === 'targets' && text !== '{' ? '{"signed":{}}' : text;
      await writeFile(file, JSON.stringify(saved));
      await client.refresh();
      expect(client.text(role)).toBe(repository.newest(role));
    });
  }
}

addCase(
  'the root of the application with one more signature keeps what was seen',
  async (parts) => {
    const { repository, client } = parts;
    repository.publish('timestamp');
    repository.publish('timestamp');
    await client.refresh();
    const root = JSON.parse(repository.newest('root'));
    root.signatures.push({ keyid: makeKey().id, sig: '00' });
    client.install(`${JSON.stringify(root)}\n`);
    repository.rollBack('timestamp');
    repository.publish('timestamp');
    await expect(client.refresh()).rejects.toThrow('less than current version');
  },
);

addCase('a later root of the application keeps what was seen', async ({ repository, client }) => {
  repository.publish('timestamp');
  repository.publish('timestamp');
  await client.refresh();
  repository.publish('root');
  client.install(repository.newest('root'));
  repository.rollBack('timestamp');
  repository.publish('timestamp');
  await expect(client.refresh()).rejects.toThrow('less than current version');
});

addCase('a saved root with a damaged signature is replaced by the shipped root', async (parts) => {
  const { repository, client } = parts;
  repository.publish('timestamp');
  await client.refresh();
  const file = path.join(client.cache, 'metadata.json');
  const saved = JSON.parse(await readFile(file, 'utf8'));
  const root = JSON.parse(saved.files.root);
  root.signatures[0].sig = makeKey().sign(Buffer.from('another text'));
  saved.files.root = JSON.stringify(root);
  await writeFile(file, JSON.stringify(saved));
  await client.refresh();
  expect(client.trusted()).toMatchObject({ root: 1, timestamp: 2 });
  // What the client has seen still counts.
  repository.rollBack('timestamp');
  repository.publish('timestamp');
  await expect(client.refresh()).rejects.toThrow('less than current version');
});

addCase('a document that tuf-js would parse for minutes is refused before', async (parts) => {
  const { repository, client } = parts;
  await client.refresh();
  const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`k${n}`, {}]));
  repository.publish('root');
  repository.tamper('root', ({ signed }) => Object.assign(signed, { keys: wide }));
  await expect(client.refresh()).rejects.toThrow('more than 500 entries');
});
