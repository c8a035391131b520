import { z } from 'zod';
import { AppError, type FieldIssue, isAppError } from '../errors.ts';
import type { GivenSettings } from './rules.ts';

/** One setting: the kind of its value, and its description in the settings reference. */

/** A kind of value: `accepts` completes both "must be …" in an error and the column of the reference. */
export interface Kind<Value> {
  readonly accepts: string;
  readonly schema: z.ZodType<Value, string>;
}

export interface SettingFacts {
  /** Says what the setting does, as a sentence without its full stop. Markdown. */
  readonly about: string;
  /** The values that it takes, with unit and bounds. */
  readonly accepts: string;
  /** The default text; undefined when there is none. */
  readonly default: string | undefined;
  /** Describes what applies when the setting is not set and has no default text. Markdown. */
  readonly otherwise: string;
  /** A value for `.env.example`. */
  readonly example: string;
}

export interface SettingGroup {
  readonly title: string;
  readonly settings: readonly (SettingFacts & { readonly name: string })[];
}

const facts = z.registry<SettingFacts>();

/**
 * @param accepts what a value must be, such as `a port, 0 to 65535`
 * @param parse returns undefined for text that is not such a value, or throws an AppError with a more precise message
 */
export function defineKind<Value>(
  accepts: string,
  parse: (text: string) => Value | undefined,
): Kind<Value> {
  const schema = z.string().transform((text, context): Value => {
    const refuse = (message: string): never => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    try {
      return parse(text) ?? refuse(`must be ${accepts}`);
    } catch (error) {
      if (!isAppError(error)) throw error;
      return refuse(error.message);
    }
  });
  return { accepts, schema };
}

/** Makes the error that `parse` throws for a value of the right kind that this setting does not accept. */
export function refuseValue(message: string): AppError {
  return new AppError('invalid_configuration', message);
}

/** A setting that always has a value. */
export function withDefault<Value>(kind: Kind<Value>, text: string, about: string) {
  const schema = kind.schema.prefault(text);
  const { accepts } = kind;
  facts.add(schema, { about, accepts, default: text, otherwise: '', example: text });
  return schema;
}

/** A setting that is undefined when it is not set. */
export function optional<Value>(
  kind: Kind<Value>,
  about: string,
  { otherwise = '', example = '' }: Partial<Pick<SettingFacts, 'otherwise' | 'example'>> = {},
) {
  const schema = kind.schema.optional();
  const { accepts } = kind;
  facts.add(schema, { about, accepts, default: undefined, otherwise, example });
  return schema;
}

/** The type into which the settings of an area are read. */
export type ValuesOf<Settings extends z.ZodRawShape> = z.output<z.ZodObject<Settings>>;

/** @throws Error for a schema that is not a setting */
export function factsOf(schema: z.ZodType): SettingFacts {
  const found = facts.get(schema);
  if (found === undefined) throw new Error('This schema was not made by withDefault or optional.');
  return found;
}

/** The settings of a room or a feature. */
export interface SettingsArea<Shape extends z.ZodRawShape, Settings> {
  /** The heading in the settings reference. Areas that follow each other with the same title share one heading. */
  readonly title: string;
  readonly settings: Shape;
  /**
   * Names the settings that are missing, although other settings require them. Only the service needs these settings.
   */
  readonly findMissing?: (given: GivenSettings) => FieldIssue[];
  /** Like `findMissing`, for settings that commands need as well. */
  readonly findMissingForCommands?: (given: GivenSettings) => FieldIssue[];
  readonly read: (values: ValuesOf<Shape>, inProduction: boolean) => Settings;
  /** The changes to the settings after which the service sends requests to no other service than the store. */
  readonly withoutOthers?: (settings: NoInfer<Settings>) => Partial<NoInfer<Settings>>;
}

/** Infers the types of an area. */
export function defineSettings<Shape extends z.ZodRawShape, Settings>(
  area: SettingsArea<Shape, Settings>,
): SettingsArea<Shape, Settings> {
  return area;
}
