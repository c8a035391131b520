import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SETTING_GROUPS } from '../src/config.ts';
import { REASONS } from '../src/http/desktop/check-update.ts';
import { slipway } from './cli/support.ts';
import { createTestService } from './support/service.ts';

const ROOT = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

const SETTING_NAMES = SETTING_GROUPS.flatMap(({ settings }) => settings.map(({ name }) => name));

describe('the documents', () => {
  it.each(SETTING_NAMES)('%s is in the README table and in .env.example', (name) => {
    expect(read('README.md')).toMatch(new RegExp(`^\\|.*\`${name}\``, 'm'));
    expect(read('.env.example')).toContain(`${name}=`);
  });

  it('name a reason for every package', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
    const reasons = read('CONTRIBUTING.md');
    const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    const unexplained = names.filter(
      (name) => !name.startsWith('@types/') && !reasons.includes(`\`${name}\``),
    );
    expect(unexplained).toEqual([]);
  });

  it.each(REASONS)('%s is among the reasons in the README', (reason) => {
    expect(read('README.md')).toContain(`\`${reason}\``);
  });

  it('lead to headings that are there', () => {
    const readme = read('README.md');
    const anchors = [...readme.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      `${heading}`
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    );
    const links = [...readme.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => `${anchor}`);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((link) => !anchors.includes(link))).toEqual([]);
  });
});

/** `GET /api/v1/account`, of every operation in both OpenAPI documents. */
async function documentedRoutes(): Promise<string[]> {
  const service = await createTestService();
  try {
    const http = service.app.http as unknown as {
      swagger(): OpenapiDocument;
      signedInDocument?(): OpenapiDocument;
      inject(request: object): Promise<{ json(): never }>;
    };
    const client = { email: 'ada@example.com', password: 'a long enough password' };
    const post = (url: string, payload: object) => http.inject({ method: 'POST', url, payload });
    await post('/api/v1/auth/register', client);
    const device = { id: 'x', name: 'x' };
    const login = await post('/api/v1/auth/login', { ...client, platform: 'linux', device });
    const { access_token } = login.json() as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}` };
    const signedIn = await http.inject({ url: '/api/v1/openapi.json', headers });
    return [http.swagger(), signedIn.json() as OpenapiDocument].flatMap(({ paths }) =>
      Object.entries(paths).flatMap(([route, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${route}`),
      ),
    );
  } finally {
    await service.close();
  }
}

interface OpenapiDocument {
  readonly paths: Readonly<Record<string, object>>;
}

/**
 * What the first column of the README's tables of addresses says, with its shorthand written out:
 * "`GET`, `PATCH /a`" is two, and in "`POST /a/b`, `/c`" the second is `POST /a/c`.
 */
function addressesOf(readme: string): string[] {
  const rows = [...readme.matchAll(/^\| (`(?:GET|POST|PATCH|DELETE)\b.*?) +\|/gm)];
  return rows.flatMap(([, cell]) => {
    const addresses: string[] = [];
    let methods: string[] = [];
    let route = '';
    for (const [, text = ''] of `${cell}`.matchAll(/`([^`]+)`/g)) {
      const [, method, given] = /^([A-Z]+)?\s?(\/.*)?$/.exec(text) ?? [];
      if (method !== undefined) methods = route === '' ? [...methods, method] : [method];
      if (given === undefined) {
        // The method of what comes next.
        if (route !== '') [methods, route] = [[`${method}`], ''];
        continue;
      }
      const isWhole = method !== undefined || /^\/(api|monitoring|openapi|readyz)/.test(given);
      route = isWhole ? given : `${route.slice(0, route.lastIndexOf('/'))}${given}`;
      addresses.push(...methods.map((one) => `${one} ${route}`));
    }
    return addresses;
  });
}

describe('the README and the interface', () => {
  it('name the same addresses', async () => {
    const named = addressesOf(read('README.md'));
    const documented = (await documentedRoutes()).map((route) =>
      route === 'GET /feeds/{app}/{channel}/{protocol}/{*}'
        ? 'GET /feeds/{app}/{channel}/{protocol}/…'
        : route,
    );
    expect(documented.length).toBeGreaterThan(20);
    expect(documented.filter((route) => !named.includes(route))).toEqual([]);
    const aside = /^GET \/(docs|openapi|api\/v1\/openapi|\.well-known|livez|readyz)/;
    expect(named.filter((route) => !documented.includes(route) && !aside.test(route))).toEqual([]);
  });
});

describe('the README and the command line', () => {
  const help = async (...command: string[]): Promise<string> =>
    (await slipway([...command, '--help'], { cwd: ROOT })).stdout;
  const commandsIn = (text: string): string[] =>
    [...(text.split('\nExamples:')[0] ?? '').matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(
      ([, name]) => `${name}`,
    );
  const readme = read('README.md');
  /** `slipway pause | resume VERSION [--reason TEXT]`, to the end of the line or of the code. */
  const shown = [
    ...readme.matchAll(
      /(?:^|`|\.tgz |run )slipway (?:-- )?([a-z][a-z-]*(?: \| [a-z-]+)*)([^\n`#]*)/gm,
    ),
  ];

  let groups: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    const top = commandsIn(await help()).filter((name) => name !== 'help');
    const entries = top.map(async (name) => {
      const isGroup = ['accounts', 'contact'].includes(name);
      return [name, isGroup ? commandsIn(await help(name)) : []] as const;
    });
    groups = new Map(await Promise.all(entries));
  });

  it('name the same commands, with the same options', async () => {
    const seen = new Set<string>();
    const helps = new Map<string, string>();
    for (const [line, words = '', rest = ''] of shown) {
      for (const name of words.split(' | ')) {
        expect([...groups.keys()], line).toContain(name);
        const subs = groups.get(name) ?? [];
        const [sub] = (subs.length > 0 && /^ ([a-z-]+)/.exec(rest)?.slice(1)) || [];
        if (sub !== undefined) expect(subs, line).toContain(sub);
        const command = sub === undefined ? name : `${name} ${sub}`;
        seen.add(command);
        for (const [option] of rest.matchAll(/--[a-z-]+/g)) {
          const text = helps.get(command) ?? (await help(...command.split(' ')));
          helps.set(command, text);
          expect(text, line).toContain(option);
        }
      }
    }
    expect(seen.size).toBeGreaterThan(20);
  });

  it('leaves out none', () => {
    const everyOne = [...groups].flatMap(([name, subs]) =>
      subs.length === 0
        ? [name]
        : subs.filter((sub) => sub !== 'help').map((sub) => `${name} ${sub}`),
    );
    const missing = everyOne.filter((command) => !readmeShows(readme, command));
    expect(missing).toEqual([]);
  });
});

function readmeShows(readme: string, command: string): boolean {
  const lines = readme.split('\n').filter((line) => /\bslipway /.test(line));
  const [first, second] = command.split(' ');
  return lines.some((line) =>
    second === undefined
      ? new RegExp(`slipway (?:[a-z-]+ \\| )*${first}\\b`).test(line)
      : line.includes(`slipway ${command}`),
  );
}
