import { showHiddenInLines } from "#shared/text/hidden-characters.ts";
import { toLocationAnswer, type LocationAnswer } from "#shared/tools/present-locations.ts";
import type { Contract } from "#shared/tools/define.ts";
import { renderAnswers } from "#control-plane/core/pages/answers.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import type { AnsweredCheck } from "#control-plane/checks/tool-requests/refuse-unanswered.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { quoted } from "#shared/text/quoted.ts";
import { mainParam, nameParam } from "#shared/tools/command-params.ts";

/** Maximum size of the data on the page, in characters. */
const MOST_DATA = 32_000;

/** What a run of a tool has found. */
interface ToolRun {
  readonly contract: Contract;
  readonly answered: Extract<AnsweredCheck, { kind: "single" | "multi" }>;
  /** The call as the API takes it. */
  readonly call: Readonly<Record<string, string>>;
  /** Address of the form with its values; null if it is too long. */
  readonly address: string | null;
  /** null if it is not shared. */
  readonly shareId: string | null;
  readonly now: Date;
  readonly baseUrl: string;
  /** Level of the heading of the result. */
  readonly level: "h1" | "h2";
}

/** Renders what a tool has found, and the same call for a terminal. */
export function renderRun({ contract, answered, call, address, shareId, now, baseUrl, level }: ToolRun): Html {
  const answers = answersOf(answered);
  const about = aboutOf(answered, answers);
  const commands = writeCommands(contract, call, baseUrl);
  return html`
    ${renderAnswers({ contract, answers, title: contract.title, about, now, level })}
    ${shareId !== null && renderShared(baseUrl, shareId)}
    ${address !== null && html`<p><a href="${address}">Link to this form, filled in</a></p>`}
    ${commands !== null && html`<h2>The same in a terminal</h2>${renderLine("as-curl", "With curl", commands.curl)}${renderLine("as-command", "With the command", commands.command)}`}
    ${renderData(JSON.stringify(dataOf(answered), null, 2), shareId)}`;
}

/** Renders the link to what is stored: a result, or a failure. */
export function renderShared(baseUrl: string, shareId: string): Html {
  const url = `${baseUrl}/s/${encodeURIComponent(shareId)}`;
  return html`<p class="note good">Everybody with this link sees the result for a week: <a id="shared" href="${url}">${url}</a> <button type="button" data-copy="shared">Copy</button></p>`;
}

function renderLine(id: string, label: string, line: string): Html {
  return html`
    <h3>${label}</h3><pre role="group" tabindex="0" aria-label="${label}"><code id="${id}">${line}</code></pre>
    <p><button type="button" data-copy="${id}">Copy</button></p>`;
}

function renderData(text: string, shareId: string | null): Html {
  const shown = html`<details class="part"><summary>Show the data</summary><pre role="group" tabindex="0" aria-label="All data">${showHiddenInLines(text)}</pre></details>`;
  const tooLarge = html`<p>The data is too large for this page. Run it again with a link to the result, which has all of it.</p>`;
  return html`
    <h2>All data</h2>
    ${text.length <= MOST_DATA ? shown : shareId === null && tooLarge}
    ${shareId !== null && html`<p><a href="/s/${encodeURIComponent(shareId)}?format=json">The data as JSON</a></p>`}`;
}

function answersOf(answered: ToolRun["answered"]): readonly LocationAnswer[] {
  if (answered.kind === "multi") return answered.data.locations.map((row) => toLocationAnswer(row));
  const { location, outcome } = answered;
  return [toLocationAnswer({ location, status: "ok", data: outcome.status === "ok" ? outcome.data : null })];
}

function aboutOf(answered: ToolRun["answered"], answers: readonly LocationAnswer[]): readonly string[] {
  const [first] = answers;
  if (first === undefined || answers.length > 1) return [`From ${counted(answers.length, "location")}`];
  const isStored = answered.kind === "single" && answered.cached;
  return [isStored ? `From ${first.place}, a stored result` : `From ${first.place}`];
}

function dataOf(answered: ToolRun["answered"]): unknown {
  if (answered.kind === "multi") return answered.data;
  return answered.outcome.status === "ok" ? answered.outcome.data : null;
}

/** The same call for a terminal, each a line for a POSIX shell. */
interface Commands {
  readonly curl: string;
  readonly command: string;
}

/** Longest line, in characters: Linux takes 128 KiB for one argument. */
const LONGEST = 8_000;
/** Characters that a terminal may obey while a line is pasted. */
const OBEYED = /(?![\n\t])\p{Cc}/u;

/**
 * Writes a call (names and texts, as the API takes them) for a terminal; null if it is too long for a line or has control
 * characters. Pure.
 */
export function writeCommands(
  contract: Contract,
  call: Readonly<Record<string, string>>,
  baseUrl: string,
): Commands | null {
  if (Object.values(call).some((text) => OBEYED.test(text))) return null;
  const commands = { curl: writeCurl(contract, call, baseUrl), command: writeCommand(contract, call) };
  return commands.curl.length > LONGEST || commands.command.length > LONGEST ? null : commands;
}

function writeCurl({ name }: Contract, call: Readonly<Record<string, string>>, baseUrl: string): string {
  const fields = Object.entries(call).map(([field, text]) => `--data-urlencode ${quoted(`${field}=${text}`)}`);
  return ['curl -H "X-API-Key: $KEY"', ...fields, quoted(`${baseUrl}/api/v4/${name}`)].join(" ");
}

function writeCommand(contract: Contract, call: Readonly<Record<string, string>>): string {
  const { [mainParam(contract)]: main = "", share, ...others } = call;
  const options = Object.entries(others).map(([field, text]) => `${nameParam(contract, field)} ${quoted(text)}`);
  const parts = [`${LAUNCHER} ${contract.name}`, ...options, ...(share === "1" ? ["--share"] : [])].join(" ");
  // A value that begins with @ would be read as the name of a file.
  if (main.startsWith("@")) return `printf %s ${quoted(main)} | ${parts} @-`;
  return `${parts}${main.startsWith("-") ? " --" : ""} ${quoted(main)}`;
}
