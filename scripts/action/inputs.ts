/** Turns the inputs of the action into a command line. */

/** The variables that action.yml sets. A missing input is empty. */
export type Inputs = Readonly<Record<string, string | undefined>>;

/**
 * The arguments of `slipway`. No input can add another option: each option has its value after `=`, and no argument
 * after `--` is an option.
 *
 * @throws Error with a sentence for the publisher
 */
export function publishArguments(inputs: Inputs): readonly string[] {
  const text = (name: string): string => inputs[`INPUT_${name}`] ?? '';
  const version = text('VERSION').trim();
  if (version === '') {
    throw new Error('The input "version" is empty. Set it, for example to the name of the tag.');
  }
  const valued = (option: string, name: string): readonly string[] =>
    linesOf(text(name)).map((value) => `${option}=${value}`);
  const flag = (option: string, name: string): readonly string[] =>
    isTrue(name.toLowerCase(), text(name)) ? [option] : [];
  return [
    'publish',
    '--json',
    ...valued('--expect', 'EXPECT'),
    ...flag('--create', 'CREATE'),
    ...valued('--channel', 'CHANNEL'),
    ...valued('--app', 'APP'),
    ...valued('--rollout', 'ROLLOUT'),
    ...flag('--draft', 'DRAFT'),
    ...valued('--notes-file', 'NOTES_FILE'),
    ...linesOf(text('ARGS')),
    '--',
    version,
    ...linesOf(text('FILES')),
  ];
}

/** Lines that are not empty. Spaces inside a line belong to the value. */
function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** @throws Error for anything but true, false or nothing */
function isTrue(name: string, text: string): boolean {
  const value = text.trim();
  if (value === 'true') return true;
  if (value === 'false' || value === '') return false;
  throw new Error(`The input "${name}" is ${JSON.stringify(text)}. Set it to true or false.`);
}
