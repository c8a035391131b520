import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError, isAppError } from '../../../src/core/errors.ts';
import { childrenOf, parseXml, type XmlElement } from '../../../src/core/xml.ts';
import type { Artifact, Release } from '../../../src/domain/release.ts';
import { versionText } from '../../../src/domain/version.ts';
import { omaha } from '../../../src/updaters/omaha/omaha.ts';
import type { ProtocolRequest, Question } from '../../../src/updaters/protocol.ts';
import { character } from '../../support/character.ts';
import { rounds } from '../../support/rounds.ts';

/** Omaha's dialect: its pure functions. */

const ID = '{8A69D345-D564-463C-AFF1-A69D9E530F96}';
/** 5 March 2026, 00:01:05. */
const RECEIVED_AT = Date.UTC(2026, 2, 5, 0, 1, 5);

function request(body: string | undefined, more: Partial<ProtocolRequest> = {}): ProtocolRequest {
  const asked = { application: 'desktop', channel: 'stable', path: ['v1', 'update'] };
  return { ...asked, query: {}, headers: {}, body, receivedAt: RECEIVED_AT, ...more };
}

function ask(body: string, more: Partial<ProtocolRequest> = {}): Question {
  const question = omaha.parseRequest(request(body, more));
  if (question === undefined) throw new Error('It is none of its documents.');
  return question;
}

