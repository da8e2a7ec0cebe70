import type { Command } from "commander";
import { ADMIN_ROWS } from "#shared/client/admin.ts";
import { callService, explainNoAnswer, field, type Call } from "#shared/client/call.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { exitCodeOf, FORBIDDEN, NO_SERVICE, USAGE } from "#shared/client/exit-codes.ts";
import { withFlags } from "#shared/client/flags.ts";
import { DEFAULT_PROFILE, profilesFile, readProfiles } from "#shared/client/profiles.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { listenerUrl } from "#shared/settings/address.ts";
import { readSettings } from "#shared/settings/settings-parse.ts";

/** The variable with the API key. It is not a setting, because every process reads all settings. */
const KEY_VARIABLE = "VTG_API_KEY";
const PLACE_ROWS = ADMIN_ROWS.filter(({ name }) => name === "VANTAGE_BASE_URL" || name === "VANTAGE_HTTP_ADDR");

/** Flags as commander passes them. */
export type ClientFlags = Readonly<Record<string, unknown>>;

/** Where a client command sends its requests. */
export interface Connection {
  /** Base address without a final slash. */
  readonly base: string;
  readonly key: string;
  /** The service is a listener of this machine, so the name in its certificate is not checked. */
  readonly own: boolean;
}

/** The connection, or the line that says what is missing. */
type ReadConnection =
  | ({ readonly ok: true } & Connection)
  | { readonly ok: false; readonly line: string; readonly exit?: typeof FORBIDDEN };

/** Address of the service, without its key. */
type Place = { readonly ok: true; readonly base: string; readonly own: boolean; readonly given: boolean };

/** The data of a successful answer with its meta, or the line and the exit status of a failure. */
export type Asked =
  | { readonly ok: true; readonly data: unknown; readonly meta: unknown }
  | { readonly ok: false; readonly line: string; readonly exit: number; readonly error?: unknown };

/** Heading of the commands for one's own account. */
export const ACCOUNT_GROUP = "Your account (need an API key):";

/** Adds the flags that readConnection reads. */
export function addConnectionFlags(command: Command): Command {
  command
    .option("--key <key>", `API key; other users of this machine can see flags: prefer ${KEY_VARIABLE}`)
    .option(
      "--profile <name>",
      `service and key of ${LAUNCHER} login --profile <name> (default: "${DEFAULT_PROFILE}")`,
    );
  return addPlaceFlags(command);
}

/** Adds the flags for the address of the service alone. They set the settings of PLACE_ROWS. */
export function addPlaceFlags(command: Command): Command {
  return command
    .option("--base-url <url>", "URL of the service (default: VANTAGE_BASE_URL, else that of the profile)")
    .option("--http-addr <address>", "listener of a service on this machine (default: 127.0.0.1:8080)");
}

/**
 * Reads the service and its key: from flags, else from the environment, else from the profile. The key of a profile is
 * sent to the service of that profile only.
 */
export function readConnection(context: CommandContext, flags: ClientFlags): ReadConnection {
  const place = readPlace(context, flags);
  if (!place.ok) return place;
  const named = flags["profile"];
  const given = flags["key"] ?? (named === undefined ? context.environment[KEY_VARIABLE] : undefined);
  const key = typeof given === "string" ? given.trim() : "";
  if (key !== "" && place.given) return { ok: true, base: place.base, own: place.own, key };
  const name = typeof named === "string" ? named : DEFAULT_PROFILE;
  const file = profilesFile(context.environment);
  const read = file === null ? { ok: true as const, profiles: {} } : readProfiles(file);
  if (!read.ok) return read;
  const profile = Object.hasOwn(read.profiles, name) ? read.profiles[name] : undefined;
  if (profile === undefined && named !== undefined) return { ok: false, line: unknownProfile(name, read.profiles) };
  const own = place.own && (place.given || profile === undefined);
  const base = place.given ? place.base : (profile?.url ?? place.base);
  if (key !== "") return { ok: true, base, own, key };
  if (profile === undefined) {
    const line = `no API key: run ${LAUNCHER} login, set ${KEY_VARIABLE}, or pass --key`;
    return { ok: false, line, exit: FORBIDDEN };
  }
  if (base === profile.url) return { ok: true, base, own, key: profile.key };
  const line = `the key of the profile ${name} is for ${profile.url}, not for ${base}: set ${KEY_VARIABLE}, or pass --key`;
  return { ok: false, line };
}

/** Reads the address of the service from flags, else from the environment, else the default listener of this machine. */
export function readPlace(
  context: CommandContext,
  flags: ClientFlags,
): Place | { readonly ok: false; readonly line: string } {
  // A profile that is named is a flag, and flags override the environment.
  const { VANTAGE_BASE_URL: _url, VANTAGE_HTTP_ADDR: _address, ...rest } = context.environment;
  const environment = flags["profile"] === undefined ? context.environment : rest;
  // An address by flag overrides a URL of the environment.
  const isAddressed = flags["httpAddr"] !== undefined && flags["baseUrl"] === undefined;
  const merged = withFlags(environment, PLACE_ROWS, flags);
  const read = readSettings(isAddressed ? { ...merged, VANTAGE_BASE_URL: undefined } : merged, "control-plane");
  if (!read.ok) return read;
  const { baseUrl, httpAddr, tlsCert } = read.settings;
  const given = read.given.has("VANTAGE_BASE_URL") || read.given.has("VANTAGE_HTTP_ADDR");
  return { ok: true, base: baseUrl ?? listenerUrl(httpAddr, tlsCert !== null), own: baseUrl === null, given };
}

function unknownProfile(name: string, profiles: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(profiles);
  const known = names.length === 0 ? "there is none" : `there are ${names.join(", ")}`;
  return `no profile ${name} (${known}): run ${LAUNCHER} login --profile ${name}`;
}

/** Sends a request to the service with its key; `path` begins with a slash. */
export async function ask(connection: Connection, path: string, call: Call = {}): Promise<Asked> {
  const { base, key, own } = connection;
  try {
    const { status, body } = await callService(`${base}${path}`, { ...call, key, own });
    if (status < 300) return { ok: true, data: field(body, "data"), meta: field(body, "meta") };
    const line = explainRefusal(base, status, body);
    return { ok: false, line, exit: exitCodeOf(status, body), error: field(body, "error") };
  } catch (error) {
    return { ok: false, line: explainNoAnswer(base, error), exit: NO_SERVICE };
  }
}

/** Formats the line for an answer that is no success: its code and message, which names the field. */
export function explainRefusal(base: string, status: number, body: unknown): string {
  const error = field(body, "error");
  const words = ["code", "message"].map((one) => field(error, one)).filter((one) => typeof one === "string");
  return words.length > 0 ? words.join(": ") : `${base} answered ${status}`;
}

/** Prints why a command failed and sets its exit status. */
export function failWith(context: CommandContext, name: string, { line, exit = USAGE }: FailedCommand): void {
  context.complain(`vantage ${name}: ${line}`);
  context.exit(exit);
}

/** Why a command failed; `exit` is its status, by default that of a wrong command line. */
interface FailedCommand {
  readonly line: string;
  readonly exit?: number;
}
