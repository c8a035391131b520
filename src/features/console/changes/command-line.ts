import type { Change } from '../change-answers.ts';

/** The command that makes the same change, to copy into a terminal or a script. */
export function commandOf(change: Change, application: string, defaultApplication: string): string {
  const app = application === defaultApplication ? [] : ['--app', application];
  const reason = change.reason === null ? [] : ['--reason', change.reason];
  return ['slipway', ...wordsOf(change), ...app, ...reason].map(quoted).join(' ');
}

function wordsOf(change: Change): readonly string[] {
  switch (change.kind) {
    case 'rollback':
      return ['rollback', '--to', change.to, '--channel', change.channel];
    case 'rollout':
      return ['rollout', change.version, ...planWords(change), '--channel', change.channel];
    case 'notes':
      return ['notes', change.version, ...noteWords(change)];
    default: {
      const channel = change.channel === null ? [] : ['--channel', change.channel];
      return [change.kind, change.version, ...channel];
    }
  }
}

function planWords({
  plan,
  freezeWindows,
}: Extract<Change, { readonly kind: 'rollout' }>): readonly string[] {
  if (isRolloutWord(plan)) return [`--${plan}`];
  const windows = freezeWindows.flatMap((window) => ['--freeze-window', window]);
  return ['--plan', plan, ...windows];
}

const ROLLOUT_WORDS = ['freeze', 'unfreeze', 'complete'] as const;
type RolloutWord = (typeof ROLLOUT_WORDS)[number];

export function isRolloutWord(plan: string): plan is RolloutWord {
  return (ROLLOUT_WORDS as readonly string[]).includes(plan);
}

function noteWords({
  locale,
  markdown,
}: Extract<Change, { readonly kind: 'notes' }>): readonly string[] {
  if (markdown === null) return ['--remove', locale];
  return ['--file', locale === 'und' ? 'NOTES.md' : `${locale}=NOTES.md`];
}

/** For a POSIX shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