const xml = (inside: string, attributes = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?><request protocol="3.0" ${attributes}>${inside}</request>`;
const app = (inside = '<updatecheck/>', version = '1.0.0.4', id = ID): string =>
  `<app appid="${id}" version="${version}">${inside}</app>`;
const OS = '<os platform="win" version="10.0.19045.3693" sp="" arch="x64"/>';
const CHECK = xml(`${OS}${app('<updatecheck/><ping rd="-1"/>')}`);

const json = (apps: unknown, more: object = {}): string =>
  JSON.stringify({
    request: {
      ...{
        protocol: '3.1',
        '@os': 'win',
        os: { platform: 'Windows', version: '10.0', arch: 'x86_64' },
      },
      app: apps,
      ...more,
    },
  });

const ARTIFACT: Artifact = {
  platform: 'windows',
  arch: 'x64',
  format: 'nsis',
  filename: 'App Setup #1.exe',
  size: 123,
  sha256: 'ab'.repeat(32),
  sha512: 'cd'.repeat(64),
  minimumOsVersion: null,
  signatures: [],
  companions: [],
  object: '',
};
const RELEASE: Release = {
  application: 'desktop',
  version: '2.0.0',
  releasedAt: '2026-03-01T00:00:00.000Z',
  ...{
    name: null,
    notes: {},
    notesRemoved: [],
    requires: null,
    mandatoryFor: null,
    endsNative: [],
  },
  provenance: { commit: null, buildUrl: null },
  artifacts: [ARTIFACT],
  carried: [],
};

const fileUrl = (version: string, filename: string) =>
  `https://updates.example/omaha/${version}/${encodeURIComponent(filename)}`;

function offer(question: Question, artifact = ARTIFACT): string {
  const { document } = question;
  const machine = { platform: 'windows', arch: 'x64', formats: null } as const;
  const offered = { release: RELEASE, artifact, document, fileUrl, ...machine };
  return String(omaha.renderOffer(offered).body);
}

function noUpdate(question: Question): string {
  return String(omaha.renderNoUpdate(question, 'up_to_date')?.body);
}

/** `name[attribute=value …](children)`, for short expectations. */
function shape({ name, attributes, children }: XmlElement): string {
  const stated = Object.entries(attributes).map(([key, value]) => ` ${key}=${value}`);
  const inside = children.map(shape).join('');
  return `<${name}${stated.join('')}>${inside}`;
}

describe('a request', () => {
  it('states the machine, the version and the installation', () => {
    const question = ask(xml(`${OS}${app()}`, 'userid="{u}" installsource="ondemand"'));
    const { currentVersion, ...query } = question.query;
    expect(currentVersion && versionText(currentVersion)).toBe('1.0.0');
    expect(question.isPersonal).toBe(true);
    expect(query).toEqual({
      application: 'desktop',
      channel: 'stable',
      platform: 'windows',
      arch: 'x64',
      formats: ['nsis', 'msi'],
      osVersion: '10.0.19045.3693',
      osGate: 'server',
      installationId: '{u}',
      isManual: true,
      allowDowngrade: false,
      purpose: 'update',
      signatureScheme: null,
    });
    expect(ask(json([{ appid: ID, version: '1.0.0.4', updatecheck: {} }])).query).toMatchObject({
      ...{
        platform: 'windows',
        arch: 'x64',
        osVersion: '10.0',
        installationId: null,
        isManual: false,
      },
    });
  });

  it.each([
    ['<os platform="mac" version="MacOSX" sp="10.15.7_x86_64"/>', 'macos', 'x64', '10.15.7_x86_64'],
    ['<os platform="mac" version="14.2" arch="arm64"/>', 'macos', 'arm64', '14.2'],
    ['<os platform="Mac OS X" version="14.2" arch="arm64"/>', 'macos', 'arm64', '14.2'],
    ['<os platform="linux" version="6.1" arch="x86_64"/>', 'linux', 'x64', '6.1'],
    ['<os platform="win" version="6.1" sp="Service Pack 1" arch="x86"/>', 'windows', 'ia32', '6.1'],
    ['<os platform="win"/>', 'windows', null, null],
    ['<os platform="win" arch="unknown"/>', 'windows', null, null],
  ])('%s is a machine', (os, platform, arch, osVersion) => {
    expect(ask(xml(os + app())).query).toMatchObject({ platform, arch, osVersion });
  });

  it('of an architecture without builds gets no update, and no error', () => {
    expect(ask(xml(`<os platform="win" arch="mips"/>${app()}`)).query.formats).toEqual([]);
  });

  it.each(['', '0', '0.0.0.0'])(
    'with the version %j is of an application to be installed',
    (version) => {
      expect(ask(xml(OS + app('<updatecheck/>', version))).query.currentVersion).toBeNull();
    },
  );

  it('may state a format, an installation and an application in the address', () => {
    const two = xml(OS + app('<updatecheck/>', '7.0', 'updater') + app());
    const query = { format: 'msi', installation_id: 'i', appid: ID.toLowerCase() };
    const asked = ask(two, { query }).query;
    expect(asked).toMatchObject({ formats: ['msi'], installationId: 'i' });
    expect(asked.currentVersion && versionText(asked.currentVersion)).toBe('1.0.0');
    const first = ask(two).query.currentVersion;
    expect(first && versionText(first)).toBe('7.0.0');
  });

  it.each([
    ['', 'invalid_request'],
    ['<request protocol="3.0">', 'invalid_request'],
    ['<!DOCTYPE r [<!ENTITY a "b">]><request protocol="3.0">&a;</request>', 'invalid_request'],
    ['<gupdate protocol="2.0"/>', 'invalid_request'],
    ['<request protocol="4.0"/>', 'invalid_request'],
    ['{"request": ', 'malformed_json'],
    ['{"response": {}}', 'invalid_request'],
    ['{"request": {"protocol": "4.0"}}', 'invalid_request'],
    [xml(OS + app('<updatecheck/>', 'newest')), 'invalid_version'],
    [xml(`<os platform="constructor"/>${app()}`), 'unsupported_platform'],
    [xml(app()), 'unsupported_platform'],
  ])('%j is refused: %s', (body, code) => {
    expect(() => omaha.parseRequest(request(body))).toThrow(expect.objectContaining({ code }));
  });

  it('is at one address, and has a body', () => {
    expect(omaha.parseRequest(request(CHECK, { path: ['v1', 'update', 'x'] }))).toBeUndefined();
    expect(omaha.parseRequest(request(undefined))).toBeUndefined();
  });

  it('throws nothing but errors of the client, whatever it contains', () => {
    const word = fc.oneof(fc.string(), fc.constantFrom('3.0', 'win', '1.0', '__proto__', 'true'));
    const node: fc.Memo<unknown> = fc.memo((depth) =>
      depth <= 1
        ? fc.oneof<fc.Arbitrary<unknown>[]>(word, fc.integer(), fc.boolean(), fc.constant(null))
        : fc.oneof<fc.Arbitrary<unknown>[]>(
            word,
            fc.array(node(depth - 1), { maxLength: 3 }),
            fc.dictionary(
              fc.constantFrom('app', 'appid', 'version', 'os', 'platform', 'updatecheck', 'event'),
              node(depth - 1),
            ),
          ),
    );
    const bodies = fc.oneof(
      fc.string({ unit: character }),
      node(4).map((tree) => JSON.stringify({ request: tree })),
      fc.string({ unit: character }).map((text) => xml(text)),
      fc.tuple(word, word).map(([a, b]) => xml(`<os platform="${a}"/><app appid="${b}"/>`)),
    );
    fc.assert(
      fc.property(bodies, (body) => {
        try {
          const question = omaha.parseRequest(request(body));
          if (question !== undefined) expect(noUpdate(question)).toMatch(/^(<\?xml|\)\]\}')/);
        } catch (error) {
          if (!isAppError(error)) throw error;
          expect(['invalid', 'not_found']).toContain(error.kind);
        }
      }),
      { numRuns: rounds(100, 500) },
    );
  });
});

