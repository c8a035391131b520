import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/** The map of the rooms, kept true: reads every import and says why one is out of place. */

const ROOT = path.resolve(import.meta.dirname, '..');

interface Import {
  /** Relative to the repository, with forward slashes. */
  readonly from: string;
  /** The same, for a file of the project; a package or built-in as written. */
  readonly to: string;
  readonly isTypeOnly: boolean;
  /** By `import()`, once it is needed. */
  readonly isLater: boolean;
}

function filesBelow(directory: string): string[] {
  return readdirSync(path.join(ROOT, directory), { recursive: true })
    .map(String)
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => path.posix.join(directory, file.split(path.sep).join('/')))
    .sort();
}

const text = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** Comments name modules too. */
const withoutComments = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

const IMPORT =
  /^\s*(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

function importsOf(file: string): Import[] {
  return [...withoutComments(text(file)).matchAll(IMPORT)].map(([, type, fixed, dynamic]) => {
    const specifier = String(fixed ?? dynamic);
    const to = specifier.startsWith('.')
      ? path.posix.join(path.posix.dirname(file), specifier)
      : specifier;
    return { from: file, to, isTypeOnly: type !== undefined, isLater: fixed === undefined };
  });
}

const sources = filesBelow('src');
const scripts = filesBelow('scripts');
const imports = [...sources, ...scripts].flatMap(importsOf);

/** `src/http/x.ts` is in `http`, `src/app.ts` in `app`, and so is `src/app/x.ts`. */
const roomOf = (file: string): string =>
  file.startsWith('scripts/') ? 'scripts' : (file.split('/')[1] ?? '').replace(/\.[jt]s$/, '');

/** The role and what belongs to it; the backends are for `app` alone. */
const STORE_INTERFACE = [
  'src/object-store/object-store.ts',
  'src/object-store/key.ts',
  'src/object-store/presence.ts',
  'src/object-store/range.ts',
];
const LEAVES = [
  'errors',
  'clock',
  'log',
  'secret',
  'steps',
  'run-in-turns',
  'json-record',
  'state-file',
  'response-body',
  'rate-limit',
  'counted',
  'polling',
  'when-known',
  'printable',
  'key-facts',
];

interface Rule {
  /** Rooms, or single files. */
  readonly may: readonly string[];
  /** Only their types: what is handed in, and never called for. */
  readonly mayName?: readonly string[];
  readonly because: string;
}

const RULES: Readonly<Record<string, Rule>> = {
  errors: { may: [], because: 'everything may throw, so what is thrown depends on nothing' },
  clock: { may: [], because: 'it is a role' },
  log: { may: [], because: 'it is a role' },
  secret: { may: [], because: 'it is a value' },
  counted: { may: [], because: 'it is a phrase' },
  polling: { may: ['clock'], because: 'it repeats any task and knows none' },
  'when-known': { may: [], because: 'it continues with any value and knows none' },
  steps: { may: [], because: 'it runs any work and knows none' },
  'run-in-turns': { may: ['steps'], because: 'it runs any work and knows none' },
  'json-record': { may: [], because: 'it is a value' },
  'state-file': { may: [], because: 'it is one file, whatever is in it' },
  'key-facts': { may: [], because: 'it is the form in which others describe their keys' },
  'rate-limit': { may: ['errors'], because: 'it counts by name and knows no names' },
  'response-body': { may: [], because: 'it reads what others answered and knows none of them' },
  xml: { may: ['errors', 'json-record'], because: 'it reads any document and knows none' },
  domain: {
    may: ['errors', 'json-record', 'steps'],
    because: 'decisions are pure: whatever they need is handed to them as values',
  },
  'object-store': {
    may: ['errors', 'clock', 'key-facts', 'own-directory', 'plain-directory', 'plain-file'],
    because: 'a store keeps bytes under keys and has never heard of releases',
  },
  sequence: {
    may: [...STORE_INTERFACE, 'errors', 'clock', 'json-record', 'steps', 'run-in-turns'],
    because: 'the commit protocol is the same for every store and every kind of document',
  },
  catalog: {
    may: [...STORE_INTERFACE, 'src/object-store/file-source.ts', 'domain', 'sequence', ...LEAVES],
    because:
      'it knows what is published and how it is stored, and not who asks or in which backend',
  },
  'build-output': {
    may: ['domain', 'errors', 'json-record', 'plain-file', 'xml'],
    because: 'it reads what build tools leave on disk and knows nothing of publishing it',
  },
  operations: {
    may: ['domain', 'catalog', 'plain-file', 'src/wording/time.ts', ...LEAVES],
    mayName: [
      ...STORE_INTERFACE,
      'src/object-store/download-links.ts',
      'src/sequence/append.ts',
      'build-output',
    ],
    because: 'an operation is what can be done, whoever asks for it and wherever it is stored',
  },
  console: {
    may: [
      ...['domain', 'catalog', 'operations', 'wording', 'usage', 'pages', ...LEAVES],
      'src/sequence/newest-known.ts',
    ],
    mayName: STORE_INTERFACE,
    because: 'it shows and changes what commands do, with their operations and their words',
  },
  wording: {
    may: ['domain', 'operations', 'counted'],
    mayName: ['catalog'],
    because: 'it says in words what operations answer, for a terminal and for a page',
  },
  protocols: {
    may: ['domain', 'errors', 'json-record', 'xml'],
    because:
      'a dialect turns requests into queries and decisions into documents, and sees no store',
  },
  identity: {
    may: [...STORE_INTERFACE, 'sequence', 'domain', ...LEAVES],
    because: 'it knows accounts and sessions and how they are stored, and not who asks over what',
  },
  contact: {
    may: [...STORE_INTERFACE, 'sequence', 'domain', 'captcha', ...LEAVES],
    because: 'it takes messages in and delivers them, whatever the form was',
  },
  usage: {
    may: [...STORE_INTERFACE, 'sequence', 'domain', ...LEAVES],
    because: 'it counts what it is told of, and never asks the catalog itself',
  },
  status: {
    may: [...STORE_INTERFACE, ...LEAVES],
    because: 'it observes the components that it is handed',
  },
  monitoring: {
    may: [...LEAVES],
    because: 'it passes requests on to one upstream',
  },
  captcha: {
    may: [...LEAVES],
    because: 'it asks one service whether a visitor is a person',
  },
  answers: {
    may: ['domain', 'operations', 'protocols', ...LEAVES],
    mayName: [...STORE_INTERFACE, 'usage'],
    because: 'it says what a client is told, whoever sends it: it knows no server and no store',
  },
  http: {
    // Signed files are named as a bucket's are: hence the disposition.
    may: [
      ...[
        'answers',
        'operations',
        'protocols',
        'domain',
        'identity',
        'contact',
        'usage',
        'status',
        'monitoring',
        'captcha',
        'browser-files',
        'console',
        'pages',
        ...LEAVES,
      ],
      'src/object-store/disposition.ts',
    ],
    mayName: [...STORE_INTERFACE, 'src/object-store/download-links.ts', 'src/catalog/catalog.ts'],
    because:
      'a route translates: it asks operations, and never goes to the store behind their back',
  },
  pages: {
    may: ['domain', 'errors', 'xml', 'counted'],
    because: 'a page is text made of values: it asks nothing and reads nothing',
  },
  browser: {
    may: ['domain'],
    mayName: ['console'],
    because: 'it runs in a browser, and knows the service by its answers alone',
  },
  'browser-files': {
    may: ['errors'],
    because: 'it builds and opens files for browsers, and knows no page that uses them',
  },
  config: {
    may: [
      ...['domain', 'errors', 'secret'],
      'src/identity/access-tokens/signing-keys-schema.ts',
      'src/catalog/poll-interval.ts',
    ],
    mayName: ['log-output'],
    because: 'an environment goes in, a value comes out',
  },
  'own-directory': { may: ['errors'], because: 'it is one directory' },
  'plain-directory': { may: ['errors'], because: 'it is one directory, whatever is in it' },
  'plain-file': { may: ['errors'], because: 'it is one file, whatever is in it' },
  'local-secret': {
    may: ['errors', 'own-directory', 'plain-file', 'secret'],
    because: 'it is one file and its contents',
  },
  system: {
    may: ['clock', 'errors'],
    because: 'it holds nothing but the real clock, chance and environment',
  },
  printable: { may: [], because: 'it is a text' },
  'log-output': { may: ['printable'], because: 'it is one stream' },
  server: {
    may: [
      'app',
      'check-node',
      'config',
      'system',
      'errors',
      'service',
      'workers',
      'log-output',
      'src/http/operations/metrics-server.ts',
      'src/http/server/access-log.ts',
      'src/http/server/listen-error.ts',
    ],
    because: 'it starts and stops; what is used where is the business of app.ts',
  },
  service: {
    may: [
      'app',
      'workers',
      'src/http/operations/metrics-server.ts',
      'src/http/operations/health.ts',
      'src/http/server/listen-error.ts',
      ...LEAVES,
    ],
    mayName: ['config'],
    because: 'it listens; what is used where is the business of app.ts',
  },
  workers: {
    may: [...LEAVES],
    mayName: ['src/catalog/relay.ts', 'src/status/status.ts', 'src/usage/shared-metrics.ts'],
    because: 'it starts processes and passes on what they report, and does nothing with it',
  },
  scripts: {
    may: [
      ...['operations', 'app', 'check-node', 'config', 'build-output', 'domain', 'system'],
      ...['own-directory', 'plain-directory', 'plain-file'],
      ...['browser-files', 'wording', 'pages'],
      ...LEAVES,
      // Accounts, messages and counts are shown from what their rooms store.
      ...['identity', 'contact', 'usage', 'protocols'],
      // What the lists collect.
      ...['src/catalog/documents.ts', 'src/catalog/facts.ts', 'src/object-store/keys.ts'],
      'src/catalog/revision-document.ts',
      'src/sequence/json-schema.ts',
      'src/catalog/poll-interval.ts',
    ],
    because: 'a script parses arguments and prints; what it does is an operation',
  },
};

/** Measuring needs parts of their own: what is compared, not what is offered. */
const isBench = (file: string): boolean => /^scripts\/bench/.test(file);

function violationOf({ from, to, isTypeOnly }: Omit<Import, 'isLater'>): string | undefined {
  const room = roomOf(from);
  const target = roomOf(to);
  if (!/^(src|scripts)\//.test(to) || room === target || isBench(from)) return undefined;
  if (room === 'app') return target === 'server' ? `${from}: nothing imports server.ts` : undefined;
  const rule = RULES[room];
  if (rule === undefined) return `${from}: src/${room} is a room without a rule; give it one here`;
  const allowed = isTypeOnly ? [...rule.may, ...(rule.mayName ?? [])] : rule.may;
  if (allowed.includes(target) || allowed.includes(to)) return undefined;
  return `${from} imports ${to}, but ${room} must not: ${rule.because}`;
}

describe('which room may import which', () => {
  it('has something to check', () => {
    expect(sources.length).toBeGreaterThan(80);
    expect(imports.length).toBeGreaterThan(300);
    expect(imports.some(({ to }) => to === 'src/object-store/s3.ts')).toBe(true);
  });

  it('imports go one way only', () => {
    expect(imports.map(violationOf).filter((line) => line !== undefined)).toEqual([]);
  });

  it('files do not import each other in a circle, not even for a type', () => {
    const targets = new Map<string, string[]>();
    for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (done.has(file)) return;
      done.add(file);
      for (const to of targets.get(file) ?? []) visit(to, [...path, file]);
    };
    for (const file of [...sources, ...scripts]) visit(file, []);
    expect(circles).toEqual([]);
  });

  it('every import leads to a file', () => {
    const known = new Set([...sources, ...scripts]);
    const local = imports.filter(({ to }) => /^(src|scripts)\/.*\.ts$/.test(to));
    expect(local.filter(({ to }) => !known.has(to))).toEqual([]);
  });

  it('a violation would be detected', () => {
    const wrong = (from: string, to: string) => violationOf({ from, to, isTypeOnly: false });
    expect(wrong('src/domain/version.ts', 'src/catalog/keys.ts')).toMatch(/decisions are pure/);
    expect(wrong('src/http/desktop/file.ts', 'src/object-store/s3.ts')).toMatch(/translates/);
    expect(wrong('src/operations/x.ts', 'src/http/problem.ts')).toMatch(/must not/);
    expect(wrong('src/http/x.ts', 'src/catalog/catalog.ts')).toMatch(/translates/);
    expect(wrong('src/newroom/x.ts', 'src/errors.ts')).toMatch(/without a rule/);
    expect(wrong('src/app.ts', 'src/server.ts')).toMatch(/server/);
  });
});

describe('fences', () => {
  const fence = (isFenced: (to: string) => boolean, isInside: (file: string) => boolean) =>
    imports
      .filter(({ from, to }) => isFenced(to) && !isInside(from) && !isBench(from))
      .map(({ from, to }) => `${from} imports ${to}`);
  const packageNamed = (pattern: RegExp) => (to: string) => pattern.test(to);
  const inSource = (pattern: RegExp, isAllowed: (file: string) => boolean) =>
    sources.filter((file) => !isAllowed(file) && pattern.test(withoutComments(text(file))));

  it.each<[string, RegExp, RegExp]>([
    [
      'the AWS SDK only where S3 is spoken',
      /^@(aws-sdk|smithy)\//,
      /^src\/object-store\/s3[^/]*\.ts$/,
    ],
    ['semver only where versions are compared', /^semver(\/|$)/, /^src\/domain\/version\.ts$/],
    [
      'Fastify only where HTTP is spoken',
      /^(fastify|@fastify)(\/|-|$)/,
      /^src\/(http\/|app(\/|\.ts))/,
    ],
    ['jose only where something is signed', /^jose(\/|$)/, /^src\/(identity|signing)\//],
    [
      'pino only where the program starts',
      /^pino(-|\/|$)/,
      /^(src\/(server|log-output)\.ts$|scripts\/)/,
    ],
    ['the XML library in one file', /^fast-xml-parser(\/|$)/, /^src\/xml\.ts$/],
    ['nodemailer only where mail is made', /^nodemailer(\/|$)/, /^src\/contact\/mail\.ts$/],
    [
      'the list of common passwords only where passwords are judged',
      /^@zxcvbn-ts\//,
      /^src\/identity\/passwords\/password-rule\.ts$/,
    ],
    [
      'argon2 only where passwords are hashed',
      /^argon2(\/|$)/,
      /^src\/identity\/passwords\/password-hasher\.ts$/,
    ],
    [
      'MD4 only where a zsync file is made',
      /^hash-wasm(\/|$)/,
      /^src\/operations\/make-zsync\.ts$/,
    ],
    ['esbuild only where files are built', /^esbuild$/, /^(src\/browser-files\/|scripts\/build\/)/],
    ['markdown-it and ghtml only in pages', /^(markdown-it|ghtml)(\/|$)/, /^src\/pages\//],
    ['Preact and uPlot only in a browser', /^(preact|uplot)(\/|$)/, /^src\/browser\//],
    ['commander only on the command line', /^(commander|cli-progress)$/, /^scripts\//],
    ['nothing imports the entry point', /^src\/server\.ts$/, /^$/],
    [
      'the command line gets its commands by the lists, and knows none of them',
      /^scripts\/cli\/[a-z-]+-commands?\.ts$/,
      /^scripts\/lists\//,
    ],
    [
      'commands get the settings by the lists',
      /^src\/config\.ts$/,
      /^(?!scripts\/cli\/|src\/app\/copy\/)/,
    ],
    [
      'only entry points and generators import the lists',
      /^scripts\/lists\//,
      /^scripts\/(lists|build|docs)\/|^scripts\/slipway\.ts$/,
    ],
  ])('%s', (_rule, fenced, inside) => {
    expect(fence(packageNamed(fenced), (file) => inside.test(file))).toEqual([]);
  });

  /** The operations that answer clients. What explains an answer reads revisions, and may use Node. */
  const ANSWERING = [
    ...['check-for-update', 'find-update', 'open-channel', 'open-channels', 'issue-link'],
    ...['list-latest', 'find-download', 'find-file', 'open-file', 'read-file', 'list-channel'],
    'list-common-release',
  ].map((name) => `src/operations/${name}.ts`);

  it('decisions, dialects and answers use nothing of Node, nor does what they import: they could run anywhere', () => {
    const builtInsOf = (entry: string): string[] => {
      const seen = new Set<string>();
      const found: string[] = [];
      const visit = (file: string): void => {
        if (seen.has(file)) return;
        seen.add(file);
        for (const { to, isTypeOnly } of imports.filter(({ from }) => from === file)) {
          if (isTypeOnly) continue;
          if (to.startsWith('node:')) found.push(`${entry}: ${file} imports ${to}`);
          else visit(to);
        }
      };
      visit(entry);
      return found;
    };
    const pure = sources.filter((file) => /^src\/(answers|domain|protocols)\//.test(file));
    expect(sources).toEqual(expect.arrayContaining(ANSWERING));
    expect([...pure, ...ANSWERING].flatMap(builtInsOf)).toEqual([]);
    expect(builtInsOf('src/catalog/saved-state.ts')).not.toEqual([]);
    expect(inSource(/\bprocess\./, (file) => !file.startsWith('src/domain/'))).toEqual([]);
  });

  it('built-ins are imported by their node: names', () => {
    const bare = /^(fs|path|os|crypto|http|https|net|stream|util|events|child_process)(\/|$)/;
    expect(imports.filter(({ to }) => bare.test(to))).toEqual([]);
  });

  it('the environment is read by the entry points alone', () => {
    const entry = ['src/server.ts', 'src/system.ts'];
    expect(inSource(/\bprocess\.env\b/, (file) => entry.includes(file))).toEqual([]);
    expect(inSource(/\bprocess\.(exit|on)\b/, (file) => file === 'src/server.ts')).toEqual([]);
  });

  it('commands print only on the terminal that is passed in', () => {
    const own =
      /\bconsole\.(?:log|info|warn|error|debug|table|dir)\b|\bprocess\.(std(in|out|err)|exitCode)\b/;
    const commands = scripts.filter((file) => file.startsWith('scripts/cli/'));
    expect(commands.filter((file) => own.test(withoutComments(text(file))))).toEqual([]);
    const prints = /\bconsole\.(?:log|info|warn|error|debug|table|dir)\b/;
    expect(inSource(prints, (file) => file === 'src/server.ts')).toEqual([]);
  });

  it('time and randomness are passed in', () => {
    const real = /\bDate\.now\(|\bnew Date\(\s*\)|\bMath\.random\(|\bperformance\.now\(/;
    // A page has the clock of its visitor.
    const reads = (file: string) => file === 'src/system.ts' || file.startsWith('src/browser/');
    expect(inSource(real, reads)).toEqual([]);
  });

  it('only one file knows HTTP status codes of errors', () => {
    const outside = (file: string) =>
      !/^src\/(operations|domain|sequence|object-store)\//.test(file);
    expect(inSource(/\bstatusCode\b/, outside).filter((file) => !/\/s3/.test(file))).toEqual([]);
  });
});

describe('keys of stored objects', () => {
  const isKeys = (file: string) => /^src\/[^/]+\/keys\.ts$/.test(file);
  // What runs in a browser has no store: such texts are addresses there.
  const others = [...sources, ...scripts].filter(
    (file) => !isKeys(file) && !isBench(file) && !file.startsWith('src/browser/'),
  );

  /** Strings, templates and regular expressions that begin like one: as far as a pattern can tell. */
  const LITERAL = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\^[a-z-]+\\\//g;
  const literalsOf = (source: string): string[] =>
    [...withoutComments(source).matchAll(LITERAL)].map(([literal]) => literal);
  /** `'apps/…`, `` `apps/… `` and `/^apps\/…` all have the root `apps`. */
  const rootOf = (literal: string): string | undefined =>
    /^(?:['"`]|\/\^)([a-z][a-z-]*)\\?\//.exec(literal)?.[1];
  const rootsOf = (file: string): Set<string> =>
    new Set(literalsOf(text(file)).flatMap((literal) => rootOf(literal) ?? []));

  const roomsByRoot = new Map<string, string[]>();
  for (const file of sources.filter(isKeys)) {
    for (const root of rootsOf(file)) {
      roomsByRoot.set(root, [...(roomsByRoot.get(root) ?? []), roomOf(file)]);
    }
  }

  /** Roots and prefixes that a keys.ts exports: for listing, not for building keys of them. */
  const prefixes = sources
    .filter(isKeys)
    .flatMap((file) => [...text(file).matchAll(/export (?:const|function) (\w+)/g)])
    .flatMap(([, name]) => (/(ROOT|PREFIX|Prefix)$/.test(name ?? '') ? [name] : []));

  /** Literals that are a key, or are put together with a root or a prefix of one. */
  const keysIn = (source: string): string[] => {
    const own = literalsOf(source).filter((literal) => roomsByRoot.has(rootOf(literal) ?? ''));
    const code = withoutComments(source);
    const joined = [...code.matchAll(/`\$\{(\w+)/g)].filter(([, name]) =>
      prefixes.includes(name ?? ''),
    );
    const given = /[sS]tore\.(?:create|get|read|head|list|delete|upload)\(\s*(?:'[^']|"[^"]|`)/g;
    return [...own, ...[...joined, ...code.matchAll(given)].map(([match]) => match)];
  };

  it('are built in the keys.ts of a room, and nowhere else', () => {
    const found = others.flatMap((file) => keysIn(text(file)).map((key) => `${file}: ${key}`));
    expect(found).toEqual([]);
  });

  it('have a root that belongs to one room; only probes share one', () => {
    expect(roomsByRoot.get('apps')).toEqual(['catalog']);
    expect(roomsByRoot.size).toBeGreaterThan(8);
    const shared = [...roomsByRoot].filter(([, rooms]) => rooms.length > 1);
    expect(shared.map(([root]) => root)).toEqual(['probe']);
  });

  it('would be noticed', () => {
    for (const source of [
      'const key = `apps/#{name}/x.json`;',
      "const ROOT = 'housekeeping/';",
      'const match = /^apps\\/(.+)$/.exec(key);',
      'await store.get(`#{id}.json`);',
      "await deps.privateStore.create('x', bytes);",
      'const key = `#{APPLICATIONS_ROOT}x`;',
      'const key = `#{releasesPrefix(name)}x`;',
    ].map((line) => line.replaceAll('#{', '${'))) {
      expect(keysIn(source), source).not.toEqual([]);
    }
    expect(keysIn("describe('Below `apps/{application}/`.')")).toEqual([]);
    expect(keysIn("store.list('')")).toEqual([]);
  });
});

describe('what a command loads', () => {
  /** The packages that importing a file loads; what is imported by `import()` is loaded later. */
  function packagesOf(entry: string): Set<string> {
    const seen = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const { to, isTypeOnly, isLater } of importsOf(file)) {
        if (isTypeOnly || isLater) continue;
        if (/^(src|scripts)\/.*\.ts$/.test(to)) visit(to);
        else if (!/^(node:|src\/)/.test(to)) packages.add(to);
      }
    };
    visit(entry);
    return packages;
  }

  it('for its help: what parses arguments, and no more', () => {
    for (const entry of ['scripts/start.ts', 'scripts/lists/complete.ts']) {
      expect([...packagesOf(entry)].filter((name) => !/^(commander|semver)$/.test(name))).toEqual(
        [],
      );
    }
    expect(packagesOf('scripts/lists/complete.ts')).toContain('semver');
  });

  it('for what the lists say about all features: settings and keys, and nothing that serves', () => {
    expect([...packagesOf('scripts/lists/facts.ts')].sort()).toEqual(['semver', 'zod']);
  });

  it('for its work: no server, and no AWS SDK before the store is known to be S3', () => {
    const serving = ['console', 'demo', 'serve'].map((name) => `scripts/cli/run/${name}.ts`);
    const commands = scripts
      .filter((file) => file.startsWith('scripts/cli/run/'))
      .filter((file) => !serving.includes(file));
    expect(commands.length).toBeGreaterThan(5);
    for (const command of commands) {
      const packages = [...packagesOf(command)];
      expect(packages, command).toContain('zod');
      expect(
        packages.filter((name) => /^(fastify|@fastify|@aws-sdk|pino|prom-client)/.test(name)),
        command,
      ).toEqual([]);
    }
  });
});
