import { setTimeout as sleep } from "node:timers/promises";
import { failWith, type Asked, type ClientFlags } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { INTERRUPTED } from "#shared/client/exit-codes.ts";
import { isJson, tableOf } from "#shared/client/nouns/output.ts";
import { field } from "#shared/client/call.ts";
import type { Noun } from "#shared/client/nouns/nouns.ts";

/** Shortest and default time between two reads, seconds. A plan counts each read. */
export const WATCH_SECONDS = { least: 1, most: 3_600, usual: 10 } as const;
/** Statuses of failures that can pass: limits and a service that is away for a while. */
const PASSING: ReadonlySet<number> = new Set([4, 5]);
/** Erases the terminal and puts the cursor at its beginning. */
const CLEAR = "\u001b[2J\u001b[H";

/** Options of a watched list. */
interface WatchOptions {
  readonly noun: Noun;
  readonly columns: readonly string[];
  readonly flags: ClientFlags;
  readonly seconds: number;
  readonly read: () => Promise<Asked>;
}

/**
 * Reads a list again and again until Ctrl-C, or until nobody reads the output. On a terminal it shows the newest table;
 * else it prints each row that is new or changed in its columns as a line of JSON.
 */
export async function watchList(context: CommandContext, options: WatchOptions): Promise<void> {
  const { noun, columns, flags, seconds, read } = options;
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.once("SIGINT", interrupt);
  context.stdout.once("error", interrupt);
  let shown: ReadonlyMap<unknown, string> = new Map();
  while (!stop.signal.aborted) {
    const answer = await read();
    if (!answer.ok && !PASSING.has(answer.exit)) {
      failWith(context, `${noun.name} list`, answer);
      break;
    }
    if (!answer.ok) context.complain(`vantage ${noun.name} list: ${answer.line}`);
    else if (isJson(context, flags)) shown = printChanged(context, answer.data as readonly unknown[], options, shown);
    else showTable(context, tableOf(answer.data as readonly unknown[], columns));
    await sleep(seconds * 1_000, undefined, { signal: stop.signal }).catch(() => {});
  }
  process.off("SIGINT", interrupt);
  context.stdout.off("error", interrupt);
  if (stop.signal.aborted) context.exit(INTERRUPTED);
}

function showTable(context: CommandContext, text: string): void {
  context.stdout.write(CLEAR);
  context.say(`${context.now().toISOString()}\n${text}`);
}

/** Prints rows that are new or changed, oldest first; returns what is known of all rows now. */
function printChanged(
  context: CommandContext,
  rows: readonly unknown[],
  { noun, columns }: WatchOptions,
  shown: ReadonlyMap<unknown, string>,
): ReadonlyMap<unknown, string> {
  const known = new Map(shown);
  // Lists run newest first.
  for (const row of rows.toReversed()) {
    const id = field(row, noun.id);
    const now = JSON.stringify(columns.map((name) => field(row, name)));
    if (known.get(id) !== now) context.say(JSON.stringify(row));
    known.set(id, now);
  }
  return known;
}
