import { field } from "#shared/client/call.ts";
import type { CommandContext } from "#shared/client/context.ts";
import type { OnEvent } from "#shared/client/event-stream.ts";
import { placeOf, readRow, type Row } from "#shared/client/tools/answer.ts";
import { readTerminal } from "#shared/client/terminal.ts";
import { showHidden } from "#shared/text/hidden-characters.ts";
import { oneLine } from "#shared/presentation/build.ts";
import type { Verdict } from "#shared/presentation/presentation.ts";
import { present } from "#shared/tools/present.ts";
import { milliseconds } from "#shared/presentation/values.ts";
import { listFirst } from "#shared/text/list.ts";
import type { Contract } from "#shared/tools/define.ts";

/** Records of an answer, and routers of a hop, that are named in a line. */
const MOST_NAMED = 4;

/**
 * Writes a progress event of a check as a line: a reply, port, hop, answer, resolver or line of a dialogue. Null for
 * other kinds.
 */
function describeProgress(kind: string, data: unknown): string | null {
  const get = (name: string) => text(field(data, name));
  const time = ms(field(data, "rtt_ms"));
  switch (kind) {
    case "reply": {
      const from = get("from") === "" ? "" : ` from ${get("from")}`;
      const ttl = get("ttl") === "" ? "" : `TTL ${get("ttl")}`;
      const status = get("status") === "ok" ? "" : `${get("status")}${from}`;
      return columns(`Packet ${get("seq")}`, status, time, ttl);
    }
    case "port":
      return columns(`Port ${get("port")}`, get("state"), get("service"), time, get("reason"));
    case "hop":
      return describeHop(data);
    case "answer": {
      const records = list(data, "records").map((record) => text(field(record, "data")));
      const found = records.length === 0 ? "no records" : listFirst(records, MOST_NAMED);
      const isPlain = get("status") === "NOERROR";
      return columns(get("type").padEnd(5), isPlain ? found : get("status"), time, get("server"));
    }
    case "resolver": {
      const answers = list(data, "answers").map(text);
      const found = get("status") === "NOERROR" ? listFirst(answers, MOST_NAMED) || "no records" : get("status");
      return columns(get("name"), get("location"), found, time);
    }
    case "line":
      return `${get("from") === "probe" ? ">" : "<"} ${get("text")}`;
    default:
      return null;
  }
}

function describeHop(data: unknown): string {
  const replies = list(data, "replies");
  const routers = Array.from(new Set(replies.map((reply) => text(field(reply, "ip"))).filter((ip) => ip !== "")));
  const times = replies.map((reply) => ms(field(reply, "rtt_ms")) || "*");
  const name = routers.length === 0 ? "no answer" : listFirst(routers, MOST_NAMED);
  return columns(text(field(data, "hop")).padStart(2), name, times.join("  "));
}

/** The lines of a running check, printed as its events arrive. */
export interface Live {
  readonly onEvent: OnEvent;
  /** Results of locations that have arrived. */
  readonly rows: readonly Row[];
  /** Titles of the result's tables that the printed lines repeat. */
  readonly printed: ReadonlySet<string>;
  hasPrinted(): boolean;
}

/** A line, and how it is shown. */
interface Line {
  readonly text: string;
  readonly tone: Verdict | "faint";
}

/** The table of the result whose rows are the events of a kind. */
const TABLES: Readonly<Record<string, string>> = { reply: "Replies", port: "Ports" };

/**
 * Prints what a check finds while it runs. From one probe: each reply, hop or answer. From several locations
 * (`hasPlaces`): a line for each that has its result; not if it remains the only one, which the summary shows.
 */
export function startLive(context: CommandContext, contract: Contract, hasPlaces: boolean): Live {
  const { output, now } = context;
  const { paint = (line) => line } = readTerminal(context);
  const rows: Row[] = [];
  const printed = new Set<string>();
  const begun = new Set<string>();
  let held: readonly Line[] = [];
  let lines = 0;
  const print = ({ text: shown, tone }: Line) => {
    lines += 1;
    output.write(tone === "good" || tone === "neutral" ? showHidden(shown) : paint(showHidden(shown), tone));
  };
  const onEvent: OnEvent = (event, data) => {
    const location = field(data, "location");
    const place = placeOf(location);
    begun.add(text(field(location, "probe_id")));
    if (event === "result") {
      const row = readRow(data);
      rows.push(row);
      if (hasPlaces) held = [...held, describeRow(contract, row, now())];
    } else if (event === "restart" && lines > 0) {
      print({ text: `${place}: begins again (${text(field(data, "reason"))})`, tone: "warning" });
    } else if (event === "progress" && !hasPlaces) {
      const kind = text(field(data, "kind"));
      const line = describeProgress(kind, field(data, "data"));
      if (line === null) return;
      if (lines === 0 && place !== "") print({ text: `From ${place}:`, tone: "faint" });
      print({ text: line, tone: isLost(kind, field(data, "data")) ? "warning" : "neutral" });
      const title = Object.hasOwn(TABLES, kind) ? TABLES[kind] : undefined;
      if (title !== undefined) printed.add(title);
    }
    if (begun.size > 1) {
      for (const line of held) print(line);
      held = [];
    }
  };
  return { onEvent, rows, printed, hasPrinted: () => lines > 0 };
}

function describeRow(contract: Contract, { place, answer }: Row, now: Date): Line {
  if (!answer.ok) return { text: `${place}: ${oneLine(answer.message)}`, tone: answer.isTarget ? "bad" : "warning" };
  const { verdict, headline } = present(contract, answer.data, now);
  const mark = verdict === "neutral" ? "" : `${verdict.toUpperCase()}  `;
  return { text: `${place}: ${mark}${headline}`, tone: verdict };
}

/** Reports whether an event is that of a packet without its answer. */
function isLost(kind: string, data: unknown): boolean {
  return kind === "reply" && field(data, "status") !== "ok";
}

function list(data: unknown, name: string): readonly unknown[] {
  const items = field(data, name);
  return Array.isArray(items) ? items : [];
}

/** Returns a text of the target or a number, on one line that has no more than its beginning. */
function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? oneLine(String(value)) : "";
}

function ms(value: unknown): string {
  return typeof value === "number" ? `${milliseconds(value)} ms` : "";
}

function columns(...cells: readonly string[]): string {
  return cells.filter((cell) => cell !== "").join("  ");
}
