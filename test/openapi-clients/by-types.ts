import createClient from 'openapi-fetch';
import type { Call, Client, Fetch } from './call.js';
import type { paths as AccountPaths } from './generated/account.js';
import type { paths as PublicPaths } from './generated/public.js';

/** A client from the types of `openapi-typescript`. */
export function openClient(baseUrl: string, fetch: Fetch): Client {
  const client = createClient<PublicPaths & AccountPaths>({ baseUrl, fetch });
  // The path of a call is known only when the test runs, so these calls have no types. `typed` has them.
  const request = client.request as (
    method: string,
    path: string,
    init: object,
  ) => Promise<unknown>;
  return {
    call: async ({ method, path, parameters, body, sendsText, getsText }: Call) => {
      const { header: headers, ...params } = parameters;
      await request(method, path, {
        params,
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
  const client = createClient<PublicPaths>({ baseUrl });
  const feed = { app: 'desktop', channel: 'stable' };
  const tauri = await client.GET('/feeds/{app}/{channel}/tauri/{target}/{arch}/{current_version}', {
    params: {
      path: { ...feed, target: 'darwin', arch: 'aarch64', current_version: '1.0.0' },
    },
  });
  const electron = await client.GET('/feeds/{app}/{channel}/electron/{document}', {
    params: { path: { ...feed, document: 'latest.yml' } },
    parseAs: 'text',
  });
  const timestamp = await client.GET('/tuf/{app}/timestamp.json', {
    params: { path: { app: 'desktop' } },
  });
  const check = await client.POST('/api/v1/desktop/check-update', {
    body: { current_version: '1.0.0', platform: 'windows', arch: 'x64' },
  });
  return [
    tauri.data?.version,
    electron.data?.split('\n')[0],
    timestamp.data?.signed._type,
    check.data?.update_available,
  ];
}
