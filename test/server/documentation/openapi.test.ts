import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTestService, type TestService } from '../../support/service.ts';
import { check, DOWNLOAD, get, LATEST_VERSION, release } from '../support.ts';

interface Operation {
  readonly responses: Record<
    string,
    { readonly content?: Record<string, { readonly schema: never; readonly example?: unknown }> }
  >;
}

/** The documents of the dialects, below the address of a channel's feeds. */
const FEEDS = [
  'electron/{document}',
  'squirrel-mac/{platform}/{arch}/{version}',
  'squirrel-mac/releases.json',
  'squirrel-mac/{platform}/{arch}/releases.json',
  'squirrel-windows/RELEASES',
  'squirrel-windows/{arch}/RELEASES',
  'msix/{version}',
  'tauri/latest.json',
  'tauri/{target}/{arch}/{current_version}',
  'tauri/{target}/{arch}/{current_version}/{bundle_type}',
  'velopack/releases.{name}.json',
  'velopack/RELEASES',
  'velopack/RELEASES-{name}',
  'sparkle/appcast.xml',
  'winsparkle/appcast.xml',
  'netsparkle/appcast.xml',
  'netsparkle/appcast.xml.signature',
  'zsync/{name}.AppImage.zsync',
  'zsync/{name}.AppImage',
];
/** The signed metadata, below the address of an application. */
const METADATA = [
  'timestamp.json',
  '{version}.root.json',
  '{version}.targets.json',
  '{version}.snapshot.json',
  '{version}.channel-{channel}.json',
  'targets/{target_app}/{channel}/{version}/{sha256}.{number}.json',
  'targets/{target_app}/{channel}/{version}/{sha256}.{filename}',
];

