/** Inputs that a shell, the command line or GitHub could take for something else. */
export const HOSTILE: readonly string[] = [
  '$(touch owned)',
  '`touch owned`',
  '"; touch owned; "',
  "'; touch owned; '",
  '1.0.0; touch owned',
  '1.0.0\nversion=9.9.9',
  '--help',
  '-v',
  '--',
  '$'.concat('{{ github.token }}'),
  '::set-output name=version::9.9.9',
];
