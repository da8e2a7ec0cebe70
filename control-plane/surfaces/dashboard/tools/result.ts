import { showHiddenInLines } from "#shared/text/hidden-characters.ts";
import { toLocationAnswer, type LocationAnswer } from "#shared/presentation/locations.ts";
import type { Contract } from "#shared/tools/define.ts";
import { renderAnswers } from "#control-plane/core/pages/answers.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import { TOOLS } from "#control-plane/surfaces/dashboard/strings/tools.ts";
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
  /** Address of the form with its values; null: it is too long. */
  readonly address: string | null;
  /** null: it is not shared. */
  readonly shareId: string | null;
  readonly now: Date;
  readonly baseUrl: string;
  /** Level of the heading of the result. */
  readonly level: "h1" | "h2";
}

const renderLinks: (links: { readonly shared: string | null; readonly address: string | null }) => string =
  compileTemplate(`
<% if (it.shared !== null) { %><p class="note good">${TOOLS.shared} <a id="shared" href="<%= it.shared %>"><%= it.shared %></a> <button type="button" data-copy="shared">${TOOLS.copy}</button></p><% } %>
<% if (it.address !== null) { %><p><a href="<%= it.address %>">${TOOLS.address}</a></p><% } %>
`);

const renderLine: (line: { readonly id: string; readonly label: string; readonly text: string }) => string =
  compileTemplate(`
<h3><%= it.label %></h3><pre role="group" tabindex="0" aria-label="<%= it.label %>"><code id="<%= it.id %>"><%= it.text %></code></pre>
<p><button type="button" data-copy="<%= it.id %>">${TOOLS.copy}</button></p>
`);

const renderData: (data: { readonly text: string | null; readonly json: string | null }) => string = compileTemplate(`
<h2>${TOOLS.data}</h2>
<% if (it.text !== null) { %><details class="part"><summary>${TOOLS.showData}</summary><pre role="group" tabindex="0" aria-label="${TOOLS.data}"><%= it.text %></pre></details>
<% } else if (it.json === null) { %><p>${TOOLS.tooLarge}</p><% } %>
<% if (it.json !== null) { %><p><a href="<%= it.json %>">${TOOLS.json}</a></p><% } %>
`);

/** Renders what a tool has found, and the same call for a terminal. */
export function renderRun({ contract, answered, call, address, shareId, now, baseUrl, level }: ToolRun): string {
  const answers = answersOf(answered);
  const text = JSON.stringify(dataOf(answered), null, 2);
  const about = aboutOf(answered, answers);
  return [
    renderAnswers({ contract, answers, title: contract.title, about, now, level }),
    renderLinks({ shared: shareId === null ? null : sharedUrl(baseUrl, shareId), address }),
    renderCommands(contract, call, baseUrl),
    renderData({
      text: text.length > MOST_DATA ? null : showHiddenInLines(text),
      json: shareId === null ? null : `/s/${encodeURIComponent(shareId)}?format=json`,
    }),
  ].join("");
}

/** Renders the link to a failure that is stored; empty: it is not. */
export function renderSharedFailure(baseUrl: string, shareId: string | undefined): string {
  return shareId === undefined ? "" : renderLinks({ shared: sharedUrl(baseUrl, shareId), address: null });
}

function sharedUrl(baseUrl: string, shareId: string): string {
  return `${baseUrl}/s/${encodeURIComponent(shareId)}`;
}

function renderCommands(contract: Contract, call: ToolRun["call"], baseUrl: string): string {
  const commands = writeCommands(contract, call, baseUrl);
  if (commands === null) return "";
  return [
    `<h2>${TOOLS.again}</h2>`,
    renderLine({ id: "as-curl", label: TOOLS.curl, text: commands.curl }),
    renderLine({ id: "as-command", label: TOOLS.command, text: commands.command }),
  ].join("");
}

function answersOf(answered: ToolRun["answered"]): readonly LocationAnswer[] {
  if (answered.kind === "multi") return answered.data.locations.map((row) => toLocationAnswer(row));
  const { location, outcome } = answered;
  return [toLocationAnswer({ location, status: "ok", data: outcome.status === "ok" ? outcome.data : null })];
}

function aboutOf(answered: ToolRun["answered"], answers: readonly LocationAnswer[]): readonly string[] {
  const [first] = answers;
  if (first === undefined || answers.length > 1) return [TOOLS.fromMany(answers.length)];
  const isStored = answered.kind === "single" && answered.cached;
  return [isStored ? TOOLS.fromCache(first.place) : TOOLS.from(first.place)];
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
