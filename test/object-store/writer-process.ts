import { openFilesystemStore } from '../../src/object-store/filesystem.ts';

/** One of several processes racing for the same keys: prints the rounds it won. */
const [directory = '', name = '', rounds = '0'] = process.argv.slice(2);
const signUrl = () => {
  throw new Error('not used');
};
const store = await openFilesystemStore({ directory, signUrl });
const won: number[] = [];
for (let round = 0; round < Number(rounds); round += 1) {
  const outcome = await store.create(`race/${round % 7}/${round}`, Buffer.from(name));
  if (outcome === 'created') {
    won.push(round);
  }
  // Prunes the directory that the others are about to write into.
  await store.create(`pruned/${name}-${round}/x`, Buffer.from(name));
  await store.delete(`pruned/${name}-${round}/x`);
}
console.log(JSON.stringify(won));
