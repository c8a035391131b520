import type { Call, Client, Fetch } from './call.js';
import { client as accountClient } from './generated/account/client.gen.js';
import * as account from './generated/account/sdk.gen.js';
import { client as publicClient } from './generated/public/client.gen.js';
import * as open from './generated/public/sdk.gen.js';

type Operation = (options: object) => Promise<unknown>;

/** A client from `@hey-api/openapi-ts`: a function for each operation, by its id. */
export function openClient(baseUrl: string, fetch: Fetch): Client {
  const sdk = { ...open, ...account } as unknown as Record<string, Operation>;
  for (const client of [publicClient, accountClient]) {
    client.setConfig({ baseUrl, fetch: fetch as typeof globalThis.fetch });
  }
  return {
    call: async ({ operation, parameters, body, sendsText, getsText }: Call) => {
      const { header: headers, path, query } = parameters;
      const send = sdk[operation];
      if (send === undefined) throw new Error(`The generator made no function ${operation}.`);
      await send({
        path,
        query,
        headers,
        ...(body === undefined ? {} : { body }),
        ...(sendsText ? { bodySerializer: (text: string) => text } : {}),
        ...(getsText ? { parseAs: 'text' } : {}),
      });
    },
  };
}

/** Calls with the types of the document: `npm run types` refuses a missing parameter and an unknown member. */
export async function typed(baseUrl: string): Promise<readonly unknown[]> {
  const feed = { app: 'desktop', channel: 'stable' };
  const tauri = await open.getTauriUpdate({
    baseUrl,
    path: { ...feed, target: 'darwin', arch: 'aarch64', current_version: '1.0.0' },
  });
  const electron = await open.getElectronUpdateInfo({
    baseUrl,
    path: { ...feed, document: 'latest.yml' },
  });
  const timestamp = await open.getTimestamp({ baseUrl, path: { app: 'desktop' } });
  const check = await open.checkUpdate({
    baseUrl,
    body: { current_version: '1.0.0', platform: 'windows', arch: 'x64' },
  });
  return [
    tauri.data?.version,
    electron.data?.split('\n')[0],
    timestamp.data?.signed._type,
    check.data?.update_available,
  ];
}