describe('an answer in XML', () => {
  it('offers an update', () => {
    const root = parseXml(offer(ask(CHECK)));
    const name = 'App%20Setup%20%231.exe';
    expect(shape(root)).toBe(
      [
        '<response protocol=3.0 server=prod>',
        '<daystart elapsed_days=7003 elapsed_seconds=65>',
        `<app appid=${ID} status=ok><ping status=ok><updatecheck status=ok>`,
        '<urls><url codebase=https://updates.example/omaha/2.0.0/>',
        `<manifest version=2.0.0 run=${name} arguments=/S>`,
        `<actions><action event=install run=${name} arguments=/S><action event=postinstall>`,
        `<packages><package name=${name} size=123 hash_sha256=${ARTIFACT.sha256} fp=1.${ARTIFACT.sha256} required=true>`,
      ].join(''),
    );
  });

  it('says that there is no update', () => {
    expect(noUpdate(ask(CHECK))).toContain(
      '<ping status="ok"/><updatecheck status="noupdate"/></app>',
    );
  });

  it('has one element for each application', () => {
    const events = app(
      '<event eventtype="3"/><event eventtype="14"/><ping r="1"/>',
      '1.0',
      'reports',
    );
    const body = xml(
      `${OS}${events}${app()}${app('<updatecheck/>', '1.0', 'other')}${app('<updatecheck/>', '1', '')}`,
    );
    const apps = childrenOf(parseXml(offer(ask(body))), 'app').map((each) => ({
      id: each.attributes.appid,
      status: each.attributes.status,
      has: each.children.map(({ name }) => name),
    }));
    expect(apps).toEqual([
      { id: 'reports', status: 'ok', has: ['ping', 'event', 'event'] },
      { id: ID, status: 'ok', has: ['updatecheck'] },
      { id: 'other', status: 'error-unknownApplication', has: [] },
      { id: '', status: 'error-invalidAppId', has: [] },
    ]);
  });

  it('accepts a report that asks for nothing', () => {
    const question = ask(xml(app('<event eventtype="3" eventresult="1"/>')));
    expect(question.isReport).toBe(true);
    for (const body of [offer(question), noUpdate(question)]) {
      expect(body).toContain(`<app appid="${ID}" status="ok"><event status="ok"/></app>`);
    }
  });

  it('can be read, whatever the identifiers contain', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: character }), { maxLength: 4 }), (ids) => {
        const body = json(ids.map((appid) => ({ appid, version: '1', updatecheck: {} })));
        const question = ask(body);
        const asXml = { ...question, document: question.document.replace('"json"', '"xml"') };
        expect(childrenOf(parseXml(offer(asXml)), 'app')).toHaveLength(ids.length);
        const answer: unknown = JSON.parse(offer(question).slice(5));
        expect(answer).toMatchObject({ response: { app: ids.map((appid) => ({ appid })) } });
      }),
    );
  });

  it.each([
    ['updatedisabled="true"', 'noupdate'],
    ['targetversionprefix="2"', 'ok'],
    ['targetversionprefix="2.0.0.0$"', 'ok'],
    ['targetversionprefix="2$"', 'ok'],
    ['targetversionprefix="2.0.1"', 'noupdate'],
    ['targetversionprefix="1."', 'noupdate'],
    ['targetversionprefix="20"', 'noupdate'],
    ['targetversionprefix="x"', 'noupdate'],
  ])('to a check with %s is %s', (attributes, status) => {
    const answer = parseXml(offer(ask(xml(OS + app(`<updatecheck ${attributes}/>`)))));
    expect(shape(answer)).toContain(`<updatecheck status=${status}>`);
  });

  it('runs only NSIS installers with an argument', () => {
    expect(offer(ask(CHECK), { ...ARTIFACT, format: 'msi' })).not.toContain('arguments');
  });
});

