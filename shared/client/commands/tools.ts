import { withoutControls } from "#shared/text/plain-line.ts";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { ADMIN_ROWS } from "#shared/client/admin.ts";
import { callService, explainNoAnswer, field } from "#shared/client/call.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { addSettingFlags, withFlags } from "#shared/client/flags.ts";
import { flatten } from "#shared/render.ts";
import { listenerUrl } from "#shared/settings/address.ts";
import { readSettings } from "#shared/settings-parse.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import type { Contract } from "#shared/tools/define.ts";

/** The variable with the API key. It is not a setting, because every process reads all settings. */
const KEY_VARIABLE = "VTG_API_KEY";
/** Time for the network in addition to the tool's deadline, milliseconds. */
const PATIENCE_MS = 10_000;
const PLACE_ROWS = ADMIN_ROWS.filter(({ name }) => name === "VANTAGE_BASE_URL" || name === "VANTAGE_HTTP_ADDR");

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** Adds `deploy/vantage <tool> <target>` for every tool; the commands call the API of a running control plane. */
export function addTools(program: Command, context: CommandContext): void {
  for (const contract of CONTRACTS) addTool(program, context, contract);
}

function addTool(program: Command, context: CommandContext, contract: Contract): void {
  const { name, summary, params } = contract;
  const { required = [] } = params as { readonly required?: readonly string[] };
  const main = contract.target?.param ?? required[0] ?? "value";
  const command = program.command(name).description(summary).helpGroup("Tools (need an API key):");
  command.argument(
    `<${main}>`,
    `${describe(params.properties[main])}; @file reads the value from a file, @- from standard input`,
  );
  for (const [field_, schema] of Object.entries(params.properties)) {
    if (field_ !== main) command.option(`--${field_.replaceAll("_", "-")} <value>`, describe(schema));
  }
  command
    .option("--from <places>", "regions, countries, cities or probes to run on, comma-separated")
    .option("--key <key>", `API key; other users of this machine can see flags: prefer ${KEY_VARIABLE}`)
    .option("--json", "print the response as JSON");
  addSettingFlags(command, PLACE_ROWS).action(async (value: string, flags: Flags) => {
    const text = readValue(value, context);
    if (text === null) {
      context.complain(`vantage ${name}: ${value.slice(1)} cannot be read`);
      return context.exit(1);
    }
    const given = Object.keys(params.properties).flatMap((one) => {
      const flag =
        one === main ? text : flags[one.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())];
      return typeof flag === "string" ? [[one, flag] as const] : [];
    });
    const places = typeof flags["from"] === "string" ? { locations: flags["from"] } : {};
    const answer = await ask(context, contract, flags, { ...Object.fromEntries(given), ...places });
    if (!answer.ok) context.complain(`vantage ${name}: ${answer.line}`);
    else if (flags["json"] === true) context.say(JSON.stringify(answer.data, null, 2));
    else context.say(linesOf(answer.data));
    context.exit(answer.ok ? 0 : 1);
  });
}

type ToolAnswer = { readonly ok: true; readonly data: unknown } | { readonly ok: false; readonly line: string };

async function ask(context: CommandContext, contract: Contract, flags: Flags, json: object): Promise<ToolAnswer> {
  const read = readSettings(withFlags(context.environment, PLACE_ROWS, flags), "control-plane");
  if (!read.ok) return read;
  const key = typeof flags["key"] === "string" ? flags["key"] : context.environment[KEY_VARIABLE];
  if (key === undefined || key === "") return { ok: false, line: `no API key: set ${KEY_VARIABLE}, or pass --key` };
  const { baseUrl, httpAddr, tlsCert } = read.settings;
  const base = baseUrl ?? listenerUrl(httpAddr, tlsCert !== null);
  const url = `${base}/api/v4/${contract.name}`;
  try {
    const timeoutMs = LONGEST_MS + PATIENCE_MS;
    const { status, body } = await callService(url, { method: "POST", json, key, timeoutMs, own: baseUrl === null });
    if (status === 200) return { ok: true, data: field(body, "data") };
    const error = field(body, "error");
    // The message contains the name of the field.
    const words = ["code", "message"].map((one) => field(error, one)).filter((one) => typeof one === "string");
    return { ok: false, line: words.length > 0 ? words.join(": ") : `${base} answered ${status}` };
  } catch (error) {
    return { ok: false, line: explainNoAnswer(base, error) };
  }
}

/** The longest deadline of a tool, milliseconds. */
const LONGEST_MS = 90_000;

/** Formats lines as the open tier does, without the source line. */
function linesOf(data: unknown): string {
  return flatten(data)
    .map(([path, value]) => `${path}: ${withoutControls(value)}`)
    .join("\n");
}

function readValue(value: string, { directory }: CommandContext): string | null {
  if (!value.startsWith("@")) return value;
  try {
    return readFileSync(value === "@-" ? 0 : resolve(directory, value.slice(1)), "utf8");
  } catch {
    return null;
  }
}

function describe(schema: unknown): string {
  return (schema as { readonly description?: string } | undefined)?.description ?? "";
}
