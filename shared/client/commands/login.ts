import type { Command } from "commander";
import { field } from "#shared/client/call.ts";
import {
  ACCOUNT_GROUP,
  addConnectionFlags,
  addPlaceFlags,
  ask,
  failWith,
  readConnection,
  readPlace,
  type ClientFlags,
} from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { INTERRUPTED } from "#shared/client/exit-codes.ts";
import {
  DEFAULT_PROFILE,
  PROFILE_NAME,
  PROFILE_NAMES,
  profilesFile,
  readProfiles,
  writeProfiles,
  type Profile,
} from "#shared/client/profiles.ts";
import { cell } from "#shared/client/table.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { isInClear } from "#shared/settings/address.ts";
import { baseUrl } from "#shared/settings/network.ts";

/** A result of a step, or why the command ends. */
type Step<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly line: string; readonly exit?: number };

/** The stored profiles and the file of them. */
interface Store {
  readonly name: string;
  readonly file: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** Heading of the commands that store and remove keys, which need none. */
const GROUP = "Keys on this machine:";
const CANCELLED = { ok: false, line: "nothing is stored", exit: INTERRUPTED } as const;

/** Adds `deploy/vantage login`, `logout` and `whoami`. */
export function addLogin(program: Command, context: CommandContext): void {
  const login = program
    .command("login")
    .helpGroup(GROUP)
    .description("check an API key and store it with the URL of its service, so that later commands need neither")
    .option("--key-stdin", "read the key from the first line of standard input (default: ask for it)")
    .option("--profile <name>", "name under which to store them, for several services", DEFAULT_PROFILE);
  addPlaceFlags(login).action(async (flags: ClientFlags) => {
    const done = await signIn(context, flags);
    if (done.ok) context.say(done.value);
    else failWith(context, "login", done);
  });
  program
    .command("logout")
    .helpGroup(GROUP)
    .description("remove a stored API key from this machine; the key stays valid")
    .option("--profile <name>", "profile to remove", DEFAULT_PROFILE)
    .action((flags: ClientFlags) => {
      const done = signOut(context, flags);
      if (done.ok) context.say(done.value);
      else failWith(context, "logout", done);
    });
  const whoami = program
    .command("whoami")
    .helpGroup(ACCOUNT_GROUP)
    .description("show the account of the key: its plan, the scopes of the key, and how much of the limits is used")
    .option("--json", "print the response as JSON");
  addConnectionFlags(whoami).action(async (flags: ClientFlags) => {
    const connection = readConnection(context, flags);
    if (!connection.ok) return failWith(context, "whoami", connection);
    const answer = await ask(connection, "/api/v4/account");
    if (!answer.ok) return failWith(context, "whoami", answer);
    context.say(
      flags["json"] === true ? JSON.stringify(answer.data, null, 2) : describeAccount(connection.base, answer.data),
    );
  });
}

async function signIn(context: CommandContext, flags: ClientFlags): Promise<Step<string>> {
  const store = openStore(context, flags);
  if (!store.ok) return store;
  const { name, file, profiles } = store.value;
  const place = await chooseService(context, flags, store.value);
  if (!place.ok) return place;
  const key = await readKey(context, flags);
  if (!key.ok) return key;
  const { base, own } = place.value;
  if (isInClear(base)) context.complain(`vantage login: ${base} is not HTTPS: others in the network can read the key`);
  const answer = await ask({ base, own, key: key.value }, "/api/v4/account");
  if (!answer.ok) return answer;
  try {
    writeProfiles(file, { ...profiles, [name]: { url: base, key: key.value } });
  } catch (error) {
    return { ok: false, line: `${file} cannot be written (${describeError(error)})` };
  }
  const who = `account ${cell(field(answer.data, "id"))} (plan ${cell(field(answer.data, "plan"))})`;
  return { ok: true, value: `Signed in to ${base} as ${who}. The key is in ${file}, profile ${name}.` };
}

function signOut(context: CommandContext, flags: ClientFlags): Step<string> {
  const store = openStore(context, flags);
  if (!store.ok) return store;
  const { name, file, profiles } = store.value;
  const { [name]: gone, ...others } = profiles;
  if (gone === undefined) return { ok: false, line: `no profile ${name} in ${file}` };
  try {
    writeProfiles(file, others);
  } catch (error) {
    return { ok: false, line: `${file} cannot be written (${describeError(error)})` };
  }
  return { ok: true, value: `Removed the key of ${gone.url}, profile ${name}. It stays valid until it is revoked.` };
}

function openStore({ environment }: CommandContext, { profile }: ClientFlags): Step<Store> {
  const name = String(profile);
  if (!PROFILE_NAME.test(name)) return { ok: false, line: `--profile must be ${PROFILE_NAMES}` };
  const file = profilesFile(environment);
  if (file === null)
    return { ok: false, line: "no folder for the key: set HOME or XDG_CONFIG_HOME to an absolute path" };
  const read = readProfiles(file);
  return read.ok ? { ok: true, value: { name, file, profiles: read.profiles } } : read;
}

/** Returns the service: from a flag, else as it is typed, else from the environment, the profile or the default. */
async function chooseService(
  context: CommandContext,
  flags: ClientFlags,
  { name, profiles }: Store,
): Promise<Step<{ readonly base: string; readonly own: boolean }>> {
  const place = readPlace(context, { baseUrl: flags["baseUrl"], httpAddr: flags["httpAddr"] });
  if (!place.ok) return place;
  const known = place.given ? undefined : profiles[name];
  const suggested = known === undefined ? place : { base: known.url, own: false };
  const isSet = flags["baseUrl"] !== undefined || flags["httpAddr"] !== undefined;
  if (isSet || flags["keyStdin"] === true || !context.input.isTerminal) return { ok: true, value: suggested };
  const typed = await context.input.ask(`URL of the service [${suggested.base}]: `);
  if (typed === null) return CANCELLED;
  if (typed === "") return { ok: true, value: suggested };
  const base = baseUrl.parse(typed.includes("://") ? typed : `https://${typed}`);
  if (base === undefined) return { ok: false, line: `the URL of the service must be ${baseUrl.allowed}` };
  return { ok: true, value: { base, own: false } };
}

async function readKey({ input }: CommandContext, flags: ClientFlags): Promise<Step<string>> {
  if (flags["keyStdin"] !== true && !input.isTerminal) {
    return { ok: false, line: "there is no terminal to ask for the key: pass it with --key-stdin" };
  }
  const typed =
    flags["keyStdin"] === true
      ? ((await input.read()).toString("utf8").split("\n", 1)[0] ?? "")
      : await input.ask("API key (it is not shown): ", { isSecret: true });
  if (typed === null) return CANCELLED;
  const key = typed.trim();
  // Other characters cannot be in a header field.
  if (!/^[\x21-\x7e]+$/.test(key)) return { ok: false, line: "the key must be one line, such as vtg_..." };
  return { ok: true, value: key };
}

function describeAccount(base: string, data: unknown): string {
  const [limits, usage, scopes] = [field(data, "limits"), field(data, "usage"), field(data, "scopes")];
  const used = (name: string, limit: string) => `${cell(field(usage, name))} of ${cell(field(limits, limit))}`;
  const rows = [
    ["Service", base],
    ["Account", cell(field(data, "id"))],
    ["Plan", cell(field(data, "plan"))],
    ["Scopes", Array.isArray(scopes) ? cell(scopes.join(", ")) : "-"],
    [
      "Requests",
      `${used("minute", "requests_per_minute")} this minute, ${used("day", "requests_per_day")} today (UTC)`,
    ],
    ["Monitors", used("monitors", "monitors")],
    ["Webhooks", used("webhooks", "webhooks")],
    ["Keys", used("keys", "keys")],
  ] as const;
  return rows.map(([name, value]) => `${name.padEnd(10)}${value}`).join("\n");
}
