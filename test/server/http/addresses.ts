import type { FastifyInstance } from 'fastify';

/** Addresses of requests, for attacks on code that decides by the address. */

export interface RegisteredRoute {
  readonly methods: readonly string[];
  /** Such as `/apps/:app/releases`. */
  readonly url: string;
}

/** Every route of a server, as its router has them. */
export function registeredRoutes(app: Pick<FastifyInstance, 'printRoutes'>): RegisteredRoute[] {
  const above: string[] = [];
  return app
    .printRoutes()
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', name = '', methods] =
        /^(.*)[├└]── (.*?)(?: \((.*)\))?$/.exec(line) ?? [];
      const depth = indent.length / 4;
      above.splice(depth, Number.POSITIVE_INFINITY, name === '(empty root node)' ? '' : name);
      return methods === undefined ? [] : [{ methods: methods.split(', '), url: above.join('') }];
    });
}

/** An address of the route, with these values for its parameters. */
export function addressOf(url: string, values: Readonly<Record<string, string>>): string {
  return url.replace(/:(\w+)|\*/g, (name) => values[name] ?? 'x');
}

const hex = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`;

/** Spellings that a router, a proxy or a guard might take for the same address, or for another one. */
export function spellingsOf(path: string): string[] {
  const nth = (index: number): string =>
    path.slice(0, index) + hex(path.charAt(index)) + path.slice(index + 1);
  const [, first = '', ...rest] = path.split('/');
  return [
    path,
    nth(1),
    nth(path.length - 1),
    nth(path.lastIndexOf('/') - 1),
    path.replace(/[a-z]/g, hex),
    path.replace(/[a-z]/g, (letter) => hex(letter).toUpperCase()),
    nth(1).replace('%', '%25'),
    nth(path.lastIndexOf('/')),
    nth(path.indexOf('/', 1)).toUpperCase(),
    path.replaceAll('/', '\\'),
    `/${path}`,
    `/.${path}`,
    `/./${path}`,
    `/x/..${path}`,
    `/${first}/../${[first, ...rest].join('/')}`,
    `/${first};x=y/${rest.join('/')}`,
    path.toUpperCase(),
    `${path}/`,
    `${path}?token=x`,
    `${path}#x`,
    `/?token=x${path}`,
    `http://any${path}`,
    `https://any:1${path}`,
    `HTTP://any${path}`,
    `http://any/${path}`,
    `http:${path}`,
    `//any${path}`,
    `any${path}`,
    `*${path}`,
    '*',
  ];
}
