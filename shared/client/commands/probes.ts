import { InvalidArgumentError, type Command } from "commander";
import { field } from "#shared/client/call.ts";
import { adminAction, rowsOf, type Flags } from "#shared/client/commands/admin-action.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { cell, table } from "#shared/client/table.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import {
  dialTarget,
  formatAddress,
  isLocalUrl,
  isLoopback,
  ownAddress,
  parseHostPort,
} from "#shared/settings/address.ts";
import type { Kind } from "#shared/settings/kind.ts";
import { duration } from "#shared/settings/kinds.ts";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { quoted } from "#shared/text/quoted.ts";
import { readSettings, type Environment } from "#shared/settings/settings-parse.ts";
import { SETTINGS } from "#shared/settings/settings.ts";

const DAY_MS = 86_400_000;
const COLUMNS = ["id", "region", "status", "country", "city", "version", "replicas", "last_seen_at", "account_id"];

/** Adds `deploy/vantage probes token|list|show|logs|disable|enable|revoke`, which call the admin API of a running control plane. */
export function addProbes(program: Command, context: CommandContext): void {
  const probes = program
    .command("probes")
    .description("manage probe agents (needs a running control plane and the operator token)");
  const named = (name: string, does: string) => probes.command(name).argument("<id>").description(does);

  const token = probes
    .command("token")
    .description("create a join token and print the command that starts the agent")
    .requiredOption("--region <region>", "region of the agent")
    .option("--ttl <duration>", "how long the token is valid", parsedBy(duration(60_000, 30 * DAY_MS, "1m to 30d")))
    .option("--reusable", "allow any number of agents to join, not only one")
    .option("--account-id <id>", "make the agent private to this account")
    .option(
      "--control-plane <address>",
      "address that the agent dials: host:port, or dns:///name:port",
      checkedBy(dialTarget),
    );
  adminAction(token, context, {
    ask: (flags) => ({ path: "/probe-tokens", call: { method: "POST", json: newToken(flags, context.environment) } }),
    show: (data, flags) => describeToken(data, flags, context.environment),
  });
  adminAction(
    probes
      .command("list")
      .description("list agents, sorted by region")
      .option("--status <status>", "list only agents with this status"),
    context,
    {
      ask: ({ status }) => ({
        path: typeof status === "string" ? `/probes?status=${encodeURIComponent(status)}` : "/probes",
        call: {},
      }),
      show: (data) => table(rowsOf(data, "probes").map(withReplicaCount), COLUMNS),
    },
  );
  adminAction(named("show", "show one agent"), context, {
    ask: (_flags, id) => ({ path: pathOf(id), call: {} }),
    show: (data) =>
      Object.entries(data ?? {})
        .map(([name, value]) => `${cell(name)}: ${cell(value)}`)
        .join("\n"),
  });
  adminAction(
    named("logs", "print the newest lines of an agent's log").option(
      "--limit <lines>",
      "at most this many, up to 1000",
    ),
    context,
    {
      ask: ({ limit }, id) => ({
        path: `/probes/logs?id=${encodeURIComponent(id)}${typeof limit === "string" ? `&limit=${encodeURIComponent(limit)}` : ""}`,
        call: {},
      }),
      show: (data) => rowsOf(data, "lines").map(cell).join("\n"),
    },
  );
  for (const [name, enabled, done] of [
    ["disable", false, "Disabled: the agent stays attached and receives no jobs."],
    ["enable", true, "Enabled."],
  ] as const) {
    adminAction(named(name, enabled ? "resume sending jobs to an agent" : "stop sending jobs to an agent"), context, {
      ask: (_flags, id) => ({ path: pathOf(id), call: { method: "PUT", json: { enabled } } }),
      show: () => done,
    });
  }
  adminAction(named("revoke", "revoke an agent's enrolment and close its streams immediately"), context, {
    ask: (_flags, id) => ({ path: pathOf(id), call: { method: "DELETE" } }),
    show: () => `Revoked. To rejoin, the agent needs a new token (${LAUNCHER} probes token).`,
  });
}

