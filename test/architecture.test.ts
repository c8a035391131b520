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

/**
 * `src/store/x.ts` is in `store`, and `src/features/contact/x.ts` in `features/contact`. The files beside the rooms and
 * beside the features are the lists: they name what a program consists of.
 */
function roomOf(file: string): string {
  const [root = '', room = '', feature = ''] = file.split('/');
  if (root !== 'src') return root;
  if (room !== 'features') return /\.[jt]s$/.test(room) ? 'lists' : room;
  return /\.ts$/.test(feature) ? 'lists' : `features/${feature}`;
}

/** The role and what belongs to it; the backends are for the server and for commands. */
const STORE_INTERFACE = ['object-store', 'key', 'presence', 'range', 'key-facts'].map(
  (name) => `src/store/${name}.ts`,
);

interface Rule {
  /** Rooms, folders and single files. */
  readonly may: readonly string[];
  /** Only their types: what is handed in, and never called for. */
  readonly mayName?: readonly string[];
  readonly because: string;
}

const CORE_ROOMS = [
  ...['core', 'domain', 'store', 'builds', 'updaters', 'web'],
  ...['catalog', 'usage', 'answers', 'releases'],
];

const RULES: Readonly<Record<string, Rule>> = {
  core: { may: [], because: 'everything may use it, so it depends on nothing' },
  domain: {
    may: ['core'],
    because: 'decisions are pure: whatever they need is handed to them as values',
  },
  store: {
    may: ['core'],
    because: 'a store keeps bytes under keys and has never heard of releases',
  },
  builds: {
    may: ['core', 'domain'],
    because: 'it reads what build tools leave on disk and knows nothing of publishing it',
  },
  updaters: {
    may: ['core', 'domain'],
    because:
      'a dialect turns requests into queries and decisions into documents, and sees no store',
  },
  web: {
    may: ['core', 'domain'],
    because: 'it is what pages share: it asks nothing, and knows no page that uses it',
  },
  catalog: {
    may: ['core', 'domain', ...STORE_INTERFACE, 'src/store/file-source.ts', 'src/store/sequence/'],
    because:
      'it knows what is published and how it is stored, and not who asks or in which backend',
  },
  usage: {
    may: ['core', 'domain', ...STORE_INTERFACE, 'src/store/sequence/'],
    because: 'it counts what it is told of, and never asks the catalog itself',
  },
  answers: {
    may: ['core', 'domain', 'catalog', 'updaters'],
    mayName: [...STORE_INTERFACE, 'src/store/download-links.ts', 'src/usage/usage-counter.ts'],
    because: 'it says what a client is told, whoever sends it: it knows no server and no store',
  },
  client: {
    may: [
      'core',
      'domain',
      'src/catalog/documents/',
      'src/catalog/trust/',
      'updaters',
      'src/store/sequence/',
    ],
    because: 'it runs in applications: it verifies what the service says, and has none of its code',
  },
  releases: {
    may: ['core', 'domain', 'catalog'],
    mayName: ['store', 'builds'],
    because: 'it is what a publisher can do, whoever asks for it and wherever it is stored',
  },
  server: { may: CORE_ROOMS, because: 'the service answers, also without any feature' },
  cli: { may: CORE_ROOMS, because: 'a command works without the service and its features' },
};

const FEATURE: Rule = {
  may: [...CORE_ROOMS, 'server', 'cli'],
  because:
    'a feature can be removed: what it needs of another one is in a room of the core, is a role that is handed in, or is in the lists',
};

/** Measuring needs parts of their own: what is compared, not what is offered. */
const isBench = (file: string): boolean => /^scripts\/bench/.test(file);

