import { generateKeyPairSync } from 'node:crypto';
import { type MinisignKey, minisignKeyOf } from '../../src/features/demo/sign-build.ts';

/** Keys and signatures as `tauri signer` makes them, without starting a process for each. */

export { type MinisignKey, signMinisign } from '../../src/features/demo/sign-build.ts';

export function makeMinisignKey(id: number): MinisignKey {
  return minisignKeyOf(generateKeyPairSync('ed25519').privateKey, id);
}