function pathOf(id: string): string {
  return `/probes?id=${encodeURIComponent(id)}`;
}

/** Creates a commander parser that checks a flag's value and returns it unchanged. */
function checkedBy(kind: Kind<unknown>): (value: string) => string {
  return (value) => {
    if (kind.parse(value) === undefined) throw new InvalidArgumentError(`must be ${kind.allowed}`);
    return value;
  };
}

/** Creates a commander parser that converts a duration to whole seconds, in digits. */
function parsedBy(kind: Kind<number>): (value: string) => string {
  const check = checkedBy(kind);
  return (value) => String(Math.round((kind.parse(check(value)) ?? 0) / 1_000));
}

function newToken(flags: Flags, environment: Environment): Record<string, unknown> {
  const { region, ttl, reusable, accountId } = flags;
  return {
    region,
    control_plane: dialTargetOf(flags, environment),
    ...(typeof ttl === "string" ? { ttl_seconds: Number(ttl) } : {}),
    ...(reusable === true ? { reusable } : {}),
    // An id that is not a number is sent unchanged: the service reports the error.
    ...(typeof accountId === "string" ? { account_id: /^\d+$/.test(accountId) ? Number(accountId) : accountId } : {}),
  };
}

function withReplicaCount(row: unknown): Record<string, unknown> {
  const replicas = field(row, "replicas");
  return { ...(row as Record<string, unknown>), replicas: Array.isArray(replicas) ? replicas.length : replicas };
}

/**
 * Formats a new join token: the token, what it allows, and complete commands that start the agent: with the absolute path
 * of this clone's launcher for one on this machine, and for one on another machine the line that installs it there, or the
 * launcher's path relative to a clone there if the service has none.
 */
function describeToken(data: unknown, flags: Flags, environment: Environment): string {
  const { region, reusable } = flags;
  const token = cell(field(data, "token"));
  const install = field(data, "install");
  const isPackaged = typeof install === "string";
  const dial = dialTargetOf(flags, environment);
  const here = isLoopback(parseHostPort(dial)?.host ?? "");
  const launcher = here ? LAUNCHER_PATH : LAUNCHER;
  const start = `VANTAGE_JOIN_TOKEN=${quoted(token)} ${quoted(launcher)} agent --region ${quoted(String(region))} --control-plane ${quoted(dial)}`;
  const who = reusable === true ? "allows any number of agents" : "allows one agent";
  return [
    token,
    `(${who} to join region ${String(region)} until ${cell(field(data, "expires_at"))}; not shown again)`,
    ...(isPackaged ? ["", "Install the agent as a service, in a root shell of its host:", `  ${install}`] : []),
    ...(isPackaged && isLocalUrl(/https?:[^\s']+/.exec(install)?.[0] ?? "")
      ? ["  (its URL is one of this machine: set VANTAGE_BASE_URL to one that other hosts reach)"]
      : []),
    ...(here ? ["", "Start the agent on this machine:", `  ${start}`] : []),
    ...(here || isPackaged
      ? []
      : ["", "Start the agent in a clone of the repository on the agent's machine:", `  ${start}`]),
    ...(here
      ? ["", `${dial} is an address of this machine. For an agent on another machine pass --control-plane host:port.`]
      : []),
  ].join("\n");
}

/** Returns the address that agents dial: the flag's, else the advertised one, else this machine's own listener. */
function dialTargetOf({ controlPlane }: Flags, environment: Environment): string {
  if (typeof controlPlane === "string") return controlPlane;
  const read = readSettings(environment, "control-plane");
  if (!read.ok) return SETTINGS.controlPlane.default;
  return read.settings.grpcAdvertise ?? formatAddress(ownAddress(read.settings.grpcAddr));
}
