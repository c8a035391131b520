import path from 'node:path';
import type { Plugin } from 'esbuild';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Leaves out parts of packages that no bundle uses, and that esbuild cannot recognize as unused. */
export const lessOfPackages: Plugin = {
  name: 'less-of-packages',
  setup: ({ onLoad, onResolve }) => {
    // zod contains its error texts in fifty languages, but the commands use only English.
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: `export { default as en } from './en.js';`,
    }));
    // The tables of Unicode are for old versions of Node, whose regular expressions have no names for these characters.
    onLoad({ filter: /[\\/]json5[\\/]lib[\\/]unicode\.js$/ }, () => ({
      contents: `
        exports.Space_Separator = /\\p{Zs}/u;
        exports.ID_Start = /\\p{ID_Start}/u;
        exports.ID_Continue = /\\p{ID_Continue}/u;`,
    }));
    // The AWS SDK reads the User-Agent of a browser with bowser, and never in Node.
    onLoad({ filter: /[\\/]node_modules[\\/]bowser[\\/]/ }, () => ({ contents: '' }));
    onLoad({ filter: /[\\/]emoji-regex[\\/]index\.js$/ }, () => ({
      contents: 'module.exports = () => /\\p{RGI_Emoji}/gv;',
    }));
    // hash-wasm has twenty hash functions, and the code imports the whole package at run time. So esbuild cannot see
    // which functions are unused.
    onResolve({ filter: /^hash-wasm$/ }, ({ path: name, namespace }) =>
      namespace === 'only-md4' ? undefined : { path: name, namespace: 'only-md4' },
    );
    onLoad({ filter: /.*/, namespace: 'only-md4' }, () => ({
      contents: `export { createMD4 } from 'hash-wasm';`,
      resolveDir: ROOT,
    }));
  },
};
