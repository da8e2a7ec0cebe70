import { Option, type Command } from "commander";
import { SETTING_ROWS, type Environment } from "#shared/settings/settings-parse.ts";
import type { Setting } from "#shared/settings/row.ts";

/** Returns the flag of a setting: --http-addr for VANTAGE_HTTP_ADDR. */
function flagOf(name: string): string {
  return `--${name
    .replace(/^VANTAGE_/, "")
    .toLowerCase()
    .replaceAll("_", "-")}`;
}

/** Returns the settings that a process's command takes as flags. */
export function settingsOf(process: "control-plane" | "agent"): readonly Setting<unknown>[] {
  return SETTING_ROWS.filter((row) => row.process === process || row.process === "both");
}

function optionOf(row: Setting<unknown>): Option {
  const otherwise = row.default ?? row.absent ?? "none";
  const secret = row.secret ? `; other users of this machine can see flags: prefer ${row.name}` : "";
  return new Option(`${flagOf(row.name)} <value>`, `${row.meaning} (default: ${otherwise}${secret})`);
}

/** Adds one flag per setting to a command. */
export function addSettingFlags(command: Command, rows: readonly Setting<unknown>[]): Command {
  for (const row of rows) command.addOption(optionOf(row));
  return command;
}

/** Returns the environment, overridden by the flags that were passed. */
export function withFlags(
  environment: Environment,
  rows: readonly Setting<unknown>[],
  given: Readonly<Record<string, unknown>>,
): Environment {
  const flags = rows.map((row) => [row.name, given[optionOf(row).attributeName()]] as const);
  return {
    ...environment,
    ...Object.fromEntries(flags.filter(([, value]) => typeof value === "string")),
  } as Environment;
}
