import { field } from "#shared/client/call.ts";
import type { Flags } from "#shared/client/commands/admin-action.ts";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { quoted } from "#shared/client/quoted.ts";
import { cell } from "#shared/client/table.ts";
import { LAUNCHER } from "#shared/launcher.ts";
import { formatAddress, isLoopback, ownAddress, parseHostPort } from "#shared/settings/address.ts";
import { readSettings, type Environment } from "#shared/settings-parse.ts";
import { SETTINGS } from "#shared/settings.ts";

/**
 * The text of a new join token: the token, what it allows, and the line that starts the agent. The line is complete: it
 * names this clone's launcher by its path where the agent runs on this machine, and the launcher of a clone over there
 * where it does not.
 */
export function describeToken(data: unknown, flags: Flags, environment: Environment): string {
  const { region, reusable, controlPlane } = flags;
  const token = cell(field(data, "token"));
  const dial = typeof controlPlane === "string" ? controlPlane : defaultDialTarget(environment);
  const here = isLoopback(parseHostPort(dial)?.host ?? "");
  const launcher = here ? LAUNCHER_PATH : LAUNCHER;
  const start = `VANTAGE_JOIN_TOKEN=${quoted(token)} ${quoted(launcher)} agent --region ${quoted(String(region))} --control-plane ${quoted(dial)}`;
  const who = reusable === true ? "lets agents" : "lets one agent";
  return [
    token,
    `(${who} into ${String(region)} until ${cell(field(data, "expires_at"))}; shown only this once)`,
    "",
    here ? "Start the agent on this machine:" : "Start the agent in a clone of the repository on its own machine:",
    `  ${start}`,
    ...(here ? ["", `${dial} is this machine: for an agent on another one give --control-plane host:port.`] : []),
  ].join("\n");
}

/** Where agents dial when nobody says: the advertised address, else this machine's own listener. */
function defaultDialTarget(environment: Environment): string {
  const read = readSettings(environment, "control-plane");
  if (!read.ok) return SETTINGS.controlPlane.default;
  return read.settings.grpcAdvertise ?? formatAddress(ownAddress(read.settings.grpcAddr));
}