describe('the public OpenAPI document', () => {
  let service: TestService;
  let document: { openapi: string; paths: Record<string, Record<string, Operation>> };

  beforeAll(async () => {
    const tiers = { free: [], pro: ['channel:desktop/insider'] };
    service = await createTestService({ env: { TIERS: JSON.stringify(tiers) } });
    await release(service, '2.0.0', ['windows x64 nsis', 'macos universal dmg'], {
      notes: { und: 'News' },
    });
    await release(service, '3.0.0', ['windows x64 nsis'], { channel: 'insider' });
    await service.listen();
    const { status, headers, body } = await get(service, '/openapi.json');
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBe('*');
    document = body;
  });
  afterAll(() => service.close());

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  const schemaOf = (path: string, method: string, status: string, type: string) =>
    z.fromJSONSchema(
      document.paths[path]?.[method]?.responses[status]?.content?.[type]?.schema ?? false,
    );

  it('is OpenAPI 3.1 and has only the anonymous routes', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(operations().map(({ path, method }) => `${method} ${path}`)).toEqual([
      'get /files/apps/{app}/artifacts/{object}/{filename}',
      'post /api/v1/desktop/check-update',
      'get /api/v1/desktop/latest-version',
      'get /api/v1/desktop/download/{platform}',
      ...FEEDS.map((path) => `get /feeds/{app}/{channel}/${path}`),
      'post /feeds/{app}/{channel}/omaha/v1/update',
      'get /feeds/{app}/{channel}/{protocol}/{version}/{filename}',
      'get /feeds/{app}/{channel}/{protocol}/{filename}',
      ...METADATA.map((path) => `get /tuf/{app}/${path}`),
      'post /api/v1/contact',
      'get /api/v1/system/status',
      'get /api/v1/metrics/public/live',
      'post /api/v1/auth/register',
      'post /api/v1/auth/login',
      'post /api/v1/auth/refresh',
      'post /api/v1/auth/logout',
      'post /api/v1/auth/resend-verification',
      'post /api/v1/auth/request-reset',
      'get /api/v1/system/request',
      'get /monitoring/health',
      'get /monitoring/overview',
    ]);
    expect(JSON.stringify(document)).not.toMatch(/"security|\{\*\}/);
  });

  it('documents every error as a problem document', () => {
    for (const { operation } of operations()) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        expect(Object.keys(content ?? {})).toEqual(['application/problem+json']);
      }
    }
  });

  it('describes the actual answers', async () => {
    const answers = [
      ['/api/v1/desktop/check-update', 'post', await check(service, {})],
      ['/api/v1/desktop/check-update', 'post', await check(service, { platform: 'linux' })],
      ['/api/v1/desktop/check-update', 'post', await check(service, { current_version: 'x' })],
      ['/api/v1/desktop/check-update', 'post', await check(service, { app: 'nothing' })],
      ['/api/v1/desktop/check-update', 'post', await check(service, { channel: 'insider' })],
      [LATEST_VERSION, 'get', await get(service, LATEST_VERSION)],
      [LATEST_VERSION, 'get', await get(service, `${LATEST_VERSION}?platform=linux`)],
      [LATEST_VERSION, 'get', await get(service, `${LATEST_VERSION}?channel=insider`)],
      [
        `${DOWNLOAD}/{platform}`,
        'get',
        await get(service, `${DOWNLOAD}/mac`, { accept: 'application/json' }),
      ],
      [`${DOWNLOAD}/{platform}`, 'get', await get(service, `${DOWNLOAD}/mac?version=9.9.9`)],
      [`${DOWNLOAD}/{platform}`, 'get', await get(service, `${DOWNLOAD}/mac?channel=insider`)],
    ] as const;
    for (const [path, method, { status, headers, body }] of answers) {
      const type = String(headers['content-type']).split(';')[0] ?? '';
      const schema = schemaOf(path, method, String(status), type);
      expect(schema.safeParse(body).error, `${path} ${status}`).toBeUndefined();
      // And the schema is no blank cheque.
      expect(schema.safeParse({ ...body, status: 'wrong', version: 7 }).success).toBe(false);
    }
  });

  it('states where a channel for some tiers is an error, and that check-update answers with it', () => {
    const refusing = operations().filter(({ operation }) =>
      JSON.stringify(operation.responses['403'])?.includes('not_entitled'),
    );
    expect(refusing.map(({ path }) => path)).toEqual([
      LATEST_VERSION,
      `${DOWNLOAD}/{platform}`,
      ...[
        ...FEEDS,
        'omaha/v1/update',
        '{protocol}/{version}/{filename}',
        '{protocol}/{filename}',
      ].map((path) => `/feeds/{app}/{channel}/${path}`),
      ...METADATA.filter((path) => path.includes('{channel}')).map((path) => `/tuf/{app}/${path}`),
    ]);
    const answer = document.paths['/api/v1/desktop/check-update']?.post?.responses['200'];
    expect(JSON.stringify(answer)).toContain('"not_entitled"');
  });

  it('gives only examples that are valid', () => {
    for (const { path, method, operation } of operations()) {
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        for (const [type, { example }] of Object.entries(content)) {
          if (example === undefined) continue;
          expect(schemaOf(path, method, status, type).safeParse(example).error).toBeUndefined();
        }
      }
    }
  });

  it('has a page to try it, whose policy allows what the page loads', async () => {
    const page = await get(service, '/docs');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toMatch(/default-src 'self'/);
    // Over plain HTTP it would send the browser to an HTTPS that is not there.
    expect(policy).not.toMatch(/upgrade-insecure-requests|unsafe|\*/);
    const html = String(page.body);
    expect(html).toMatch(/<title>Slipway<\/title>/);
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?:\/\//);
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, address]) => new URL(String(address), 'http://x/docs').pathname,
    );
    expect(loaded.filter((path) => path.endsWith('.js')).length).toBeGreaterThan(1);
    for (const path of loaded) expect((await get(service, path)).status, path).toBe(200);
    const initializer = await get(service, '/docs/static/swagger-initializer.js');
    expect(initializer.headers['content-security-policy']).toBe(policy);
  });
});
