import type { Address } from "#shared/settings/address.ts";
import type { Environment } from "#shared/settings/settings-parse.ts";

/** The variable in which the command gives the plan to the supervisor. */
export const PLAN_VARIABLE = "VANTAGE_UP_PLAN";

/** A program that the supervisor runs, and how its environment differs from the supervisor's. */
interface Program {
  /** Arguments of Node.js: its main.ts, and what goes before. */
  readonly words: readonly string[];
  readonly without: readonly string[];
  readonly with: Readonly<Record<string, string>>;
}

/** What the supervisor needs of the settings, so that it has to read none. It contains no secret. */
export interface Plan {
  readonly dataDirectory: string;
  /** Addresses that must be free, with their settings. */
  readonly listeners: readonly (readonly [setting: string, address: Address])[];
  /** Whether the database is the operator's own, in DATABASE_URL. */
  readonly isDatabaseGiven: boolean;
  readonly controlPlane: Program;
  readonly agent: Program;
}

/** Plans a program of which the environment is known. */
export function planProgram(words: readonly string[], own: Environment, environment: Environment): Program {
  const others = Object.entries(environment).filter(([name, value]) => value !== undefined && value !== own[name]);
  return {
    words,
    without: Object.keys(own).filter((name) => environment[name] === undefined),
    with: Object.fromEntries(others) as Record<string, string>,
  };
}

/** Returns the environment of a program. */
export function environmentOf(program: Program, own: Environment): Record<string, string | undefined> {
  const without = new Set(program.without);
  return { ...Object.fromEntries(Object.entries(own).filter(([name]) => !without.has(name))), ...program.with };
}
