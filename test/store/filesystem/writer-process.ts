import { openDirectoryStore } from '../../support/directory-store.ts';

/** One of several processes that create the same keys concurrently. Prints the rounds that it won. */
const [directory = '', name = '', rounds = '0'] = process.argv.slice(2);
const store = await openDirectoryStore(directory);
const won: number[] = [];
for (let round = 0; round < Number(rounds); round += 1) {
  const outcome = await store.create(`race/${round % 7}/${round}`, Buffer.from(name));
  if (outcome === 'created') {
    won.push(round);
  }
  // The deletion also removes a directory into which the other processes may be about to write.
  await store.create(`pruned/${name}-${round}/x`, Buffer.from(name));
  await store.delete(`pruned/${name}-${round}/x`);
}
console.log(JSON.stringify(won));
