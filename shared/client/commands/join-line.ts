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
 * Formats a new join token: the token, what it allows, and the command that starts the agent. The command is complete.
 * It contains the absolute path of this clone's launcher if the agent runs on this machine, else the launcher's path
 * relative to a clone on the agent's machine.
 */
export function describeToken(data: unknown, flags: Flags, environment: Environment): string {
  const { region, reusable, controlPlane } = flags;
  const token = cell(field(data, "token"));
  const dial = typeof controlPlane === "string" ? controlPlane : defaultDialTarget(environment);
  const here = isLoopback(parseHostPort(dial)?.host ?? "");
  const launcher = here ? LAUNCHER_PATH : LAUNCHER;
  const start = `VANTAGE_JOIN_TOKEN=${quoted(token)} ${quoted(launcher)} agent --region ${quoted(String(region))} --control-plane ${quoted(dial)}`;
  const who = reusable === true ? "allows any number of agents" : "allows one agent";
  return [
    token,
    `(${who} to join region ${String(region)} until ${cell(field(data, "expires_at"))}; not shown again)`,
    "",
    here ? "Start the agent on this machine:" : "Start the agent in a clone of the repository on the agent's machine:",
    `  ${start}`,
    ...(here
      ? ["", `${dial} is an address of this machine. For an agent on another machine pass --control-plane host:port.`]
      : []),
  ].join("\n");
}

/** Returns the default address for agents: the advertised address, else this machine's own listener. */
function defaultDialTarget(environment: Environment): string {
  const read = readSettings(environment, "control-plane");
  if (!read.ok) return SETTINGS.controlPlane.default;
  return read.settings.grpcAdvertise ?? formatAddress(ownAddress(read.settings.grpcAddr));
}