function violationOf({ from, to, isTypeOnly }: Omit<Import, 'isLater'>): string | undefined {
  const room = roomOf(from);
  const target = roomOf(to);
  if (to === 'src/server.ts') return `${from}: nothing imports server.ts`;
  if (!/^(src|scripts)\//.test(to) || room === target) return undefined;
  if (room === 'lists' || room === 'scripts') return undefined;
  const rule = room.startsWith('features/') ? FEATURE : RULES[room];
  if (rule === undefined) return `${from}: src/${room} is a room without a rule; give it one here`;
  const allowed = isTypeOnly ? [...rule.may, ...(rule.mayName ?? [])] : rule.may;
  const isAllowed = allowed.some(
    (each) => each === target || each === to || (each.endsWith('/') && to.startsWith(each)),
  );
  return isAllowed ? undefined : `${from} imports ${to}, but ${room} must not: ${rule.because}`;
}

/** The folder of a room in which a file is, or the file itself when it stands beside the folders. */
const folderOf = (file: string): string =>
  file
    .split('/')
    .slice(0, roomOf(file).split('/').length + 2)
    .join('/');

/** For each loop of folders in a room: two imports of which each needs the other folder, perhaps through others. */
function loopsOf(among: readonly Import[]): readonly string[] {
  const inside = among.filter(
    ({ from, to }) => roomOf(from) === roomOf(to) && folderOf(from) !== folderOf(to),
  );
  const importsFrom = new Map<string, Import[]>();
  for (const each of inside) {
    const folder = folderOf(each.from);
    importsFrom.set(folder, [...(importsFrom.get(folder) ?? []), each]);
  }
  /** The last import of a way from one folder to another one. */
  const wayTo = (folder: string, target: string): Import | undefined => {
    const seen = new Set([folder]);
    for (const reached of seen) {
      for (const each of importsFrom.get(reached) ?? []) {
        if (folderOf(each.to) === target) return each;
        seen.add(folderOf(each.to));
      }
    }
    return undefined;
  };
  return inside.flatMap(({ from, to }) => {
    const back = folderOf(from) < folderOf(to) && wayTo(folderOf(to), folderOf(from));
    return back
      ? [
          `${from} imports ${to}, and ${back.from} imports ${back.to}: the folders of a room form no loop. Move what both need into one of the two, or into a folder below both.`,
        ]
      : [];
  });
}

/** Code that runs in a browser has the clock of its visitor, and no store: texts like keys are addresses there. */
const isForBrowser = (file: string): boolean => file.includes('/browser/');

describe('which room may import which', () => {
  it('has something to check', () => {
    expect(sources.length).toBeGreaterThan(80);
    expect(imports.length).toBeGreaterThan(300);
    expect(imports.some(({ to }) => to === 'src/store/s3/s3.ts')).toBe(true);
    expect(sources.filter((file) => roomOf(file) === 'features/accounts').length).toBeGreaterThan(
      10,
    );
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

  it('the folders of a room do not import each other in a loop', () => {
    expect(loopsOf(imports)).toEqual([]);
  });

  it('every import leads to a file', () => {
    const known = new Set([...sources, ...scripts]);
    const local = imports.filter(({ to }) => /^(src|scripts)\/.*\.ts$/.test(to));
    expect(local.filter(({ to }) => !known.has(to))).toEqual([]);
  });

  it('a violation would be detected', () => {
    const wrong = (from: string, to: string) => violationOf({ from, to, isTypeOnly: false });
    expect(wrong('src/domain/version.ts', 'src/catalog/documents/keys.ts')).toMatch(
      /decisions are pure/,
    );
    expect(wrong('src/server/desktop/file.ts', 'src/cli/x.ts')).toMatch(/without any feature/);
    expect(wrong('src/releases/x.ts', 'src/server/http/problem.ts')).toMatch(/must not/);
    expect(wrong('src/answers/x.ts', 'src/store/object-store.ts')).toMatch(/no store/);
    expect(wrong('src/features/console/x.ts', 'src/features/doctor/x.ts')).toMatch(/removed/);
    expect(wrong('src/features/console/x.ts', 'src/features/list.ts')).toMatch(/removed/);
    expect(wrong('src/features/console/x.ts', 'src/app.ts')).toMatch(/removed/);
    expect(wrong('src/server/x.ts', 'src/features/contact/x.ts')).toMatch(/without any feature/);
    expect(wrong('src/newroom/x.ts', 'src/core/errors.ts')).toMatch(/without a rule/);
    expect(wrong('src/app.ts', 'src/server.ts')).toMatch(/server/);
    const imported = (from: string, to: string) => ({ from, to, isTypeOnly: true, isLater: false });
    const there = imported('src/releases/a/x.ts', 'src/releases/b/y.ts');
    const through = imported('src/releases/b/z.ts', 'src/releases/c.ts');
    const back = imported('src/releases/c.ts', 'src/releases/a/x.ts');
    expect(loopsOf([there, through])).toEqual([]);
    expect(loopsOf([there, through, back])[0]).toMatch(
      'a/x.ts imports src/releases/b/y.ts, and src/releases/c.ts imports src/releases/a/x.ts',
    );
    const elsewhere = imported('src/features/a/x/f.ts', 'src/features/b/y/f.ts');
    expect(loopsOf([elsewhere, imported(elsewhere.to, elsewhere.from)])).toEqual([]);
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
    ['the AWS SDK only where S3 is spoken', /^@(aws-sdk|smithy)\//, /^src\/store\/s3\//],
    ['semver only where versions are compared', /^semver(\/|$)/, /^src\/domain\/version\.ts$/],
    [
      'Fastify only where HTTP is spoken',
      /^(fastify|@fastify)(\/|-|$)/,
      /^src\/(server\/|app\.ts|features\/[^/]+\/(routes\/|(.*-)?route\.ts|open-console\.ts|questions\.ts))/,
    ],
    [
      'jose only where something is signed',
      /^jose(\/|$)/,
      /^src\/(features\/accounts\/|catalog\/trust\/revision-signature\.ts$)/,
    ],
    [
      'TUF only where trust is decided',
      /^(@tufjs\/|tuf-js)/,
      /^src\/(client\/refresh-metadata\.ts$|(catalog|features)\/trust\/)/,
    ],
    [
      'pino only where the program starts',
      /^pino(-|\/|$)/,
      /^src\/(server\.ts|core\/log-output\.ts|features\/(console|demo)\/)|^scripts\//,
    ],
    ['the XML library in one file', /^fast-xml-parser(\/|$)/, /^src\/core\/xml\.ts$/],
    [
      'nodemailer only where mail is made',
      /^nodemailer(\/|$)/,
      /^src\/features\/contact\/mail\.ts$/,
    ],
    [
      'the list of common passwords only where passwords are judged',
      /^@zxcvbn-ts\//,
      /^src\/features\/accounts\/passwords\/password-rule\.ts$/,
    ],
    [
      'argon2 only where passwords are hashed',
      /^argon2(\/|$)/,
      /^src\/features\/accounts\/passwords\/password-hasher\.ts$/,
    ],
    [
      'MD4 and short BLAKE2b only where companions are made',
      /^hash-wasm(\/|$)/,
      /^src\/releases\/files\/make-(zsync|blockmap)\.ts$/,
    ],
    ['esbuild only where files are built', /^esbuild$/, /^(src\/web\/|scripts\/build\/)/],
    [
      'markdown-it and ghtml only in pages',
      /^(markdown-it|ghtml)(\/|$)/,
      /^src\/(web\/|features\/(website\/|console\/console-page\.ts))/,
    ],
    ['Preact and uPlot only in a browser', /^(preact|uplot)(\/|$)/, /\/browser\//],
    [
      'commander only on the command line',
      /^(commander|cli-progress)$/,
      /^(src\/(cli|features)|scripts)\//,
    ],
    ['nothing imports the entry point', /^src\/server\.ts$/, /^$/],
    [
      'only entry points and generators import the lists',
      /^src\/(features\/[^/]+|config|app)\.ts$/,
      /^(src\/(features\/[^/]+|config|app|service|server)\.ts$|scripts\/)/,
    ],
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

  it('a page is text made of values: it asks nothing and reads nothing', () => {
    const pages = imports.filter(({ from }) => from.startsWith('src/features/website/pages/'));
    const values = /^src\/(core|domain|web|features\/website\/pages)\//;
    expect(pages.length).toBeGreaterThan(10);
    expect(pages.filter(({ to }) => /^(src\/|node:)/.test(to) && !values.test(to))).toEqual([]);
  });

  it('accounts and messages know nothing of HTTP: their routes ask them', () => {
    const isRoute = /\/(routes\/|(.*-)?route\.ts|service\.ts|access\.ts)/;
    const serving = imports.filter(
      ({ from, to, isTypeOnly }) =>
        /^src\/features\/(accounts|contact)\//.test(from) &&
        to.startsWith('src/server/') &&
        !isRoute.test(from) &&
        !isTypeOnly,
    );
    expect(serving).toEqual([]);
  });

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
    // What explains an answer reads revisions, and settings are read where there is an environment.
    const pure = sources.filter((file) =>
      /^src\/(domain\/|updaters\/(?!legacy\/settings)|answers\/(?!explain\/))/.test(file),
    );
    expect(pure.length).toBeGreaterThan(100);
    expect(pure.flatMap(builtInsOf)).toEqual([]);
    expect(builtInsOf('src/catalog/live/saved-state.ts')).not.toEqual([]);
    expect(inSource(/\bprocess\./, (file) => !file.startsWith('src/domain/'))).toEqual([]);
  });

  it('built-ins are imported by their node: names', () => {
    const bare = /^(fs|path|os|crypto|http|https|net|stream|util|events|child_process)(\/|$)/;
    expect(imports.filter(({ to }) => bare.test(to))).toEqual([]);
  });

  it('the environment is read by the entry points alone', () => {
    // `slipway serve` becomes the service: it hands its environment and its signals on.
    const serves = ['src/server.ts', 'src/cli/serve/run.ts'];
    const entry = [...serves, 'src/core/system.ts'];
    expect(inSource(/\bprocess\.env\b/, (file) => entry.includes(file))).toEqual([]);
    expect(inSource(/\bprocess\.(exit|on)\b/, (file) => serves.includes(file))).toEqual([]);
  });

  it('commands print only on the terminal that is passed in', () => {
    const own = /\bprocess\.(std(in|out|err)|exitCode)\b/;
    expect(inSource(own, (file) => file === 'src/server.ts')).toEqual([]);
    const prints = /\bconsole\.(?:log|info|warn|error|debug|table|dir)\b/;
    expect(inSource(prints, (file) => file === 'src/server.ts')).toEqual([]);
  });

  it('time and randomness are passed in', () => {
    const real = /\bDate\.now\(|\bnew Date\(\s*\)|\bMath\.random\(|\bperformance\.now\(/;
    // How long a turn of the event loop or an answer takes decides no result.
    const measured = ['src/core/run-in-turns.ts', 'src/server/http/fast/answer-memory.ts'];
    // An application has the clock of its machine.
    const exempt = ['src/core/system.ts', 'src/client/verifier.ts', ...measured];
    // A page has the clock of its visitor.
    expect(inSource(real, (file) => exempt.includes(file) || isForBrowser(file))).toEqual([]);
  });

  it('only one file knows HTTP status codes of errors', () => {
    const outside = (file: string) => !/^src\/(releases|catalog|domain|store)\//.test(file);
    expect(inSource(/\bstatusCode\b/, outside).filter((file) => !/\/s3\//.test(file))).toEqual([]);
  });
});

describe('keys of stored objects', () => {
  const isKeys = (file: string) => file.endsWith('/keys.ts');
  // What runs in a browser has no store: such texts are addresses there.
  const others = [...sources, ...scripts].filter(
    (file) => !isKeys(file) && !isBench(file) && !isForBrowser(file),
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
    for (const entry of ['scripts/start.ts', 'src/features/package-commands.ts']) {
      expect([...packagesOf(entry)].filter((name) => !/^(commander|semver)$/.test(name))).toEqual(
        [],
      );
    }
    expect(packagesOf('src/features/package-commands.ts')).toContain('semver');
  });

  it('for what the lists say about all features: settings and keys, and nothing that serves', () => {
    expect([...packagesOf('src/features/command-facts.ts')].sort()).toEqual(['semver', 'zod']);
  });

  it('for its work: no server, and no AWS SDK before the store is known to be S3', () => {
    // The command "skill" only prints a file.
    const serves = /^src\/(cli\/serve|features\/(console|demo|skill))\//;
    const commands = sources
      .filter((file) => /^src\/(cli|features)\/.*\/run(-[a-z-]+)?\.ts$/.test(file))
      .filter((file) => !serves.test(file));
    expect(commands.length).toBeGreaterThan(20);
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

describe('a quick test', () => {
  /** The publisher's command for a signature: the tests give it commands that run Node. */
  const RUNS_COMMANDS = 'src/releases/trust/command-signer.ts';
  const NODE = 'process.execPath';

  /** The calls of a source that start a program, each with what it starts; only those that may start another than Node. */
  function foreignStarts(source: string): string[] {
    const code = withoutComments(source);
    const found: string[] = [];
    const modules = /\bimport\s+([^;'"]*?)\s+from\s+['"](?:node:)?child_process['"];?/g;
    for (const [statement, names = ''] of code.matchAll(modules)) {
      if (names.startsWith('type ')) continue;
      const rest = code.replace(statement, '');
      const inBraces = /^\{([\s\S]*)\}$/.exec(names)?.[1]?.split(',') ?? [];
      // Such an import has names that this test does not follow.
      if (inBraces.length === 0) found.push(statement);
      for (const each of inBraces.map((name) => name.trim())) {
        if (each === '' || each.startsWith('type ')) continue;
        const [name = '', alias = name] = each.split(/\s+as\s+/);
        // `fork` runs Node. A use without a call, such as in promisify, has a program that this test does not see.
        const uses = new RegExp(`(?<![.\\w'"])${alias}\\b(\\(\\s*[^,()]*)?[^\\n]*`, 'g');
        for (const [use, call = ''] of rest.matchAll(uses)) {
          const isNode = call.replace(/^\(\s*/, '').trim() === NODE;
          if (name === 'fork' ? call === '' : !isNode) found.push(use);
        }
      }
    }
    const loads = /child_process['"]\)(?:\)|\s)*(?:\.\w+\(\s*([^,()]*))?/g;
    for (const [load, program = ''] of code.matchAll(loads)) {
      if (program.trim() !== NODE) found.push(load);
    }
    return found;
  }

  it('starts no program but Node: npm test is the first command of a newcomer, on any system', () => {
    const isQuick = (file: string) => /(?<!\.system)\.test\.ts$/.test(file);
    const reached = new Map<string, string>();
    const visit = (file: string, from: string): void => {
      if (reached.has(file) || file === RUNS_COMMANDS) return;
      reached.set(file, from);
      for (const { to, isTypeOnly } of importsOf(file)) {
        if (!isTypeOnly && /^(test|scripts|src)\/.*\.tsx?$/.test(to)) visit(to, from);
      }
    };
    for (const file of filesBelow('test').filter(isQuick)) visit(file, file);
    expect(reached.size).toBeGreaterThan(1_000);
    const found = [...reached].flatMap(([file, from]) =>
      foreignStarts(text(file)).map((start) => `${from}, by ${file}: ${start}`),
    );
    expect(found, 'use Node, or move the case to a system test with hasProgram').toEqual([]);
  });

  it('would be noticed, in each form', () => {
    const at = (text: string) => text.replaceAll('MODULE', ['node:child', 'process'].join('_'));
    for (const source of [
      "import { execFile } from 'MODULE';\nexecFile('xmllint', ['--noout']);",
      "import { execFileSync } from 'MODULE';\nexecFileSync(\n  'git', ['ls-files']);",
      "import { type ChildProcess, spawn } from 'MODULE';\nspawn(program, args);",
      "import { spawnSync } from 'MODULE';\nspawnSync('sh', [process.execPath]);",
      "import { exec } from 'MODULE';\nexec('ls');",
      "import { execSync } from 'MODULE';\nexecSync(command);",
      "import { spawn as start } from 'MODULE';\nstart('bash');",
      "import { execFile } from 'MODULE';\nconst run = promisify(execFile);",
      "import * as child from 'MODULE';",
      "import child from 'MODULE';",
      "const { spawn } = require('MODULE');",
      "const { spawn } = await import('MODULE');",
      "(await import('MODULE')).spawn('git');",
      "process.getBuiltinModule('MODULE').spawn('git');",
    ]) {
      expect(foreignStarts(at(source)), source).not.toEqual([]);
    }
    for (const source of [
      "import { type ChildProcess, spawn } from 'MODULE';\nspawn(process.execPath, ['x']);",
      "import type { ChildProcess } from 'MODULE';",
      "import { fork } from 'MODULE';\nfork('x.js');\nregex.exec(text);",
      "import { execFile } from 'MODULE';\nexecFile(\n  process.execPath,\n  []);",
    ]) {
      expect(foreignStarts(at(source)), source).toEqual([]);
    }
  });
});
