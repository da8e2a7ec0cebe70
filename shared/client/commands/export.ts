import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Row } from "#shared/client/apply/document.ts";
import { readSchema } from "#shared/client/apply/schema.ts";
import { STDIN } from "#shared/client/input-file.ts";
import { readState, type State, type Step } from "#shared/client/apply/service.ts";
import { exportWebhooks, ownWebhooks } from "#shared/client/apply/webhooks/rows.ts";
import { listWebhooks } from "#shared/client/apply/webhooks/service.ts";
import { writeYaml } from "#shared/json/yaml.ts";
import { GROUP } from "#shared/client/commands/apply.ts";
import { field } from "#shared/client/call.ts";
import {
  addConnectionFlags,
  failWith,
  readConnection,
  readPlace,
  type ClientFlags,
  type Connection,
} from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { USAGE } from "#shared/client/exit-codes.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { describeError } from "#shared/contracts/error-code.ts";

/** Adds `deploy/vantage export`. */
export function addExport(program: Command, context: CommandContext): void {
  const exporting = program
    .command("export")
    .helpGroup(GROUP)
    .description("write monitors, status pages, maintenance and webhooks of your account as YAML, without secrets")
    .option("-o, --output <file>", "file to write (default: standard output)")
    .option("--schema", "write the JSON Schema of such files, by which editors check them; needs no key");
  addConnectionFlags(exporting).action(async (flags: ClientFlags) => {
    const read = flags["schema"] === true ? await schemaText(context, flags) : await stateText(context, flags);
    if (!read.ok) return failWith(context, "export", read);
    const { output } = flags;
    if (typeof output !== "string" || output === STDIN) return context.say(read.value.trimEnd());
    try {
      writeFileSync(resolve(context.directory, output), read.value);
    } catch (error) {
      failWith(context, "export", { line: `${output} cannot be written (${describeError(error)})` });
    }
  });
}

async function stateText(context: CommandContext, flags: ClientFlags): Promise<Step<string>> {
  const connection = readConnection(context, flags);
  if (!connection.ok) return { exit: USAGE, ...connection };
  const state = await readState(connection);
  if (!state.ok) return state;
  const webhooks = await webhookRows(connection, state.value);
  if (!webhooks.ok) return webhooks;
  for (const line of webhooks.value.leftOut) context.complain(`vantage export: ${line}`);
  const { rows } = webhooks.value;
  const lists = { ...state.value.document, ...(rows === null ? {} : { webhooks: rows }) };
  return { ok: true, value: writeYaml(nameFirst(lists)) };
}

/** Returns the webhooks of a document and what it leaves out; null: the key may not read them. */
async function webhookRows(
  connection: Connection,
  { monitors }: State,
): Promise<Step<{ readonly rows: readonly Row[] | null; readonly leftOut: readonly string[] }>> {
  const older = `webhooks are left out: ${connection.base} is of an older release, which cannot try them`;
  if (monitors === null) return { ok: true, value: { rows: null, leftOut: [older] } };
  const list = await listWebhooks(connection);
  if (list.ok) return { ok: true, value: exportWebhooks(ownWebhooks(list.value, monitors)) };
  if (field(list.error, "code") !== "insufficient_scope") return list;
  return { ok: true, value: { rows: null, leftOut: ["webhooks are left out: your key has no scope webhook"] } };
}

/** Puts the members that tell rows apart before the others. */
function nameFirst(state: Readonly<Record<string, unknown>>): unknown {
  const rows = (list: unknown): unknown =>
    Array.isArray(list)
      ? list.map((row: unknown) => {
          if (!isRecord(row)) return row;
          const first = FIRST.filter((name) => Object.hasOwn(row, name)).map((name) => [name, row[name]]);
          return { ...Object.fromEntries(first), ...row };
        })
      : list;
  return Object.fromEntries(Object.entries(state).map(([name, list]) => [name, rows(list)]));
}

const FIRST = ["name", "title", "slug", "check_type", "url"];

async function schemaText(context: CommandContext, flags: ClientFlags): Promise<Step<string>> {
  const connection = readConnection(context, flags);
  const place = connection.ok ? connection : readPlace(context, flags);
  if (!place.ok) return { exit: USAGE, ...place };
  const schema = await readSchema(place);
  return schema.ok ? { ok: true, value: `${JSON.stringify(schema.value, null, 2)}\n` } : schema;
}
