import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { renderReferences } from '../scripts/docs/references.ts';
import { REASONS } from '../src/domain/decide-update.ts';
import { slipway } from './cli/support.ts';
import { createTestService } from './support/service.ts';

const ROOT = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const HTTP_API = read('docs/clients/http-api.md');
/** The pages that show commands, without the reference that is made from the commands. */
const PAGES = ['README.md', ...markdownBelow('docs')].filter(
  (file) => file !== 'docs/publishing/commands.md',
);

function markdownBelow(directory: string): string[] {
  return readdirSync(path.join(ROOT, directory), { recursive: true })
    .map((file) => path.posix.join(directory, String(file).split(path.sep).join('/')))
    .filter((file) => file.endsWith('.md'))
    .sort();
}

describe('the documents', () => {
  it.each([...renderReferences()])('%s is what the code generates (npm run docs)', (file, text) => {
    expect(read(file)).toBe(text);
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

  it.each(REASONS)('%s is among the reasons of check-update', (reason) => {
    expect(HTTP_API).toContain(`| \`${reason}\` |`);
  });

  it('do not name an application like the fixed part of the addresses of the API', () => {
    const named = PAGES.filter((file) => /\/feeds\/desktop\/|app="desktop"/.test(read(file)));
    expect(named).toEqual([]);
    for (const file of ['README.md', 'docs/getting-started.md', 'docs/clients/http-api.md']) {
      const text = read(file).replace(/\s+/g, ' ').replaceAll('*', '');
      expect(text, file).toMatch(
        /`\/api\/v1\/desktop\/` (is the same|begins the addresses).* every application/,
      );
    }
  });

  it('explain the warnings that npm prints on Node 20', () => {
    expect(read('README.md')).toMatch(/On Node 20[^.]*`EBADENGINE`\. Ignore them/);
  });

  it('calculate the example of the cost by its own formulas', () => {
    const page = read('docs/operations/cost.md').split('## An example: ')[1] ?? '';
    const value = (name: string) =>
      Number(
        new RegExp(`^\\| \`${name}\` \\|.*\\| ([\\d.,]+) \\|$`, 'm')
          .exec(page)?.[1]
          ?.replaceAll(',', ''),
      );
    const [N = 0, R = 0, F = 0, D = 0, B = 0, Q = 0, C = 0, K = 0] = [...'NRFDBQCK'].map(value);
    const updates = N * R;
    const amounts = [updates * F, updates * (1 - D) * F, updates * D * B, N * C * 30.4 * K].map(
      (gigabytes) => `${Math.round(gigabytes).toLocaleString('en')} GB`,
    );
    for (const amount of amounts) expect(page).toContain(`| ${amount} |`);
    const gets = updates * (1 - D + D * Q);
    expect(page).toContain(`| ${Math.round(gets / 1e6)} million |`);
    expect(page).toContain(`\`${(gets / 1e6 + 4.8).toFixed(1)} × G`);
  });

  it('draw a picture with its text in it', () => {
    const picture = read('docs/picture.svg');
    expect(picture).toContain('prefers-color-scheme: dark');
    expect(picture).toMatch(/<text [^>]*>\$ slipway publish 1\.0\.0 dist --create<\/text>/);
  });

  it.each(['README.md', 'docs/getting-started.md'])(
    '%s names its shell blocks sh, so that each of them is run',
    (file) => {
      const kinds = [...read(file).matchAll(/^```(.*)\n[\s\S]*?^```$/gm)].map(
        ([, kind]) => `${kind}`,
      );
      // The text after a shell block is compared with what the block prints.
      const notRun = kinds.filter((kind) => !['sh', 'text', 'yaml', 'json', 'js'].includes(kind));
      expect(notRun).toEqual([]);
      expect(kinds.filter((kind) => kind === 'sh').length).toBeGreaterThan(3);
    },
  );

  it('begin with the two commands that a newcomer types', () => {
    const [, first = ''] = read('README.md').split(/^## /m);
    expect(first).toContain('```sh\nnpm ci && npm run demo\nnpm ci && npm test\n```\n');
  });

  it('keep the README short', () => {
    expect(read('README.md').split('\n').length).toBeLessThan(200);
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
 * What the first column of the tables of addresses says, with its shorthand written out:
 * "`GET`, `PATCH /a`" is two, and in "`POST /a/b`, `/c`" the second is `POST /a/c`.
 */
function addressesOf(page: string): string[] {
  const rows = [...page.matchAll(/^\| (`(?:GET|POST|PATCH|DELETE)\b.*?) +\|/gm)];
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

describe('the page on the HTTP API and the interface', () => {
  it('name the same addresses', async () => {
    const named = addressesOf(HTTP_API);
    const documented = (await documentedRoutes()).map((route) =>
      route
        .replace(/^GET \/feeds\/.*/, 'GET /feeds/{app}/{channel}/{protocol}/…')
        .replace(/^(POST \/feeds\/.*\/omaha|GET \/tuf\/\{app\})\/.*/, '$1/…'),
    );
    expect(documented.length).toBeGreaterThan(20);
    expect(documented.filter((route) => !named.includes(route))).toEqual([]);
    const aside = /^GET \/(docs|openapi|api\/v1\/openapi|\.well-known|livez|readyz)/;
    expect(named.filter((route) => !documented.includes(route) && !aside.test(route))).toEqual([]);
  });
});

describe('the pages and the command line', () => {
  const help = async (...command: string[]): Promise<string> =>
    (await slipway([...command, '--help'], { cwd: ROOT })).stdout;
  const commandsIn = (text: string): string[] =>
    [...(text.split('\nExamples:')[0] ?? '').matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(
      ([, name]) => `${name}`,
    );
  const text = PAGES.map(read).join('\n');
  /** `slipway pause | resume VERSION [--reason TEXT]`, to the end of the line or of the code. */
  const shown = [
    ...text.matchAll(
      /(?:^|`|\.tgz |run )slipway (?:-- )?([a-z][a-z-]*(?: \| [a-z-]+)*)([^\n`#]*)/gm,
    ),
  ];

  let groups: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    const top = commandsIn(await help()).filter((name) => name !== 'help');
    const entries = top.map(async (name) => {
      const isGroup = ['accounts', 'apps', 'channels', 'contact', 'trust'].includes(name);
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
          const known = helps.get(command) ?? (await help(...command.split(' ')));
          helps.set(command, known);
          expect(known, line).toContain(option);
        }
      }
    }
    expect(seen.size).toBeGreaterThan(20);
  });

  it('leaves out no command', () => {
    const everyOne = [...groups].flatMap(([name, subs]) =>
      subs.length === 0
        ? [name]
        : subs.filter((sub) => sub !== 'help').map((sub) => `${name} ${sub}`),
    );
    const missing = everyOne.filter((command) => !pageShows(text, command));
    expect(missing).toEqual([]);
  });
});

function pageShows(page: string, command: string): boolean {
  const lines = page.split('\n').filter((line) => /\bslipway /.test(line));
  const [first, second] = command.split(' ');
  return lines.some((line) =>
    second === undefined
      ? new RegExp(`slipway (?:[a-z-]+ \\| )*${first}\\b`).test(line)
      : line.includes(`slipway ${command}`),
  );
}