describe('an answer in JSON', () => {
  it('offers an update behind a line that is no script', () => {
    const body = offer(ask(json([{ appid: ID, version: '1.0', updatecheck: {}, ping: {} }])));
    expect(body.startsWith(")]}'\n")).toBe(true);
    const name = 'App%20Setup%20%231.exe';
    expect(JSON.parse(body.slice(5))).toEqual({
      response: {
        protocol: '3.1',
        server: 'prod',
        daystart: { elapsed_days: 7003, elapsed_seconds: 65 },
        app: [
          {
            appid: ID,
            status: 'ok',
            ping: { status: 'ok' },
            updatecheck: {
              status: 'ok',
              urls: { url: [{ codebase: 'https://updates.example/omaha/2.0.0/' }] },
              manifest: {
                version: '2.0.0',
                run: name,
                arguments: '/S',
                actions: {
                  action: [
                    { event: 'install', run: name, arguments: '/S' },
                    { event: 'postinstall' },
                  ],
                },
                packages: {
                  package: [
                    {
                      name,
                      size: 123,
                      hash_sha256: ARTIFACT.sha256,
                      fp: `1.${ARTIFACT.sha256}`,
                      required: true,
                    },
                  ],
                },
              },
            },
          },
        ],
      },
    });
  });

  it('says that there is no update', () => {
    const body = noUpdate(ask(json([{ appid: ID, version: '2.0', updatecheck: {} }])));
    expect(JSON.parse(body.slice(5))).toMatchObject({
      response: { app: [{ appid: ID, status: 'ok', updatecheck: { status: 'noupdate' } }] },
    });
  });
});

describe('a refusal', () => {
  const refuse = (
    code: 'unknown_application' | 'unsupported_platform' | 'no_release',
    body = CHECK,
  ) => omaha.renderNotFound?.(request(body), new AppError(code, 'No.'))?.body;

  it('says that the application is unknown', () => {
    expect(refuse('unknown_application')).toContain(
      `<app appid="${ID}" status="error-unknownApplication"><ping status="ok"/></app>`,
    );
    const asked = json([{ appid: ID, updatecheck: {} }]);
    expect(refuse('unknown_application', asked)).toContain('"error-unknownApplication"');
  });

  it('says that the system is not supported', () => {
    expect(refuse('unsupported_platform')).toContain(
      '<updatecheck status="error-osnotsupported"/>',
    );
  });

  it('leaves other errors to problem documents', () => {
    expect(refuse('no_release')).toBeUndefined();
  });
});
