import type { Build, FoundTool } from './project.ts';

/**
 * Keeps some names out of CI files: names with characters that have a meaning for a shell or in the expressions of a CI
 * service.
 */

/** Letters of any language, digits, spaces, and marks that are inert between double quotes. */
const PLAIN = /^(?!-)[\p{L}\p{N}\p{M} _./@+()-]+$/u;
const OPTION = /^--?[a-z][a-z-]*$/;
const OUTPUT = 'dist';

/** True when a path can be put into a CI file and between double quotes in its commands. */
export function isPlainPath(path: string): boolean {
  return PLAIN.test(path);
}

/** The tool, with an output and a build that a CI file can contain, and a remark for each change. */
export function withPlainNames(tool: FoundTool): FoundTool {
  const oddOutput = PLAIN.test(tool.output) ? [] : [tool.output];
  const odd = wordsOf(tool.build).filter((word) => !PLAIN.test(word) && !OPTION.test(word));
  if (oddOutput.length === 0 && odd.length === 0) return tool;
  const remarks = [
    ...oddOutput.map(
      (path) =>
        `The output ${JSON.stringify(path)} has characters that a CI file cannot contain safely. The CI file has ${OUTPUT} instead. Correct it.`,
    ),
    ...odd.map(
      (word) =>
        `${JSON.stringify(word)} has characters that a command in a CI file cannot contain safely, so the CI file has no build step. Write it yourself.`,
    ),
  ];
  return {
    ...tool,
    output: oddOutput.length > 0 ? OUTPUT : tool.output,
    build: odd.length > 0 ? { kind: 'own' } : tool.build,
    remarks: [...tool.remarks, ...remarks],
  };
}

/** The words of a build that become part of a command. */
function wordsOf(build: Build): readonly string[] {
  if (build.kind === 'own') return [];
  if (build.kind === 'dotnet') {
    const { projectFile, program, packId } = build;
    return [projectFile, program, ...(packId === undefined ? [] : [packId])];
  }
  const runs = build.kind === 'tauri' ? [build.run] : build.runs;
  const words = runs.flatMap((run) => run?.arguments ?? []);
  return build.kind === 'vpk' ? [...words, build.packId] : words;
}
